/// The handles that are closed and opened with the life cycle; it doesn't retain them.
@MainActor final class HandleKeeper {
  private enum Phase { case open, closed, opening }

  @MainActor private final class Entry {
    weak let handle: (any ReopenableHandle)?
    var phase = Phase.open

    init(_ handle: any ReopenableHandle) { self.handle = handle }

    func close() {
      handle?.suspend()
      phase = .closed
    }
  }

  /// In the order in which they are opened and closed.
  private var entries: [Entry] = []
  /// Whether the program is active, or about to be.
  private var wantsOpen = true
  /// How often the device was locked, to notice a lock while a handle is being opened.
  private var locks = 0
  /// How often it was unlocked.
  private var unlocks = 0

  /// Takes an open handle; one that is known already counts as open again, and as the last.
  func add(_ handle: any ReopenableHandle) {
    let entry = entries.first { $0.handle === handle } ?? Entry(handle)
    entry.phase = .open
    entries.removeAll { $0.handle == nil || $0 === entry }
    entries.append(entry)
  }

  /// Closes the handles of `complete` files that are open.
  func closeAll() {
    wantsOpen = false
    closeOpen()
  }

  /// Opens the closed handles; a handle that is refused because of the lock stays closed, to be tried again.
  func openAll(onFailure: (any ReopenableHandle, ProtectionError) -> Void) async {
    wantsOpen = true
    var seen: Int
    repeat {
      seen = unlocks
      for entry in entries {
        guard wantsOpen, entry.phase == .closed, let handle = entry.handle else { continue }
        let before = locks
        entry.phase = .opening
        do throws(ProtectionError) {
          try await handle.reopen()
          entry.phase = .open
          // The program may have resigned active while the file was being opened, or a lock have killed it.
          if !wantsOpen || locks != before { entry.close() }
        } catch {
          entry.phase = .closed
          if error.code != .locked { onFailure(handle, error) }
        }
      }
    } while wantsOpen && unlocks != seen
  }

  /// Notes a lock.
  func deviceWasLocked() { locks += 1 }

  /// Opens everything anew after an unlock: the lock before it may have killed handles that were never closed.
  ///
  /// While the program is inactive, that waits for ``openAll(onFailure:)``.
  func deviceWasUnlocked(onFailure: (any ReopenableHandle, ProtectionError) -> Void) async {
    unlocks += 1
    guard wantsOpen else { return }
    closeOpen()
    await openAll(onFailure: onFailure)
  }

  private func closeOpen() {
    for entry in entries where entry.phase == .open && entry.handle?.protection == .complete { entry.close() }
  }
}
