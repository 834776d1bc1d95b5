import FoundationEssentials

extension RestorationArchive.Context {
  /// Writes the context as an archive holds it.
  func encode(into buffer: inout ByteBuffer) {
    buffer.append(integer: timeSaved.timeIntervalSinceReferenceDate.bitPattern)
    buffer.append(varint: UInt64(schemaVersion.rawValue))
    buffer.append(text: applicationVersion.rawValue)
    buffer.append(text: systemVersion)
    buffer.append(text: interfaceIdiom.rawValue)
    buffer.append(versionTag == nil ? 0 : 1)
    if let versionTag { buffer.append(text: versionTag.rawValue) }
  }

  /// Reads a context from a parser that ends where the context does.
  init(parsing parser: inout ByteParser) throws(ArchiveError) {
    timeSaved = Date(timeIntervalSinceReferenceDate: Double(bitPattern: try parser.integer()))
    schemaVersion = StateVersion(rawValue: try parser.varint32())
    applicationVersion = ApplicationVersion(try parser.text())
    systemVersion = try parser.text()
    interfaceIdiom = InterfaceIdiom(rawValue: try parser.text())
    switch try parser.byte() {
    case 0: versionTag = nil
    case 1: versionTag = VersionTag(try parser.text())
    default: throw parser.corrupt("the context is not one of this format")
    }
    guard parser.remaining == 0 else { throw parser.corrupt("the context has bytes too many") }
  }
}
