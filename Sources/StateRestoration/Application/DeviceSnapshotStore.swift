import FoundationShim

/// The snapshot of one scene in its own slot of a protected device, sealed like the archive.
///
/// Its content is the time at which it was taken, in seconds since 1970 (8 bytes, little-endian), and the program's payload.
struct DeviceSnapshotStore: SnapshotStore {
  let store: ArchiveStore

  private static let timeByteCount = 8

  func open() throws(ProtectionError) -> (picture: Data, takenAt: Date)? {
    let content: Data
    do throws(ProtectionError) {
      content = try store.openNewest().readAll()
    } catch {
      if error.code == .notFound { return nil }
      throw error
    }
    guard content.count >= Self.timeByteCount else { return nil }
    let bits = content.prefix(Self.timeByteCount).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let picture = content.dropFirst(Self.timeByteCount)
    return (Data(picture), Date(timeIntervalSince1970: Double(bitPattern: bits)))
  }

  func keep(_ snapshot: Data, takenAt: Date) throws(ProtectionError) {
    defer { store.close() }
    let bits = takenAt.timeIntervalSince1970.bitPattern
    var content = Data((0..<Self.timeByteCount).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) })
    content.append(snapshot)
    try store.publish(content)
  }

  func delete() throws(ProtectionError) { try store.deleteAll() }
}
