/// The handles that are closed and opened with the life cycle; it doesn't retain them.
@MainActor final class HandleKeeper {
  private enum Phase { case open, closed, opening }

  private struct Entry {
    weak let handle: (any ReopenableHandle)?
    var phase = Phase.open
  }

  private var entries: [ObjectIdentifier: Entry] = [:]
  private var order: [ObjectIdentifier] = []
  /// Whether the program is active, or about to be.
  private var wantsOpen = true

  func add(_ handle: any ReopenableHandle) {
    let id = ObjectIdentifier(handle)
    order.removeAll { $0 == id }
    order.append(id)
    entries[id] = Entry(handle: handle)
  }

  /// Closes the handles of `complete` files that are open.
  func closeAll() {
    wantsOpen = false
    closeOpen()
  }

  /// Opens the closed handles; a handle that is refused because of the lock stays closed, to be tried again.
  func openAll(onFailure: (any ReopenableHandle, ProtectionError) -> Void) async {
    wantsOpen = true
    forgetTheGone()
    for id in order {
      guard wantsOpen, entries[id]?.phase == .closed, let handle = entries[id]?.handle else { continue }
      entries[id]?.phase = .opening
      do throws(ProtectionError) {
        try await handle.reopen()
        guard entries[id]?.handle === handle else { continue }
        entries[id]?.phase = .open
        // The program may have resigned active while the file was being opened.
        if !wantsOpen { close(id, handle) }
      } catch {
        entries[id]?.phase = .closed
        if error.code != .locked { onFailure(handle, error) }
      }
    }
  }

  /// Opens everything anew after an unlock: the lock before it may have killed handles that were never closed.
  func renewAll(onFailure: (any ReopenableHandle, ProtectionError) -> Void) async {
    closeOpen()
    await openAll(onFailure: onFailure)
  }

  private func closeOpen() {
    forgetTheGone()
    for id in order {
      guard entries[id]?.phase == .open, let handle = entries[id]?.handle else { continue }
      if handle.protection == .complete { close(id, handle) }
    }
  }

  private func close(_ id: ObjectIdentifier, _ handle: any ReopenableHandle) {
    handle.close()
    entries[id]?.phase = .closed
  }

  private func forgetTheGone() {
    order.removeAll { entries[$0]?.handle == nil }
    entries = entries.filter { $0.value.handle != nil }
  }
}
