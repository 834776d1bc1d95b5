typealias EncodeStateRef = UnsafeMutablePointer<EncodeState>

/// A buffer being written and the chain of values being encoded into it.
///
/// Its memory is pooled and never freed.
@safe struct EncodeState {
  /// What a nested container or a super encoder writes, to be inserted when its owner is complete.
  @safe struct Side {
    /// Where in the owner's buffer.
    var position: Int
    /// The state that holds the bytes.
    var state: EncodeStateRef
    /// The number of entries or elements before it.
    var entry: Int
    /// The number of entries there were when a nested container of its key was last asked for; 0 when none was.
    var asked: Int
  }

  /// The next byte to write.
  var next: UnsafeMutablePointer<UInt8>
  /// The end of the buffer, with ``slack`` bytes to spare behind it.
  var limit: UnsafeMutablePointer<UInt8>
  /// The first byte.
  var base: UnsafeMutablePointer<UInt8>
  /// The chain's first frame: never a value itself for the state of an archive, the nested value for a side.
  var root: EncodeFrameRef
  /// The most levels of values.
  var depthLimit = 64
  /// The number of ``sides``.
  var sideCount = 0
  /// The universe's epoch.
  var epoch: UInt64 = 0
  /// The universe's front cache of types.
  var types: UnsafeMutablePointer<EncodingUniverse.TypeEntry>
  /// The universe's front cache of key types.
  var facts: UnsafeMutablePointer<(type: UInt, facts: KeyFactsRef?)>
  /// Whether keys are written out instead of interned, so that the bytes can be compared.
  var isCanonical = false
  /// What it knows of types, keys and shapes; shared with its sides.
  var universe: EncodingUniverse
  /// What waits to be inserted.
  var sides: [Side] = []
  /// What the values find in their encoder's `userInfo`.
  var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// The first misuse, so that it is not lost where the protocols cannot throw or the value swallows it.
  var misuse: (any Error)?
  /// For a side: the value that owns it.
  var owner: EncodeFrameRef?
  /// For a side: the key in its owner, when a byte is not enough.
  var ownerKey: (any CodingKey)?
  /// For a side: the key's byte, and its type, when that is enough to make the key.
  var ownerByte: UInt8 = 0
  var ownerFacts: KeyFactsRef?
  /// Entries being sorted.
  var sorter = EntrySorter(capacity: EntrySorter.fewEntries)

  /// The bytes that can always be written behind ``limit``: the longest number.
  static let slack = 32
  /// The buffers kept for the next archive are not larger than this.
  static let keptCapacity = 1 << 20

  /// The number of bytes written.
  @inline(__always)
  var count: Int { unsafe next - base }

  /// Makes a state that lives for ever.
  static func make(universe: EncodingUniverse, capacity: Int) -> EncodeStateRef {
    let state = EncodeStateRef.allocate(capacity: 1)
    let root = EncodeFrameRef.allocate(capacity: 1)
    let base = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity + slack)
    unsafe state.initialize(
      to: EncodeState(
        next: base, limit: base + capacity, base: base, root: root, types: universe.types, facts: universe.facts,
        universe: universe))
    unsafe root.initialize(
      to: EncodeFrame(
        state: state, parent: nil, node: universe.recordFacts.pointee.root, facts: universe.recordFacts))
    return unsafe state
  }

  /// Makes it write for a universe.
  mutating func attach(_ universe: EncodingUniverse) {
    self.universe = universe
    unsafe types = universe.types
    unsafe facts = universe.facts
    epoch = universe.epoch
  }

  /// Empties it, keeping a buffer of moderate size.
  mutating func reset() {
    dropSides(downTo: 0)
    unsafe next = base
    if unsafe limit - base > Self.keptCapacity {
      unsafe base.deallocate()
      unsafe base = .allocate(capacity: 4096 + Self.slack)
      unsafe next = base
      unsafe limit = base + 4096
    }
    if sorter.capacity > EntrySorter.keptCapacity {
      unsafe sorter.entries.deallocate()
      sorter = EntrySorter(capacity: EntrySorter.fewEntries)
    }
    if !userInfo.isEmpty { userInfo = [:] }
    if misuse != nil { misuse = nil }
    isCanonical = false
    unsafe root.pointee.mark = 0
    unsafe root.pointee.containerMark = 0
  }

  /// Remembers the first misuse.
  mutating func noteMisuse(_ error: any Error) {
    if let owner = unsafe owner {
      unsafe owner.pointee.state.pointee.noteMisuse(error)
    } else if misuse == nil {
      misuse = error
    }
  }

  /// The path to a side's value.
  func basePath() -> [any CodingKey] {
    guard let owner = unsafe owner else { return [] }
    return unsafe owner.path() + (keyInOwner.map { [$0] } ?? [])
  }

  /// For a side: the key in its owner.
  var keyInOwner: (any CodingKey)? {
    if let ownerKey { return ownerKey }
    return unsafe ownerFacts.map { unsafe $0.pointee.key(of: ownerByte) }
  }
}
