#if canImport(Glibc)
import Glibc

/// The standard output, whose errors are told.
enum StandardOutput {
  /// Writes a text whole; returns the `errno` of what kept it from it.
  static func write(_ text: String) -> Int32? {
    var rest = ArraySlice(Array(text.utf8))
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return errno }
      rest = rest.dropFirst(count)
    }
    return nil
  }
}
#endif
