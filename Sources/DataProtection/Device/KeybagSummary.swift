/// What a keybag says about itself, without its keys: for inspection.
///
/// Taken from the bytes as they are; whether they are authentic only opening the device tells.
package struct KeybagSummary: Hashable, Sendable {
  /// One class key.
  package struct Key: Hashable, Sendable {
    /// The class it is of.
    package let protection: ProtectionClass
    /// Its name in sealed files, in hexadecimal digits.
    package let identifier: String
    /// Whether it only opens files from before the first passcode.
    package let isRetired: Bool
  }

  /// The keybag's name, in hexadecimal digits.
  package let identifier: String
  /// Raised at every change.
  package let revision: UInt64
  /// How a key is made from the passcode; `nil` when there is no passcode.
  package let derivation: ScryptProfile?
  /// Whether it was made with a cheap test profile.
  package let isForTests: Bool
  /// The class keys.
  package let keys: [Key]

  /// The beginning of a keybag's file name; the revision follows.
  package static let fileNamePrefix = KeybagStorage.keybagPrefix

  /// Reads the bytes of a keybag file.
  ///
  /// Throws `.unsupportedVersion` for a keybag of the future and `.corrupt` for other bytes.
  package init(_ bytes: [UInt8]) throws(ProtectionError) {
    let keybag = try KeybagCodec.parse(bytes).keybag
    identifier = hexadecimal(keybag.identifier.bytes)
    revision = keybag.revision
    derivation = keybag.derivation
    isForTests = keybag.isForTests
    keys = keybag.entries.map { entry in
      Key(protection: entry.protection, identifier: hexadecimal(entry.identifier.bytes), isRetired: entry.isRetired)
    }
  }
}
