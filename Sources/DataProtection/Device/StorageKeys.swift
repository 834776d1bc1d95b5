import Sealing

/// The keys derived from the device key that are there always: for names, ledgers, crash markers, and for telling a
/// genuine effaceable file.
final class StorageKeys: Sendable {
  private let name: SecretKey
  private let ledger: SecretKey
  private let marker: SecretKey
  private let slotName: SecretKey
  let effaceable: SecretKey

  /// Derives the keys.
  init(_ deviceKey: borrowing ProtectedDevice.Key) throws(ProtectionError) {
    name = try deviceKey.derive(.name)
    ledger = try deviceKey.derive(.ledger)
    marker = try deviceKey.derive(.marker)
    slotName = try deviceKey.derive(.slotName)
    effaceable = try deviceKey.derive(.effaceable)
  }

  func authenticationCode(
    _ purpose: StoreKeyPurpose, over message: [UInt8]
  ) throws(ProtectionError) -> [UInt8] {
    try sealing("authenticate a record") { () throws(SealingError) in
      switch purpose {
      case .name: try HMACSHA256.authenticationCode(for: message.span, key: name)
      case .ledger: try HMACSHA256.authenticationCode(for: message.span, key: ledger)
      case .marker: try HMACSHA256.authenticationCode(for: message.span, key: marker)
      }
    }
  }

  func sealSlotName(
    _ name: [UInt8], of identity: [UInt8], random: any RandomSource
  ) throws(ProtectionError) -> [UInt8] {
    try sealing("seal a name") { () throws(SealingError) in
      try ChunkedEncryption.seal(name.span, key: slotName, context: identity.span, random: random).bytes
    }
  }

  func openSlotName(_ sealed: [UInt8], of identity: [UInt8]) throws(ProtectionError) -> [UInt8] {
    try sealing("open a name") { () throws(SealingError) in
      try ChunkedEncryption.open(sealed.span, key: slotName, context: identity.span)
    }
  }
}
