import FoundationShim

extension RestorationArchive.Context {
  /// Writes the context as an archive holds it: all but the times, which are in the headers.
  func encode(into buffer: inout ByteWriter) {
    buffer.writeNumber(UInt64(schemaVersion.rawValue))
    buffer.writeString(applicationVersion.rawValue)
    buffer.writeString(systemVersion)
    buffer.writeString(interfaceIdiom.rawValue)
    buffer.writeByte(versionTag == nil ? 0 : 1)
    if let versionTag { buffer.writeString(versionTag.rawValue) }
    buffer.writeString(boot)
  }

  /// Reads a context from a parser that ends where the context does.
  init(
    parsing parser: inout ByteCursor, timeSaved: Date, bootSeconds: UInt32
  ) throws(ArchiveError) {
    self.timeSaved = timeSaved
    schemaVersion = StateVersion(rawValue: try parser.readNumber32())
    applicationVersion = RestorationArchive.ApplicationVersion(try parser.readString())
    systemVersion = try parser.readString()
    interfaceIdiom = RestorationArchive.InterfaceIdiom(rawValue: try parser.readString())
    switch try parser.readByte() {
    case 0: versionTag = nil
    case 1: versionTag = RestorationArchive.VersionTag(try parser.readString())
    default: throw parser.corrupt("the context is not one of this format")
    }
    boot = try parser.readString()
    self.bootSeconds = bootSeconds
    guard parser.remaining == 0 else { throw parser.corrupt("the context has bytes too many") }
  }
}
