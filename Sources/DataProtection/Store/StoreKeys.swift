/// What the store needs of the device besides the class keys: the keys that are always there, and who the device is.
package protocol StoreKeys: Sendable {
  /// The device's keybag, which every sealed file names.
  var keybagIdentifier: KeybagIdentifier { get }
  /// The keybag's revision; a ledger that has seen a later one proves that an old keybag was put back.
  var keybagRevision: UInt64 { get }
  /// The keybag's revision, after a look at the disk: another program may have changed the passcode since.
  func refreshKeybagRevision() throws(ProtectionError) -> UInt64
  /// Whether the disk still has this keybag; an erase takes it.
  func isOnDisk() throws(ProtectionError) -> Bool
  /// The machine's current start (16 bytes), which tells a power cut from the death of a process.
  var bootIdentifier: [UInt8] { get }
  /// HMAC-SHA-256 under one of the derived device keys; 32 bytes.
  func authenticationCode(_ purpose: StoreKeyPurpose, over message: [UInt8]) throws(ProtectionError) -> [UInt8]
  /// Seals what a slot is called, for those who have the device key; it opens for that slot alone.
  func sealSlotName(_ name: [UInt8], of identity: [UInt8]) throws(ProtectionError) -> [UInt8]
  /// Opens what a slot is called; throws `.corrupt` for a name of another slot or device.
  func openSlotName(_ sealed: [UInt8], of identity: [UInt8]) throws(ProtectionError) -> [UInt8]
}

/// What a derived device key is for.
package enum StoreKeyPurpose: Hashable, Sendable, CaseIterable {
  /// Names of slots and files.
  case name
  /// The ledger.
  case ledger
  /// The crash marker.
  case marker
}
