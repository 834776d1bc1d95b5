typealias DecodeStateRef = Cell<DecodeState>

/// The bytes being read and the chain of values being decoded from them.
struct DecodeState {
  /// Where the fields of a shape are for a key type.
  struct FieldMap {
    /// The number of the shape.
    var shape = -1
    /// The key type.
    var info: KeyTypeRef?
    /// The epoch in which it is valid.
    var epoch: UInt64 = 0
    /// By index of the key: one more than the field's number; 0 where not yet known, ``absent`` where there is none.
    var fields: Slab<UInt16>?

    /// The shape has no such key.
    static let absent = UInt16.max
    /// The keys that it knows; key types with more take the slow way for the rest.
    static let width = 64

    /// Whether this is the map of a shape and a key type: a frame that was given it must ask each time.
    @inline(__always)
    func serves(_ shape: Int, _ info: KeyTypeRef) -> Bool {
      self.shape == shape && self.info?.identity == info.identity
    }
  }

  /// What the state and its frames lie in.
  unowned let memory: SessionMemory
  /// The bytes that are read.
  var bytes = Borrowed<UInt8>()
  /// The keys and shapes.
  var tables = TableView.empty
  /// The chain's first frame, which is never a value itself.
  var root: DecodeFrameRef?
  /// The most levels of values.
  var depthLimit = CodingLimits.usualDepth
  /// The bytes that collections may still be given for elements that were not read yet.
  var preallocationBudget = 0
  /// Counts the changes of tables.
  var tablesEpoch: UInt64 = 0
  /// Which tables the field maps are for; 0 before the first.
  var tablesIdentity: UInt64 = 0
  /// The facts about types.
  var types: TypeCache
  /// The front cache of key types.
  private let keyTypes: Slab<ShapeInterner.KeyTypeSlot>
  /// The field maps, by a hash of shape and key type.
  let fieldMaps: Slab<FieldMap>
  /// What the values find in their decoder's `userInfo`.
  var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// Notes the fields that the type of the value at a depth does not know; nil while nobody asks.
  var unknownFields: (notes: UnknownFields, depth: Int)?
  /// The tables of the last self-contained value, unless they were long.
  var knownTables: KnownTables?
  /// The first frames of the chains of nested containers, and those that nobody uses now.
  var chains: [DecodeFrameRef] = []
  var freeChains: [DecodeFrameRef] = []

  private var knownKeyTypes: [UInt: KeyTypeRef] = [:]

  init(memory: SessionMemory) {
    self.memory = memory
    types = TypeCache(in: memory)
    keyTypes = Slab(repeating: (0, nil), count: TypeTable.keyTypes.count, in: memory)
    fieldMaps = Slab(repeating: FieldMap(), count: TypeTable.fieldMaps.count, in: memory)
  }

  /// Takes a chain that nobody uses; the first time it is made.
  mutating func takeChain(_ make: () -> DecodeFrameRef) -> DecodeFrameRef {
    if let chain = freeChains.popLast() { return chain }
    let chain = make()
    chains.append(chain)
    return chain
  }

  /// Makes all handles stale and lets go of the bytes.
  mutating func end() {
    root?.finish()
    if chains.count > freeChains.count {
      chains.forEach { $0.finish() }
      freeChains = chains
    }
    if !userInfo.isEmpty { userInfo = [:] }
    if unknownFields != nil { unknownFields = nil }
    bytes = Borrowed()
    tables = .empty
  }

  /// The facts about a key type.
  @inline(__always)
  mutating func info<Key: CodingKey>(of type: Key.Type) -> KeyTypeRef {
    let address = UInt(bitPattern: ObjectIdentifier(type))
    let slot = TypeTable.keyTypes.slot(of: address)
    if keyTypes[slot].type == address, let known = keyTypes[slot].info { return known }
    return learn(type, slot)
  }

  @inline(never)
  private mutating func learn<Key: CodingKey>(_ type: Key.Type, _ slot: Int) -> KeyTypeRef {
    let address = UInt(bitPattern: ObjectIdentifier(type))
    let found = knownKeyTypes[address] ?? KeyTypeRef(KeyTypeInfo(type, root: nil, in: memory), in: memory)
    knownKeyTypes[address] = found
    keyTypes[slot] = (address, found)
    return found
  }

  /// The slot of the map for a shape and a key type that can be indexed.
  @inline(__always)
  func fieldMap(shape: Int, info: KeyTypeRef) -> Int {
    let slot = TypeTable.fieldMaps.slot(of: info.identity &+ UInt(bitPattern: shape) &* 0x1_0001)
    if !fieldMaps[slot].serves(shape, info) || fieldMaps[slot].epoch != tablesEpoch { renew(slot, shape, info) }
    return slot
  }

  @inline(never)
  private func renew(_ slot: Int, _ shape: Int, _ info: KeyTypeRef) {
    let fields = fieldMaps[slot].fields ?? Slab(repeating: 0, count: FieldMap.width, in: memory)
    for index in 0..<FieldMap.width { fields[index] = 0 }
    fieldMaps[slot] = FieldMap(shape: shape, info: info, epoch: tablesEpoch, fields: fields)
  }
}
