/// An open handle of a protected file that can be closed while the program is inactive and opened anew.
@MainActor public protocol ReopenableHandle: AnyObject {
  /// The class of the file; only handles of `complete` files are closed.
  var protection: ProtectionClass { get }

  /// Closes the file; the handle itself stays.
  func close()

  /// Opens the file again.
  func reopen() async throws(ProtectionError)
}
