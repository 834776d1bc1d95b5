import FoundationShim
import Synchronization

/// The snapshot for the next launch, which belongs to the state that this launch will restore.
///
/// Whoever writes state calls ``stateWillChange()`` before: from then on the snapshot is gone, whatever becomes of the process.
/// The store blocks on the disk, so that no call runs on the main actor.
package final class SnapshotKeeper: Sendable {
  private struct State {
    var isClosed = false
    /// Whether this run knows that there is none.
    var isKnownAbsent = false
  }

  private let store: any SnapshotStore
  private let lifetime: Duration?
  private let now: @Sendable () -> Date
  private let log: RestorationLog?
  private let state = Mutex(State())
  private let saves = Atomic<UInt64>(0)

  /// Keeps a snapshot in a store.
  ///
  /// - Parameters:
  ///   - store: Where it is kept.
  ///   - lifetime: An older one is not shown; nil for no limit.
  ///   - now: The wall clock.
  ///   - log: Where it is said that one can't be deleted.
  init(
    store: any SnapshotStore, lifetime: Duration? = nil, now: @escaping @Sendable () -> Date = { Date() },
    log: RestorationLog? = nil
  ) {
    self.store = store
    self.lifetime = lifetime
    self.now = now
    self.log = log
  }

  /// How often state was written in this run; a snapshot fits the state of the count at which it was taken.
  var saveCount: UInt64 { saves.load(ordering: .acquiring) }

  /// Takes snapshots from now on: the program was launched.
  @MainActor func begin() async { await away { $0.isClosed = false } }

  /// The snapshot to show; `nil` also when it can't be read, because a snapshot is nothing to worry anybody with.
  ///
  /// One that is too old is deleted: the program was not used for long, and the picture would surprise its user.
  @MainActor func open() async -> Data? {
    await away { state in
      guard let found = try? self.store.open() else { return nil }
      let age = self.now().timeIntervalSince(found.takenAt)
      // One from the future is of a clock that was wrong then or is now: nobody knows its age.
      if let lifetime = self.lifetime, abs(age) > Double(lifetime.components.seconds) {
        self.delete(&state)
        return nil
      }
      return found.picture
    }
  }

  /// Keeps a snapshot that was taken after so many saves; when it can't be kept (the device is locked, the disk is full), or
  /// state was written since, none is better than one that lies.
  @MainActor func keep(_ snapshot: Data, ofSave count: UInt64) async throws(ProtectionError) {
    let failure = await away { state -> ProtectionError? in
      guard !state.isClosed else { return nil }
      do throws(ProtectionError) {
        if self.saveCount == count {
          state.isKnownAbsent = false
          try self.store.keep(snapshot, takenAt: self.now())
          return nil
        }
      } catch {
        // The one before is of an older state.
      }
      return self.deletion(&state)
    }
    if let failure { throw failure }
  }

  /// State is about to be written: the snapshot shows an older one, and goes.
  ///
  /// Call it from any thread but the main one. A failure is logged: the state is more than its picture.
  func stateWillChange() {
    saves.add(1, ordering: .acquiringAndReleasing)
    state.withLock { state in
      if !state.isKnownAbsent { delete(&state) }
    }
  }

  /// Deletes the snapshot.
  @MainActor func delete() async throws(ProtectionError) {
    if let failure = await away({ self.deletion(&$0) }) { throw failure }
  }

  /// Deletes the snapshot, and takes no other before the next launch: one may still be on its way.
  @MainActor func deleteForGood() async throws(ProtectionError) {
    let failure = await away { state in
      state.isClosed = true
      return self.deletion(&state)
    }
    if let failure { throw failure }
  }

  /// Runs a body off the main actor; in a synchronous call the main thread waits.
  @MainActor private func away<Value: Sendable>(_ body: @Sendable (inout State) -> Value) async -> Value {
    if Synchronous.isOn { return exclusively(body) }
    return await concurrently(body)
  }

  @concurrent private func concurrently<Value: Sendable>(_ body: @Sendable (inout State) -> Value) async -> Value {
    exclusively(body)
  }

  private func exclusively<Value: Sendable>(_ body: @Sendable (inout State) -> Value) -> Value {
    state.withLock { body(&$0) }
  }

  private func delete(_ state: inout State) {
    if let failure = deletion(&state) { log?.log(.warning, failure.ofSnapshot) }
  }

  /// Deletes it; returns why not.
  private func deletion(_ state: inout State) -> ProtectionError? {
    do throws(ProtectionError) {
      try store.delete()
      state.isKnownAbsent = true
      return nil
    } catch {
      return error
    }
  }
}

extension ProtectionError {
  /// The error of a snapshot in a log.
  var ofSnapshot: String { "an old snapshot could not be deleted: \(self)" }
}
