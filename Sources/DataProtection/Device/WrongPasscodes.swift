import Sealing
import Synchronization

/// The wrong passcodes that this process has tried, so that the same one typed twice counts once.
///
/// Kept as codes under a key of this process alone, which tell nothing about the passcodes.
final class WrongPasscodes: Sendable {
  /// More than anybody can try before the delays stop them.
  private static let limit = 64

  private let random: any RandomSource
  /// Made with the first passcode, as most launches check none.
  private let key = Mutex<SecretBox<SecretKey>?>(nil)
  private let codes = Mutex<[[UInt8]]>([])

  init(random: any RandomSource) {
    self.random = random
  }

  private func heldKey() throws(ProtectionError) -> SecretBox<SecretKey> {
    try key.withLock { key throws(ProtectionError) in
      if let key { return key }
      let made = SecretBox(
        try sealing("remember wrong passcodes") { () throws(SealingError) in try SecretKey(from: random) })
      key = made
      return made
    }
  }

  private func code(_ passcode: borrowing ProtectedDevice.Passcode) throws(ProtectionError) -> [UInt8] {
    let held = try heldKey()
    do throws(SealingError) {
      return try passcode.secret.withBytes { (bytes: Span<UInt8>) throws(SealingError) in
        try held.lend { (key) throws(SealingError) in try HMACSHA256.authenticationCode(for: bytes, key: key) }
      }
    } catch {
      throw ProtectionError(error, while: "compare passcodes")
    }
  }

  /// Whether the passcode was found wrong before.
  func contains(_ passcode: borrowing ProtectedDevice.Passcode) throws(ProtectionError) -> Bool {
    let code = try code(passcode)
    return codes.withLock { $0.contains(code) }
  }

  /// Remembers a passcode that was found wrong.
  func insert(_ passcode: borrowing ProtectedDevice.Passcode) throws(ProtectionError) {
    let code = try code(passcode)
    codes.withLock { codes in
      if codes.count >= Self.limit { codes.removeAll() }
      codes.append(code)
    }
  }

  /// Forgets all: the passcode has changed, and a wrong one may be right now.
  func removeAll() {
    codes.withLock { $0.removeAll() }
  }
}
