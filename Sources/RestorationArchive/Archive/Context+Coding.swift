import FoundationEssentials

extension RestorationArchive.Context {
  /// Writes the context as an archive holds it.
  func encode(into buffer: inout [UInt8]) {
    buffer.append(integer: timeSaved.timeIntervalSinceReferenceDate.bitPattern)
    buffer.append(varint: UInt64(schemaVersion.rawValue))
    buffer.append(text: applicationVersion.rawValue)
    buffer.append(text: systemVersion)
    buffer.append(text: interfaceIdiom.rawValue)
    buffer.append(versionTag == nil ? 0 : 1)
    if let versionTag { buffer.append(text: versionTag.rawValue) }
  }

  /// Reads a context from a parser that ends where the context does.
  init(parsing parser: inout ByteCursor) throws(ArchiveError) {
    timeSaved = Date(timeIntervalSinceReferenceDate: Double(bitPattern: try parser.readFixed()))
    schemaVersion = StateVersion(rawValue: try parser.readVarint32())
    applicationVersion = ApplicationVersion(try parser.readText())
    systemVersion = try parser.readText()
    interfaceIdiom = InterfaceIdiom(rawValue: try parser.readText())
    switch try parser.readByte() {
    case 0: versionTag = nil
    case 1: versionTag = VersionTag(try parser.readText())
    default: throw parser.corrupt("the context is not one of this format")
    }
    guard parser.remaining == 0 else { throw parser.corrupt("the context has bytes too many") }
  }
}
