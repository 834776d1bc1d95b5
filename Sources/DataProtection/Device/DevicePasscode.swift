import Sealing

extension ProtectedDevice {
  /// A passcode on its way into a device; its memory is locked, and wiped when the value goes.
  ///
  /// It can't be copied: each use consumes it. Its bytes are compared as they are, so that a program which lets people
  /// type composed characters should settle on one Unicode normal form.
  public struct Passcode: ~Copyable, Sendable {
    let secret: SecretBox<SecretBytes>

    /// The lengths in bytes.
    package static let lengths = 1...1024

    /// Copies a passcode out of a string.
    ///
    /// A convenience: the string's own memory, and every copy the program made of it, stays as it is. A program that
    /// reads the passcode itself should use ``init(byteCount:filledBy:)``.
    ///
    /// - Parameter text: The passcode; not empty.
    /// - Throws: `invalidArgument` when it is empty or longer than 1024 bytes.
    public init(_ text: String) throws(ProtectionError) {
      // Byte by byte: an array, or the buffer that a short string is lent in, would be a copy that nobody wipes.
      try unsafe self.init(byteCount: text.utf8.count) { target in
        for (index, byte) in text.utf8.enumerated() { unsafe target[index] = byte }
      }
    }

    /// Copies a passcode out of memory that the caller wipes.
    ///
    /// - Parameter bytes: The passcode; not empty.
    /// - Throws: `invalidArgument` when it is empty or longer than 1024 bytes.
    public init(copying bytes: Span<UInt8>) throws(ProtectionError) {
      try Self.check(bytes.count)
      do throws(SealingError) {
        secret = SecretBox(try SecretBytes(copying: bytes))
      } catch {
        throw ProtectionError(error, while: "take a passcode")
      }
    }

    /// Makes a passcode whose bytes are never anywhere but in locked memory.
    ///
    /// - Parameters:
    ///   - byteCount: Its length, from 1 to 1024.
    ///   - fill: Writes the bytes, which are zero at first.
    /// - Throws: `invalidArgument` for a length out of bounds.
    public init(
      byteCount: Int, filledBy fill: (UnsafeMutableRawBufferPointer) -> Void
    ) throws(ProtectionError) {
      try Self.check(byteCount)
      do throws(SealingError) {
        secret = SecretBox(
          try unsafe SecretBytes(byteCount: byteCount) { (target) throws(SealingError) in unsafe fill(target) })
      } catch {
        throw ProtectionError(error, while: "take a passcode")
      }
    }

    private static func check(_ byteCount: Int) throws(ProtectionError) {
      guard lengths.contains(byteCount) else {
        throw ProtectionError(
          .invalidArgument, "A passcode has 1 to \(lengths.upperBound) bytes; this one has \(byteCount).")
      }
    }
  }
}
