import FoundationShim

/// The snapshot of one scene in its own slot of a protected device, sealed like the archive.
struct DeviceSnapshotStore: SnapshotStore {
  let store: ArchiveStore

  func open() throws(ProtectionError) -> Data? {
    do throws(ProtectionError) {
      return try store.openNewest().readAll()
    } catch {
      if error.code == .notFound { return nil }
      throw error
    }
  }

  func keep(_ snapshot: Data) throws(ProtectionError) {
    defer { store.close() }
    try store.publish(snapshot)
  }

  func delete() throws(ProtectionError) { try store.deleteAll() }
}
