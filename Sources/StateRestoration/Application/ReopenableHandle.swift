/// An open handle of a protected file that is closed while the program is inactive and opened anew.
///
/// `ProtectedFileHandle` is one; another object that keeps plaintext of a file can be one too.
@MainActor public protocol ReopenableHandle: AnyObject {
  /// The class of the file; only handles of `complete` files are closed.
  var protection: ProtectionClass { get }

  /// Closes the file until it is opened again; the handle itself stays.
  func suspend()

  /// Opens the file again, off the main actor; nothing happens when the handle was closed for good meanwhile.
  func reopen() async throws(ProtectionError)
}

extension ProtectedFileHandle: ReopenableHandle {}
