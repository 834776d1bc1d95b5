/// What a derived key is for: every derivation has a label of its own, so that no key serves two purposes.
package enum KeyLabel: String, CaseIterable, Sendable {
  case classKeyIdentifier = "class-key-identifier"
  case classKeyWrap = "class-key-wrap"
  case deviceIdentifier = "device-identifier"
  case effaceable = "effaceable"
  case attempts = "attempts"
  case keybagDevice = "keybag-device"
  case keybagPasscode = "keybag-passcode"
  case alwaysAvailable = "always-available"
  case name = "name"
  case slotName = "slot-name"
  case ledger = "ledger"
  case marker = "marker"
  case fileKey = "file-key"
  case oneWay = "one-way"
  case oneWaySender = "one-way-sender"

  /// The label as it enters a derivation: `state-restoration/v1/<purpose>` and a zero byte.
  package var bytes: [UInt8] {
    Array("state-restoration/v1/\(rawValue)".utf8) + [0]
  }
}
