/// A marker and its bytes, kept while restoring lasts: another node changes only what is new in them.
///
/// One is noted for every node that is restored, so that nothing but the code itself is allocated on the way.
struct MarkerBytes: Sendable {
  /// What the bytes say.
  private(set) var marker: CrashMarker
  /// What the code is computed over: the slot's identity, then the body.
  private var message: [UInt8]
  private let bodyOffset: Int
  /// The bytes as they are written.
  private var bytes: [UInt8]

  init(_ marker: CrashMarker, identity: [UInt8]) {
    self.marker = marker
    let body = marker.body
    message = identity + body
    bodyOffset = identity.count
    bytes = body + [UInt8](repeating: 0, count: CrashMarker.byteCount - CrashMarker.bodyByteCount)
  }

  /// Names another node; returns the bytes, authentication code included.
  mutating func note(node: UInt32, keys: any StoreKeys) throws(ProtectionError) -> [UInt8] {
    if marker.isAtRest { return try change(keys) { $0.note(node: node) } }
    marker.note(node: node)
    for index in 0..<4 {
      set(CrashMarker.nodeOffset + index, to: UInt8(truncatingIfNeeded: node >> (8 * UInt32(index))))
    }
    return try sealed(keys)
  }

  /// Changes anything; returns the bytes, authentication code included.
  mutating func change(
    _ keys: any StoreKeys, _ body: (inout CrashMarker) -> Void
  ) throws(ProtectionError) -> [UInt8] {
    body(&marker)
    for (index, byte) in marker.body.enumerated() { set(index, to: byte) }
    return try sealed(keys)
  }

  private mutating func set(_ index: Int, to byte: UInt8) {
    message[bodyOffset + index] = byte
    bytes[index] = byte
  }

  private mutating func sealed(_ keys: any StoreKeys) throws(ProtectionError) -> [UInt8] {
    var position = CrashMarker.bodyByteCount
    for byte in try CrashMarker.code(over: message, keys) {
      bytes[position] = byte
      position += 1
    }
    return bytes
  }
}
