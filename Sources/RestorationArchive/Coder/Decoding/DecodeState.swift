typealias DecodeStateRef = UnsafeMutablePointer<DecodeState>

/// The bytes being read and the chain of values being decoded from them.
///
/// Its memory is pooled and never freed.
@safe
struct DecodeState {
  /// How one type is decoded.
  struct TypeEntry {
    /// The type's address; 0 in an empty slot.
    var type: UInt = 0
    /// How it is decoded.
    var kind = TypeKind.unknown
    /// The type itself when it is a collection.
    var collection: (any FastDecodable.Type)?
  }

  /// Where the fields of a shape are for a key type.
  @safe
  struct Plan {
    /// The number of the shape.
    var shape = -1
    /// The key type.
    var facts: KeyFactsRef?
    /// The epoch in which it is valid.
    var epoch: UInt64 = 0
    /// By byte: one more than the field's number; 0 where not yet known, ``absent`` where there is none.
    var fields: UnsafeMutablePointer<UInt16>?

    /// Whether this is the plan of a shape and a key type: a frame that was given it must ask each time.
    @inline(__always)
    func serves(_ shape: Int, _ facts: KeyFactsRef) -> Bool { unsafe self.facts == facts && self.shape == shape }
  }

  /// In a plan: the shape has no such key.
  static let absent = UInt16.max
  /// The keys that a plan knows; key types with more take the slow way for the rest.
  static let planWidth = 64

  /// The first byte of what is read.
  var base: UnsafePointer<UInt8>
  /// Its end.
  var end: UnsafePointer<UInt8>
  /// The keys and shapes.
  var tables: TableView
  /// The chain's first frame, which is never a value itself.
  var root: DecodeFrameRef
  /// The most levels of values.
  var depthLimit = 64
  /// The bytes that collections may still be given for elements that were not read yet.
  var allowance = 0
  /// Counts what was decoded, so that what outlives its decoding is known to be stale.
  var epoch: UInt64 = 0
  /// Counts the changes of tables.
  var tablesEpoch: UInt64 = 0
  /// Which tables the plans are for; 0 before the first.
  var tablesIdentity: UInt64 = 0
  /// The front cache of types.
  let types: UnsafeMutablePointer<TypeEntry>
  /// The front cache of key types.
  let facts: UnsafeMutablePointer<(type: UInt, facts: KeyFactsRef?)>
  /// The plans, by a hash of shape and key type.
  let plans: UnsafeMutablePointer<Plan>
  /// What the values find in their decoder's `userInfo`.
  var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// The tables of the last self-contained value, unless they were long.
  var knownTables: KnownTables?

  private var typesBehind: [UInt: TypeEntry] = [:]
  private var factsBehind: [UInt: KeyFactsRef] = unsafe [:]

  /// Some place to point to when there are no bytes; never read.
  nonisolated(unsafe) static let nowhere = unsafe UnsafePointer(UnsafeMutablePointer<UInt8>.allocate(capacity: 16))
  /// The empty shape that key facts need for encoding; never used here.
  private nonisolated(unsafe) static let noShape = {
    let node = ShapeNodeRef.allocate(capacity: 1)
    unsafe node.initialize(to: ShapeNode())
    return unsafe node
  }()

  /// Makes a state that lives for ever.
  static func make() -> DecodeStateRef {
    let state = DecodeStateRef.allocate(capacity: 1)
    let root = DecodeFrameRef.allocate(capacity: 1)
    unsafe state.initialize(to: DecodeState(root: root))
    unsafe root.initialize(to: DecodeFrame(state: state, parent: nil))
    return unsafe state
  }

  private init(root: DecodeFrameRef) {
    unsafe base = Self.nowhere
    unsafe end = Self.nowhere
    unsafe tables = TableView(
      keyText: nil, keyEnds: nil, fields: nil, shapeEnds: nil, keyCount: 0, shapeCount: 0)
    unsafe self.root = root
    unsafe types = .allocate(capacity: TypeTable.types.count)
    unsafe types.initialize(repeating: TypeEntry(), count: TypeTable.types.count)
    unsafe facts = .allocate(capacity: TypeTable.keyTypes.count)
    unsafe facts.initialize(repeating: (0, nil), count: TypeTable.keyTypes.count)
    unsafe plans = .allocate(capacity: TypeTable.plans.count)
    unsafe plans.initialize(repeating: Plan(), count: TypeTable.plans.count)
  }

  /// How a type is decoded.
  @inline(__always)
  mutating func kind<T: Decodable>(of type: T.Type) -> (kind: TypeKind, slot: Int) {
    let address = UInt(bitPattern: ObjectIdentifier(type))
    let slot = TypeTable.types.slot(of: address)
    let kind = unsafe types[slot].type == address ? types[slot].kind : classify(type, slot)
    return (kind, slot)
  }

  @inline(never)
  private mutating func classify<T: Decodable>(_ type: T.Type, _ slot: Int) -> TypeKind {
    let address = UInt(bitPattern: ObjectIdentifier(type))
    let entry: TypeEntry
    if let known = typesBehind[address] {
      entry = known
    } else {
      if let kind = TypeKind.scalar(type) {
        entry = TypeEntry(type: address, kind: kind)
      } else if let collection = type as? any FastDecodable.Type {
        entry = TypeEntry(type: address, kind: .collection, collection: collection)
      } else {
        entry = TypeEntry(type: address, kind: .general)
      }
      typesBehind[address] = entry
    }
    unsafe types[slot] = entry
    return entry.kind
  }

  /// What is known of a key type.
  @inline(__always)
  mutating func facts<Key: CodingKey>(of type: Key.Type) -> KeyFactsRef {
    let address = UInt(bitPattern: ObjectIdentifier(type))
    let slot = TypeTable.keyTypes.slot(of: address)
    if unsafe facts[slot].type == address, let known = unsafe facts[slot].facts { return unsafe known }
    return unsafe learn(type, slot)
  }

  @inline(never)
  private mutating func learn<Key: CodingKey>(_ type: Key.Type, _ slot: Int) -> KeyFactsRef {
    let address = UInt(bitPattern: ObjectIdentifier(type))
    let found: KeyFactsRef
    if let known = unsafe factsBehind[address] {
      unsafe found = known
    } else {
      unsafe found = .allocate(capacity: 1)
      unsafe found.initialize(to: KeyFacts(type, root: Self.noShape, naming: true))
      unsafe factsBehind[address] = found
    }
    unsafe facts[slot] = (address, found)
    return unsafe found
  }

  /// The plan for a shape and a key type that can be indexed by its byte.
  @inline(__always)
  mutating func plan(shape: Int, facts: KeyFactsRef) -> UnsafeMutablePointer<Plan> {
    let number = UInt(bitPattern: facts) &+ UInt(bitPattern: shape) &* 0x1_0001
    let plan = unsafe plans + TypeTable.plans.slot(of: number)
    if unsafe plan.pointee.serves(shape, facts) && plan.pointee.epoch == tablesEpoch { return unsafe plan }
    unsafe renew(plan, shape, facts)
    return unsafe plan
  }

  @inline(never)
  private mutating func renew(_ plan: UnsafeMutablePointer<Plan>, _ shape: Int, _ facts: KeyFactsRef) {
    let fields = unsafe plan.pointee.fields ?? .allocate(capacity: Self.planWidth)
    unsafe fields.initialize(repeating: 0, count: Self.planWidth)
    unsafe plan.pointee = Plan(shape: shape, facts: facts, epoch: tablesEpoch, fields: fields)
  }
}
