/// What the keeper of handles needs of a `ProtectedFiles.Handle`.
@MainActor protocol ReopenableHandle: AnyObject {
  /// The class of the file; only handles of `complete` files are closed.
  var protection: ProtectionClass { get }

  /// Closes the file until it is opened again; the handle itself stays.
  func suspend()

  /// Opens the file again, off the main actor; nothing happens when the handle was closed for good meanwhile.
  func reopen() async throws(ProtectionError)
}

extension ProtectedFiles.Handle: ReopenableHandle {}
