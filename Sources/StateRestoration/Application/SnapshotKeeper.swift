import FoundationShim

/// Snapshots off the main actor, one call after another: the store blocks on the disk.
package actor SnapshotKeeper {
  private let store: any SnapshotStore
  private var isClosed = false

  init(store: any SnapshotStore) { self.store = store }

  /// Takes snapshots from now on: the program was launched.
  func begin() { isClosed = false }

  /// The snapshot to show; `nil` also when it can't be read, because a snapshot is nothing to worry anybody with.
  func open() -> Data? { try? store.open() }

  /// Keeps a snapshot; when it can't be kept (the device is locked, the disk is full), none is better than an old one.
  func keep(_ snapshot: Data) throws(ProtectionError) {
    guard !isClosed else { return }
    do throws(ProtectionError) { try store.keep(snapshot) } catch { try store.delete() }
  }

  /// Deletes the snapshot.
  func delete() throws(ProtectionError) { try store.delete() }

  /// Deletes the snapshot, and takes no other before the next launch: one may still be on its way.
  func deleteForGood() throws(ProtectionError) {
    isClosed = true
    try store.delete()
  }
}

extension ProtectionError {
  /// The error of a snapshot in a log.
  var ofSnapshot: String { "an old snapshot could not be deleted: \(self)" }
}
