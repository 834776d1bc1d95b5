import Glibc

/// The calls that protect a mapping, so that tests can make them fail.
@safe package struct MemorySystem: Sendable {
  /// `mlock`: 0, or -1.
  package var lock: @Sendable (_ start: UnsafeMutableRawPointer, _ byteCount: Int) -> Int32
  /// `madvise`: 0, or -1.
  package var advise: @Sendable (_ start: UnsafeMutableRawPointer, _ byteCount: Int, _ advice: Int32) -> Int32

  /// Puts a set of calls together.
  package init(
    lock: @escaping @Sendable (UnsafeMutableRawPointer, Int) -> Int32,
    advise: @escaping @Sendable (UnsafeMutableRawPointer, Int, Int32) -> Int32
  ) {
    unsafe self.lock = lock
    unsafe self.advise = advise
  }

  /// The real calls.
  package static let linux = unsafe MemorySystem(
    lock: { start, count in unsafe mlock(start, count) },
    advise: { start, count, advice in unsafe madvise(start, count, advice) })
}
