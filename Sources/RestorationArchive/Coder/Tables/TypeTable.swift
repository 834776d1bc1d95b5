/// The small tables in which the coder keeps what it knows of types, by their addresses.
///
/// What has no other slot than another one takes that one's, at any time: whoever holds on to a slot has to ask each time
/// whose it is.
enum TypeTable {
  /// How types are coded; with fewer than 256 slots programs with many types are slow.
  case types
  /// What is known of key types.
  case keyTypes
  /// Where the fields of shapes are for key types.
  case plans
  /// The containers of one level, by key type.
  case containers

  @inline(__always)
  private var bits: UInt {
    switch self {
    case .types: 9
    case .keyTypes: 7
    case .plans: 8
    case .containers: 3
    }
  }

  /// The number of slots.
  var count: Int { 1 << bits }

  /// The slot of an address, or of what else tells apart what is in the table.
  @inline(__always)
  func slot(of number: UInt) -> Int {
    #if SMALL_TABLES
    // For the fuzzers: nearly all meet in the same slots, as they do once in hundreds of runs otherwise.
    let bits: UInt = 1
    #endif
    return Int(truncatingIfNeeded: (number &* 0x9E37_79B9_7F4A_7C15) &>> (64 - bits))
  }
}
