/// What a directory of protected files holds: names, and where each one's content is.
///
/// It is itself a sealed file of class `none`, so that listing, renaming and deleting are possible while locked, and
/// names are not readable on disk. The layout is in `Docs/ProtectedFileFormat.md`.
struct FileIndex: Hashable, Sendable {
  /// One file.
  struct Entry: Hashable, Sendable {
    /// The number of its content, 16 random bytes; new when the class changes.
    var identifier: [UInt8]
    /// Its class.
    var protection: ProtectionClass
    /// When it was created, in seconds since 1970.
    var created: Double
  }

  private static let magic = Array("SRPINDEX".utf8)
  private static let version: UInt16 = 1
  private static let entryByteCount = 25

  /// The class of files that are created without one.
  var defaultProtection: ProtectionClass = .complete
  /// The files by their names.
  var entries: [ProtectedFileName: Entry] = [:]

  /// An empty directory.
  init() {}

  /// The file of a name.
  subscript(name: String) -> Entry? {
    get { entries[ProtectedFileName(name)] }
    set { entries[ProtectedFileName(name)] = newValue }
  }

  /// The bytes; the same index always gives the same.
  var bytes: [UInt8] {
    var bytes = Self.magic
    bytes.appendInteger(Self.version)
    bytes.append(defaultProtection.rawValue)
    bytes.append(0)
    bytes.appendInteger(UInt32(entries.count))
    for (name, entry) in entries.sorted(by: { $0.key < $1.key }) {
      bytes.appendInteger(UInt16(name.text.utf8.count))
      bytes += name.text.utf8
      bytes += entry.identifier
      bytes.append(entry.protection.rawValue)
      bytes.appendInteger(entry.created.bitPattern)
    }
    return bytes
  }

  /// Reads bytes that were authenticated; `.corrupt` for any that `bytes` would not have given.
  init(_ bytes: [UInt8]) throws(ProtectionError) {
    let damaged = ProtectionError(.corrupt, "The list of protected files is damaged.")
    guard bytes.count >= 16, bytes.starts(with: Self.magic) else { throw damaged }
    var reader = FieldReader(bytes[Self.magic.count...])
    let version: UInt16 = reader.integer()
    guard version == Self.version else {
      throw ProtectionError(
        .unsupportedVersion, "The list of protected files has format \(version); use a newer version of the program.")
    }
    guard let protection = ProtectionClass(rawValue: reader.integer()) else { throw damaged }
    defaultProtection = protection
    _ = reader.take(1)
    let count: UInt32 = reader.integer()
    var rest = bytes.count - 16
    // Each entry takes so many bytes at least: a count that can't be is refused before anything is allocated.
    guard Int(count) <= rest / (2 + Self.entryByteCount) else { throw damaged }
    for _ in 0..<count {
      guard rest >= 2 else { throw damaged }
      let length = Int(reader.integer(UInt16.self))
      rest -= 2 + length + Self.entryByteCount
      guard rest >= 0, let name = String(validating: reader.take(length), as: UTF8.self) else { throw damaged }
      let identifier = Array(reader.take(16))
      guard let protection = ProtectionClass(rawValue: reader.integer()) else { throw damaged }
      let created = Double(bitPattern: reader.integer())
      entries[ProtectedFileName(name)] = Entry(identifier: identifier, protection: protection, created: created)
    }
    guard rest == 0, entries.count == Int(count) else { throw damaged }
  }
}
