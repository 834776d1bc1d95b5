import Glibc

/// Bytes of a key on their way through this process, wiped when the last reference goes.
///
/// The memory is not locked: it may reach the swap space within the moment for which a key is in it.
@safe final class SecretBuffer: Sendable {
  // Written by `init` alone.
  private nonisolated(unsafe) let storage: UnsafeMutableRawBufferPointer

  /// The number of bytes.
  var count: Int { unsafe storage.count }

  /// Makes a buffer and lets a closure fill it.
  init<E: Error>(byteCount: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(E) -> Void) throws(E) {
    unsafe storage = .allocate(byteCount: byteCount, alignment: 16)
    unsafe storage.initializeMemory(as: UInt8.self, repeating: 0)
    try unsafe fill(storage)
  }

  /// Copies bytes.
  convenience init(copying bytes: UnsafeRawBufferPointer) {
    unsafe self.init(byteCount: bytes.count) { unsafe $0.copyMemory(from: bytes) }
  }

  /// Makes a buffer of random bytes from the operating system.
  static func random(byteCount: Int) -> SecretBuffer? {
    var isFilled = false
    let buffer = unsafe SecretBuffer(byteCount: byteCount) { target in
      isFilled = unsafe getentropy(target.baseAddress!, target.count) == 0
    }
    return isFilled ? buffer : nil
  }

  deinit {
    unsafe explicit_bzero(storage.baseAddress!, storage.count)
    unsafe storage.deallocate()
  }

  /// Lends the bytes.
  func withBytes<R>(_ body: (Span<UInt8>) -> R) -> R {
    let bytes = unsafe UnsafeBufferPointer<UInt8>(storage.assumingMemoryBound(to: UInt8.self))
    return body(unsafe Span(_unsafeElements: bytes))
  }

  /// Lends the memory to a C function.
  func withMemory<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
    unsafe body(UnsafeRawBufferPointer(storage))
  }
}
