typealias EncodeStateRef = Cell<EncodeState>

/// A buffer being written and the chain of values being encoded into it.
struct EncodeState {
  /// What a nested container or a super encoder writes, to be inserted when its owner is complete.
  struct DeferredChild {
    /// Where in the owner's buffer.
    var position: Int
    /// The session that holds the bytes.
    var session: EncodeSession
    /// The number of entries or elements before it.
    var entry: Int
    /// The number of entries there were when a nested container of its key was last asked for; 0 when none was.
    var asked: Int
  }

  /// What the state and its frames lie in.
  unowned let memory: SessionMemory
  /// The bytes.
  var writer: ByteWriter
  /// The chain's first frame: never a value itself for the state of an archive, the nested value for a child.
  var root: EncodeFrameRef?
  /// The most levels of values.
  var depthLimit = CodingLimits.usualDepth
  /// The number of ``children``.
  var childCount = 0
  /// The interner's epoch.
  var epoch: UInt64 = 0
  /// The facts about types.
  var types: TypeCache
  /// The interner's front cache of key types.
  var keyTypes: Slab<ShapeInterner.KeyTypeSlot>
  /// Whether keys are written out instead of interned, so that the bytes can be compared.
  var isCanonical = false
  /// What it knows of keys and shapes; shared with its children.
  var interner: ShapeInterner
  /// The insertions that wait.
  var children: [DeferredChild] = []
  /// What the values find in their encoder's `userInfo`.
  var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// The first misuse, so that it is not lost where the protocols cannot throw or the value swallows it.
  var misuse: (any Error)?
  /// For a child: the value that owns it.
  var owner: EncodeFrameRef?
  /// For a child: the key in its owner.
  var ownerKey: (any CodingKey)?
  /// The entries of a dictionary or set while they are brought into order.
  var order: EntryOrder

  /// The buffer kept for the next archive is not larger than this.
  private static let keptCapacity = 1 << 20

  init(interner: ShapeInterner, capacity: Int, memory: SessionMemory) {
    self.memory = memory
    types = TypeCache(in: memory)
    order = EntryOrder(in: memory)
    writer = ByteWriter(capacity: capacity)
    self.interner = interner
    keyTypes = interner.keyTypes
    epoch = interner.epoch
  }

  /// Makes it write for an interner.
  mutating func attach(_ interner: ShapeInterner) {
    self.interner = interner
    keyTypes = interner.keyTypes
    epoch = interner.epoch
  }

  /// Empties it, keeping a buffer of moderate size.
  mutating func reset() {
    dropChildren(downTo: 0)
    writer.truncate(to: 0)
    if writer.capacity > Self.keptCapacity {
      writer = ByteWriter(capacity: 4096)
    }
    if misuse != nil { misuse = nil }
    if !userInfo.isEmpty { userInfo = [:] }
    isCanonical = false
    root?.pointee.epochs.pointee.end()
  }

  /// Remembers the first misuse.
  mutating func noteMisuse(_ error: any Error) {
    if let owner {
      owner.pointee.state.pointee.noteMisuse(error)
    } else if misuse == nil {
      misuse = error
    }
  }

  /// The path to a child's value.
  var basePath: [any CodingKey] {
    guard let owner else { return [] }
    return owner.path() + (ownerKey.map { [$0] } ?? [])
  }

  /// The facts about a key type.
  @inline(__always)
  mutating func info<Key: CodingKey>(of type: Key.Type) -> KeyTypeRef {
    let address = UInt(bitPattern: ObjectIdentifier(type))
    let slot = TypeTable.keyTypes.slot(of: address)
    if keyTypes[slot].type == address, let known = keyTypes[slot].info { return known }
    return interner.learn(type, slot: slot)
  }
}
