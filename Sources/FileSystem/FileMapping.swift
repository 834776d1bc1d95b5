#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The first bytes of a file as memory: bytes that are stored there are in the file at once, and outlive the process.
///
/// Storing makes no system call. A file that is cut off while it is mapped ends the process with `SIGBUS`: map only what
/// nobody cuts off, and not for long.
@safe package final class FileMapping: @unchecked Sendable {
  // Sendable: the address never changes, and nobody but the owner stores there, one call at a time.
  private let start: UnsafeMutableRawPointer
  private let byteCount: Int

  /// Takes over memory that was mapped.
  init(start: UnsafeMutableRawPointer, byteCount: Int) {
    unsafe self.start = start
    self.byteCount = byteCount
  }

  deinit { unsafe munmap(start, byteCount) }

  /// Stores bytes at the beginning; the first `byteCount` of them, if there are more than were mapped.
  package func store(_ bytes: RawSpan) {
    unsafe bytes.withUnsafeBytes { bytes in
      guard let source = bytes.baseAddress else { return }
      unsafe start.copyMemory(from: source, byteCount: min(bytes.count, byteCount))
    }
  }
}
