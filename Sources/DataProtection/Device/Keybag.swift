/// The keybag as a value: which class keys a device has, wrapped, and how the passcode reaches them.
///
/// The byte layout is in `Docs/ProtectedFileFormat.md`; `KeybagCodec` reads and writes it, `KeybagCryptography` makes
/// and opens the wrapped keys.
struct Keybag: Hashable, Sendable {
  /// A wrapped class key.
  struct Entry: Hashable, Sendable {
    /// The class it is of.
    var protection: ProtectionClass
    /// Whether it only opens files from before the first passcode, until they are sealed anew.
    var isRetired: Bool
    /// Its name in sealed files.
    var identifier: ClassKeyIdentifier
    /// The key, wrapped: 40 bytes.
    var wrapped: [UInt8]
    /// The public key of the one-way class: 32 bytes; empty for the others.
    var publicKey: [UInt8]
  }

  /// Whether it was made with a cheap test profile, which production refuses.
  var isForTests: Bool
  /// What names the device key, 16 bytes.
  var deviceIdentifier: [UInt8]
  /// The keybag's own name, stable until the device is erased.
  var identifier: KeybagIdentifier
  /// Raised at every change.
  var revision: UInt64
  /// How a key is made from the passcode; `nil` when there is no passcode.
  var derivation: ScryptProfile?
  /// 32 random bytes, new at every change.
  var salt: [UInt8]
  /// The class keys: by class, the active one of each first.
  var entries: [Entry]

  /// Whether a passcode is needed to unwrap the keys.
  var hasPasscode: Bool { derivation != nil }
  /// Whether something may still be sealed under keys from before the first passcode.
  var hasRetiredKeys: Bool { entries.contains(where: \.isRetired) }
}
