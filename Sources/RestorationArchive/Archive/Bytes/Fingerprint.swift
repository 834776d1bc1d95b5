/// A 64-bit fingerprint of a base archive, by which deltas know their base.
///
/// It finds accidents, not malice: only the sealed file's authentication does that. Four lanes, so that it takes a small
/// part of the time of copying: lane `i` takes the words at `32 k + 8 i` as FNV-1a takes bytes; the tail is filled
/// with zeroes; the lanes and the length are then taken one after another and finalized as in ``LinkHash``.
enum Fingerprint {
  /// The fingerprint of some bytes.
  static func of(_ bytes: Borrowed<UInt8>) -> UInt64 {
    let (basis, prime) = (LinkHash.basis, LinkHash.prime)
    var lanes = SIMD4(basis, basis &+ 1, basis &+ 2, basis &+ 3)
    var offset = 0
    while offset + 32 <= bytes.count {
      let words = SIMD4(
        bytes.load(UInt64.self, at: offset), bytes.load(UInt64.self, at: offset + 8),
        bytes.load(UInt64.self, at: offset + 16), bytes.load(UInt64.self, at: offset + 24))
      lanes = (lanes ^ words) &* prime
      // A multiplication only moves bits up; bring the upper ones down once a round.
      lanes ^= lanes &>> 29
      offset += 32
    }
    var tail = SIMD4<UInt64>.zero
    for place in offset..<bytes.count { tail[(place & 31) / 8] |= UInt64(bytes[place]) << UInt64(8 * (place & 7)) }
    var hash = basis
    for value in [lanes[0], lanes[1], lanes[2], lanes[3], tail[0], tail[1], tail[2], tail[3], UInt64(bytes.count)] {
      hash = LinkHash.finalize((hash ^ value) &* prime)
    }
    return hash
  }
}
