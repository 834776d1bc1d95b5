import DataProtection
import FoundationEssentials

/// Snapshots off the main actor: the store blocks on the disk.
struct SnapshotKeeper: Sendable {
  let store: any SnapshotStore

  /// The snapshot to show; `nil` also when it can't be read, because a snapshot is nothing to worry anybody with.
  @concurrent func open() async -> Data? { try? store.open() }

  /// Keeps a snapshot; when it can't be kept (the device is locked, the disk is full), none is better than an old one.
  @concurrent func keep(_ snapshot: Data) async -> Bool {
    do {
      try store.keep(snapshot)
      return true
    } catch {
      try? store.delete()
      return false
    }
  }

  /// Deletes the snapshot.
  @concurrent func delete() async { try? store.delete() }
}
