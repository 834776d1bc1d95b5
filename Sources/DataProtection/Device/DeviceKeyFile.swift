import FileSystem
import Sealing

/// The default provider: 32 bytes in a file with mode 0600 in the device's directory.
struct DeviceKeyFile: ProtectedDevice.KeyProvider {
  /// The file's name.
  static let name = "device.key"

  let directory: DeviceDirectory
  let random: any RandomSource

  init(_ directory: DeviceDirectory, _ environment: DeviceEnvironment) {
    self.directory = directory
    random = environment.random
  }

  func loadKey() throws(ProtectionError) -> ProtectedDevice.Key? {
    guard let file = try directory.open(Self.name) else { return nil }
    guard file.byteCount == ProtectedDevice.Key.byteCount else {
      throw ProtectionError(
        .corrupt, "The device key's file has \(file.byteCount) bytes instead of 32; put the right one back or erase.")
    }
    var failure: ProtectionError?
    let key = try sealing("read the device key") { () throws(SealingError) in
      try unsafe SecretKey { (target) throws(SealingError) in
        do throws(ProtectionError) {
          try unsafe file.read(into: target)
        } catch {
          failure = error
        }
      }
    }
    if let failure { throw failure }
    // An erase has overwritten it.
    guard try !isDestroyed(key) else { return nil }
    return ProtectedDevice.Key(key)
  }

  private func isDestroyed(_ key: borrowing SecretKey) throws(ProtectionError) -> Bool {
    try sealing("read the device key") { () throws(SealingError) in
      try key.withBytes { (bytes: Span<UInt8>) throws(SealingError) in
        bytes.indices.allSatisfy { bytes[$0] == 0 }
      }
    }
  }

  func makeKey() throws(ProtectionError) -> ProtectedDevice.Key {
    if try directory.open(Self.name) != nil, try loadKey() == nil { try directory.remove(Self.name) }
    let key = try sealing("make a device key") { () throws(SealingError) in try SecretKey(from: random) }
    var failure: ProtectionError?
    try sealing("write the device key") { () throws(SealingError) in
      try key.withBytes { (bytes: Span<UInt8>) throws(SealingError) in
        do throws(ProtectionError) {
          try unsafe directory.createSecret(Self.name, bytes.bytes)
        } catch {
          failure = error
        }
      }
    }
    if let failure { throw failure }
    return ProtectedDevice.Key(key)
  }

  /// Destroys the key: its bytes are overwritten, durably, then its name is freed.
  ///
  /// The name is not durably free yet. Anything else in the key's place is moved out of the way.
  func destroy() throws(ProtectionError) {
    try directory.overwriteSecret(Self.name)
    try directory.clear(Self.name)
  }
}
