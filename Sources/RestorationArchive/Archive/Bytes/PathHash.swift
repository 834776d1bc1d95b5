/// The hash of a path that the path index is sorted by: FNV-1a over the identifiers, each followed by 0xFF.
///
/// A hash only narrows a search: whatever it finds is compared with the path itself. The byte 0xFF never occurs in
/// UTF-8, so no two paths of different components have the same bytes.
struct PathHash: Hashable, Sendable {
  /// FNV's state.
  private(set) var state: UInt64 = 0xCBF2_9CE4_8422_2325

  /// The hash of the path above every root.
  static let root = PathHash()

  /// The hash of a child of this path.
  @inline(__always)
  func appending(_ identifier: String) -> PathHash {
    var result = self
    for byte in identifier.utf8 { result.mix(byte) }
    result.mix(0xFF)
    return result
  }

  /// The hash of a whole path.
  init(_ path: RestorationPath) {
    for component in path.components { self = appending(component.rawValue) }
  }

  /// The hash of the empty path.
  init() {}

  /// The 32 bits that an index is sorted by: the upper half after MurmurHash3's finalizer.
  var key: UInt32 {
    UInt32(truncatingIfNeeded: Self.finalize(state) >> 32)
  }

  /// MurmurHash3's 64-bit finalizer.
  static func finalize(_ state: UInt64) -> UInt64 {
    var hash = state
    hash = (hash ^ (hash >> 33)) &* 0xFF51_AFD7_ED55_8CCD
    hash = (hash ^ (hash >> 33)) &* 0xC4CE_B9FE_1A85_EC53
    return hash ^ (hash >> 33)
  }

  @inline(__always)
  private mutating func mix(_ byte: UInt8) {
    state = (state ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
  }
}
