#if canImport(Glibc)
import Glibc

/// The standard output, whose errors are told.
enum StandardOutput {
  /// Writes a text whole; returns the `errno` of what kept it from it.
  static func write(_ text: String, to descriptor: Int32 = STDOUT_FILENO) -> Int32? {
    var rest = ArraySlice(Array(text.utf8))
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return errno }
      rest = rest.dropFirst(count)
    }
    return nil
  }

  /// Writes a text to a new file, for this user alone; returns the `errno` of what kept it from it.
  ///
  /// A file that is there already may be anything, a device's key too: it is never written over.
  static func write(_ text: String, toNewFile path: String) -> Int32? {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { return errno }
    let failure = write(text, to: file)
    return close(file) < 0 ? failure ?? errno : failure
  }
}
#endif
