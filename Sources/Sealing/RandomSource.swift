import CLibcrypto
import Glibc

/// Where random bytes come from; only tests have another than ``SystemRandom``.
package protocol RandomSource: Sendable {
  /// Fills the whole buffer with bytes that nobody can foresee, or throws `randomUnavailable`.
  func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(SealingError)
}

extension RandomSource {
  /// Some random bytes that are no secret: identifiers and salts.
  package func bytes(count: Int) throws(SealingError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    try unsafe bytes.withFilled { (buffer) throws(SealingError) in try unsafe fill(buffer) }
    return bytes
  }
}

/// The operating system's generator, asked every time.
///
/// Nothing is drawn ahead or kept in the process, so that a fork or a virtual machine's snapshot never gives the same
/// bytes twice.
package struct SystemRandom: RandomSource {
  /// Makes a source.
  package init() {}

  /// Fills the buffer from the kernel's generator.
  package func fill(_ buffer: UnsafeMutableRawBufferPointer) throws(SealingError) {
    var offset = 0
    while offset < buffer.count {
      // `getentropy` gives at most 256 bytes a call.
      let count = min(256, buffer.count - offset)
      guard unsafe getentropy(buffer.baseAddress! + offset, count) == 0 else { throw .noRandomness }
      offset += count
    }
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Overwrites the memory in a way that no compiler leaves out.
  package func wipe() {
    if let start = baseAddress { unsafe OPENSSL_cleanse(start, count) }
  }
}

extension [UInt8] {
  /// Overwrites the bytes in a way that no compiler leaves out; only the array's own copy, if others have one.
  package mutating func wipe() {
    unsafe withUnsafeMutableBytes { bytes in unsafe bytes.wipe() }
  }

  /// Lends the storage to something that fills it and throws our errors.
  mutating func withFilled(
    _ body: (UnsafeMutableRawBufferPointer) throws(SealingError) -> Void
  ) throws(SealingError) {
    let outcome = unsafe withUnsafeMutableBytes { buffer in
      Result { () throws(SealingError) in try unsafe body(buffer) }
    }
    try outcome.get()
  }
}
