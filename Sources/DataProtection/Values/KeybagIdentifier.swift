/// Which keybag sealed something: 16 random bytes, stable until the device is erased.
package struct KeybagIdentifier: Hashable, Sendable {
  /// The bytes as the formats hold them.
  package let bytes: [UInt8]

  /// Wraps 16 bytes.
  package init(bytes: [UInt8]) {
    precondition(bytes.count == Self.byteCount, "A keybag identifier has 16 bytes, not \(bytes.count).")
    self.bytes = bytes
  }

  /// The size in the formats.
  package static let byteCount = 16
}
