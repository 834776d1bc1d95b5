public import DataProtection

/// An open handle of a protected file that can be closed while the program is inactive and opened anew (R5.3).
@MainActor public protocol ReopenableHandle: AnyObject {
  /// The class of the file; only handles of `complete` files are closed.
  var protection: ProtectionClass { get }

  /// Closes the file; the handle itself stays.
  func close()

  /// Opens the file again.
  func reopen() async throws(ProtectionError)
}

/// The handles that are closed and opened with the life cycle; it doesn't retain them.
@MainActor final class HandleKeeper {
  private struct Entry {
    weak let handle: (any ReopenableHandle)?
    var isClosed: Bool
  }

  private var entries: [ObjectIdentifier: Entry] = [:]
  private var order: [ObjectIdentifier] = []

  func add(_ handle: any ReopenableHandle) {
    let id = ObjectIdentifier(handle)
    if entries[id]?.handle == nil { order.append(id) }
    entries[id] = Entry(handle: handle, isClosed: false)
  }

  func remove(_ handle: any ReopenableHandle) {
    entries[ObjectIdentifier(handle)] = nil
    order.removeAll { $0 == ObjectIdentifier(handle) }
  }

  /// Closes the handles of `complete` files that are open.
  func closeAll() {
    forgetTheGone()
    for id in order {
      guard let entry = entries[id], !entry.isClosed, let handle = entry.handle else { continue }
      guard handle.protection == .complete else { continue }
      handle.close()
      entries[id]?.isClosed = true
    }
  }

  /// Opens what was closed; a handle that is refused because of the lock stays closed, to be tried again.
  func openAll(onFailure: (any ReopenableHandle, ProtectionError) -> Void) async {
    forgetTheGone()
    for id in order {
      guard entries[id]?.isClosed == true, let handle = entries[id]?.handle else { continue }
      do {
        try await handle.reopen()
        entries[id]?.isClosed = false
      } catch {
        if error.code != .locked { onFailure(handle, error) }
      }
    }
  }

  private func forgetTheGone() {
    order.removeAll { entries[$0]?.handle == nil }
    entries = entries.filter { $0.value.handle != nil }
  }
}
