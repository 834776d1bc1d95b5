/// A marker's bytes, kept while restoring lasts: another node changes only what is new in them.
///
/// One is noted for every node that is restored, so that nothing but the code itself is allocated on the way.
struct MarkerBytes: Sendable {
  /// What the code is computed over: the slot's identity, then the body.
  private var message: [UInt8]
  private let bodyOffset: Int
  /// The bytes as they are written.
  private var bytes: [UInt8]

  init(_ marker: CrashMarker, identity: [UInt8]) {
    let body = marker.body
    message = identity + body
    bodyOffset = identity.count
    bytes = body + [UInt8](repeating: 0, count: CrashMarker.byteCount - CrashMarker.bodyByteCount)
  }

  /// Names another node; returns the bytes, authentication code included.
  mutating func note(node: UInt32, keys: any StoreKeys) throws(ProtectionError) -> [UInt8] {
    set(node: node)
    set(CrashMarker.flagsOffset, to: bytes[CrashMarker.flagsOffset] & ~CrashMarker.restFlag)
    return try sealed(keys)
  }

  /// Says that nothing is being restored; returns the bytes, authentication code included.
  ///
  /// What failed before counts again if the rest does not last.
  mutating func rest(keys: any StoreKeys) throws(ProtectionError) -> [UInt8] {
    set(node: CrashMarker.noNode)
    set(CrashMarker.flagsOffset, to: bytes[CrashMarker.flagsOffset] | CrashMarker.restFlag)
    return try sealed(keys)
  }

  /// Counts no attempt before this one any more; returns the bytes, authentication code included.
  mutating func forgetFormer(keys: any StoreKeys) throws(ProtectionError) -> [UInt8] {
    for index in CrashMarker.attemptsOffset...CrashMarker.endsOffset where index != CrashMarker.flagsOffset {
      set(index, to: 0)
    }
    set(CrashMarker.flagsOffset, to: bytes[CrashMarker.flagsOffset] & ~CrashMarker.forgivenFlag)
    return try sealed(keys)
  }

  /// Whether there is anything to forget of former attempts.
  var countsAttempts: Bool {
    bytes[CrashMarker.attemptsOffset..<CrashMarker.flagsOffset].contains { $0 != 0 }
      || bytes[CrashMarker.flagsOffset] & ~CrashMarker.restFlag != 0
  }

  /// Names another archive, or the same one with a change; returns the bytes, authentication code included.
  ///
  /// Attempts that failed before were at another state; that they have ended badly in a row stays.
  mutating func begin(anew commitment: [UInt8]?, keys: any StoreKeys) throws(ProtectionError) -> [UInt8] {
    if let commitment {
      let name = commitment.prefix(CrashMarker.commitmentByteCount) + [0, 0, 0, 0]
      for (index, byte) in name.enumerated() { set(index, to: byte) }
    }
    for index in CrashMarker.attemptsOffset..<CrashMarker.flagsOffset { set(index, to: 0) }
    set(CrashMarker.flagsOffset, to: bytes[CrashMarker.flagsOffset] & CrashMarker.restFlag)
    return try sealed(keys)
  }

  private mutating func set(node: UInt32) {
    for index in 0..<4 {
      set(CrashMarker.nodeOffset + index, to: UInt8(truncatingIfNeeded: node >> (8 * UInt32(index))))
    }
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
