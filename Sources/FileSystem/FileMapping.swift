/// The first bytes of a file as memory: bytes that are stored there are in the file at once, and outlive the process.
///
/// Storing makes no system call. While it lasts all others who open the file wait: one that cut it short would end the
/// process with `SIGBUS`. The kernel lets them in after 45 seconds (`lease-break-time`): don't map for long.
@safe package final class FileMapping: @unchecked Sendable {
  // Sendable: the address never changes, and nobody but the owner stores there, one call at a time.
  private let start: UnsafeMutableRawPointer
  private let byteCount: Int
  private let end: @Sendable () -> Void

  /// Takes over memory that was mapped; `end` gives it back.
  init(start: UnsafeMutableRawPointer, byteCount: Int, end: @escaping @Sendable () -> Void) {
    unsafe self.start = start
    self.byteCount = byteCount
    self.end = end
  }

  deinit { end() }

  /// Stores bytes at an offset; those that lie behind what was mapped are left out.
  package func store(_ bytes: RawSpan, at offset: Int) {
    unsafe bytes.withUnsafeBytes { bytes in
      guard let source = bytes.baseAddress, offset >= 0, offset < byteCount else { return }
      unsafe (start + offset).copyMemory(from: source, byteCount: min(bytes.count, byteCount - offset))
    }
  }
}
