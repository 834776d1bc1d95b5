import Sealing

extension ProtectedDevice {
  /// The 32 bytes that tie keybag and files to one device; wiped from memory when the value goes.
  public struct Key: ~Copyable, Sendable {
    let secret: SecretBox<SecretKey>

    /// Copies a key into protected memory; wiping the original is the caller's business.
    ///
    /// - Parameter bytes: Exactly 32 bytes.
    /// - Throws: `corrupt` for another length, `secretsUnavailable` when there is no memory for secrets.
    public init(copying bytes: Span<UInt8>) throws(ProtectionError) {
      do throws(SealingError) {
        secret = SecretBox(try SecretKey(copying: bytes))
      } catch {
        throw ProtectionError(error, while: "take the device key")
      }
    }

    init(_ secret: consuming SecretKey) {
      self.secret = SecretBox(secret)
    }

    /// The number of bytes of every device key.
    public static let byteCount = 32

    /// Lends the bytes, for a provider that has to put them somewhere.
    ///
    /// - Parameter body: Uses the bytes; they must not be copied to memory that isn't wiped.
    /// - Returns: What the body returns.
    package borrowing func withBytes<R>(_ body: (Span<UInt8>) -> R) throws(ProtectionError) -> R {
      do throws(SealingError) {
        return try secret.withBytes { (bytes: Span<UInt8>) throws(SealingError) in body(bytes) }
      } catch {
        throw ProtectionError(error, while: "lend the device key")
      }
    }

    /// A key for one purpose.
    borrowing func derive(_ label: KeyLabel) throws(ProtectionError) -> SecretKey {
      do throws(SealingError) {
        return try secret.lend { (key) throws(SealingError) in try HKDF.expand(key, info: label.bytes.span) }
      } catch {
        throw ProtectionError(error, while: "derive a key")
      }
    }

    /// What tells this device's files from another's: 16 bytes that tell nothing about the key.
    borrowing func identifier() throws(ProtectionError) -> [UInt8] {
      do throws(SealingError) {
        let bytes = try HKDF.expand(secret, info: KeyLabel.deviceIdentifier.bytes.span, byteCount: 16)
        return try bytes.withBytes { (bytes: Span<UInt8>) throws(SealingError) in bytes.copied() }
      } catch {
        throw ProtectionError(error, while: "name the device")
      }
    }
  }
}
