import FileSystem
import Sealing

/// The default provider: 32 bytes in a file with mode 0600 in the device's directory.
struct DeviceKeyFile: DeviceKeyProvider {
  /// The file's name.
  static let name = "device.key"

  let directory: DeviceDirectory
  let random: any RandomSource

  init(_ directory: DeviceDirectory, _ environment: DeviceEnvironment) {
    self.directory = directory
    random = environment.random
  }

  func loadKey() throws(ProtectionError) -> DeviceKey? {
    guard let file = try directory.open(Self.name) else { return nil }
    guard file.byteCount == DeviceKey.byteCount else {
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
    return DeviceKey(key)
  }

  func makeKey() throws(ProtectionError) -> DeviceKey {
    let key = try sealing("make a device key") { () throws(SealingError) in try SecretKey(from: random) }
    var failure: ProtectionError?
    try sealing("write the device key") { () throws(SealingError) in
      try key.withBytes { (bytes: Span<UInt8>) throws(SealingError) in
        do throws(ProtectionError) {
          try unsafe directory.create(Self.name, bytes.bytes)
        } catch {
          failure = error
        }
      }
    }
    if let failure { throw failure }
    return DeviceKey(key)
  }

  /// Removes an entry in the key's place that can't be a key, so that an erased device can be made anew.
  ///
  /// Not durable yet.
  func removeUnusable() throws(ProtectionError) {
    do throws(ProtectionError) {
      _ = try loadKey()
    } catch  where error.code == .corrupt {
      try directory.clear(Self.name)
    }
  }
}
