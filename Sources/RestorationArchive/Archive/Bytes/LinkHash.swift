/// The hash of a node's parent and identifier that the index by link is sorted by: FNV-1a over the four bytes of the
/// parent's number, lowest first, and the identifier's.
///
/// A hash only narrows a search: whatever it finds is compared with parent and identifier.
enum LinkHash {
  /// The 32 bits that the index is sorted by: the upper half after the finalizer.
  static func key(of identifier: String, under parent: UInt32) -> UInt32 {
    var state = basis
    for shift in [0, 8, 16, 24] { mix(UInt8(truncatingIfNeeded: parent >> shift), into: &state) }
    for byte in identifier.utf8 { mix(byte, into: &state) }
    return UInt32(truncatingIfNeeded: finalize(state) >> 32)
  }

  /// FNV's offset basis.
  static let basis: UInt64 = 0xCBF2_9CE4_8422_2325
  /// FNV's prime.
  static let prime: UInt64 = 0x0000_0100_0000_01B3

  /// MurmurHash3's 64-bit finalizer.
  static func finalize(_ state: UInt64) -> UInt64 {
    var hash = state
    hash = (hash ^ (hash >> 33)) &* 0xFF51_AFD7_ED55_8CCD
    hash = (hash ^ (hash >> 33)) &* 0xC4CE_B9FE_1A85_EC53
    return hash ^ (hash >> 33)
  }

  @inline(__always)
  private static func mix(_ byte: UInt8, into state: inout UInt64) { state = (state ^ UInt64(byte)) &* prime }
}
