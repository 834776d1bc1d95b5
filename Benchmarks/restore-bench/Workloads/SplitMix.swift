/// SplitMix64: the same workload in every run.
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A number below a bound.
  mutating func below(_ bound: Int) -> Int {
    Int(next() % UInt64(bound))
  }

  /// A text of lowercase letters, some of them beyond ASCII when asked for.
  mutating func text(_ count: Int, beyondASCII: Bool = false) -> String {
    var text = ""
    for index in 0..<count {
      if beyondASCII, index % 13 == 7 {
        text.append(["é", "ß", "日", "ø"][below(4)])
      } else {
        text.unicodeScalars.append(Unicode.Scalar(UInt8(97 + below(26))))
      }
    }
    return text
  }
}
