/// A 64-bit fingerprint of a base archive, by which deltas know their base.
///
/// It finds accidents, not malice: only the sealed file's authentication does that. Four lanes, so that it takes a small
/// part of the time of copying: lane `i` takes the words at `32 k + 8 i` as FNV-1a takes bytes; the tail is filled
/// with zeroes; the lanes and the length are then taken one after another and finalized as in ``PathHash``.
enum Fingerprint {
  private static let prime: UInt64 = 0x0000_0100_0000_01B3
  private static let basis: UInt64 = 0xCBF2_9CE4_8422_2325

  /// The fingerprint of some bytes.
  static func of(_ bytes: Borrowed<UInt8>) -> UInt64 {
    let count = bytes.count
    var lanes: (UInt64, UInt64, UInt64, UInt64) = (basis, basis &+ 1, basis &+ 2, basis &+ 3)
    var offset = 0
    while offset + 32 <= count {
      lanes.0 = (lanes.0 ^ word(bytes, offset)) &* prime
      lanes.1 = (lanes.1 ^ word(bytes, offset + 8)) &* prime
      lanes.2 = (lanes.2 ^ word(bytes, offset + 16)) &* prime
      lanes.3 = (lanes.3 ^ word(bytes, offset + 24)) &* prime
      // A multiplication only moves bits up; bring the upper ones down once a round.
      lanes.0 ^= lanes.0 >> 29
      lanes.1 ^= lanes.1 >> 29
      lanes.2 ^= lanes.2 >> 29
      lanes.3 ^= lanes.3 >> 29
      offset += 32
    }
    var tail: [UInt64] = [0, 0, 0, 0]
    while offset < count {
      let place = offset & 31
      tail[place / 8] |= UInt64(bytes[offset]) << UInt64(8 * (place & 7))
      offset += 1
    }
    var hash = basis
    for value in [lanes.0, lanes.1, lanes.2, lanes.3] + tail + [UInt64(count)] {
      hash = PathHash.finalize((hash ^ value) &* prime)
    }
    return hash
  }

  @inline(__always)
  private static func word(_ bytes: Borrowed<UInt8>, _ offset: Int) -> UInt64 {
    bytes.load(UInt64.self, at: offset)
  }
}
