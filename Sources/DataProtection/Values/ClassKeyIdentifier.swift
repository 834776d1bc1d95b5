/// Which class key sealed something: 16 bytes derived from the key itself, so that a wrong key can't carry its name.
package struct ClassKeyIdentifier: Hashable, Sendable {
  /// The bytes as the formats hold them.
  package let bytes: [UInt8]

  /// Wraps 16 bytes.
  package init(bytes: [UInt8]) {
    precondition(bytes.count == Self.byteCount, "A class-key identifier has 16 bytes, not \(bytes.count).")
    self.bytes = bytes
  }

  /// The size in the formats.
  package static let byteCount = 16
}
