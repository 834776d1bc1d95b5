import FoundationEssentials

/// What an encoding state has learnt of types, keys and shapes; it outlives the archives it helps to encode.
///
/// Numbers of keys and nodes here are private. The numbers that an archive uses are given in the order of first use
/// and are valid for one epoch, so that the bytes depend on the encoded values alone.
@safe final class EncodingUniverse {
  /// How one type is encoded.
  struct TypeEntry {
    /// The type's address; nil in an empty slot.
    var type: UInt = 0
    /// How it is encoded.
    var kind = TypeKind.unknown
    /// The collection's type when it is one of the commonest.
    var common = CommonCollection.other
    /// The type itself when it is a collection.
    var collection: (any FastEncodable.Type)?
  }

  /// The tables of the archive being encoded.
  var content = TableContent()
  /// Where the header and the tables of a value alone are written; kept for its memory.
  var header: [UInt8] = []
  /// The epoch in which the tables' numbers are valid.
  private(set) var epoch: UInt64 = 1
  /// The shapes of records start here.
  let recordFacts: KeyFactsRef
  /// The front cache of types.
  let types: UnsafeMutablePointer<TypeEntry>
  /// The front cache of key types.
  let facts: UnsafeMutablePointer<(type: UInt, facts: KeyFactsRef?)>

  private var typesBehind: [UInt: TypeEntry] = [:]
  private var factsBehind: [UInt: KeyFactsRef] = unsafe [:]
  private(set) var keys: [String] = [""]
  private var keyNumbers: [KeyText: UInt32] = [:]
  private var keyLocals: [(epoch: UInt64, local: UInt32)] = [(0, 0)]
  private let canonicalRoot: ShapeNodeRef
  /// Whether a look at all that was learnt is due; not in the object, where each look would be checked for exclusivity.
  private let mayBeBloated: UnsafeMutablePointer<Bool>
  private var edges: [ShapeEdge: ShapeNodeRef] = unsafe [:]
  private var nodes: [ShapeNodeRef] = unsafe []

  init() {
    unsafe types = .allocate(capacity: TypeTable.types.count)
    unsafe types.initialize(repeating: TypeEntry(), count: TypeTable.types.count)
    unsafe facts = .allocate(capacity: TypeTable.keyTypes.count)
    unsafe facts.initialize(repeating: (0, nil), count: TypeTable.keyTypes.count)
    unsafe mayBeBloated = .allocate(capacity: 1)
    unsafe mayBeBloated.initialize(to: false)
    unsafe canonicalRoot = .allocate(capacity: 1)
    unsafe canonicalRoot.initialize(to: ShapeNode())
    unsafe recordFacts = .allocate(capacity: 1)
    let root = UnsafeMutablePointer<ShapeNode>.allocate(capacity: 1)
    unsafe root.initialize(to: ShapeNode())
    unsafe nodes.append(root)
    unsafe recordFacts.initialize(to: KeyFacts(AnyCodingKey.self, root: root, naming: false))
    unsafe recordFacts.pointee.shapeLimit = CodingLimits.shapesOfRecords
    unsafe canonicalRoot.pointee.canonical = canonicalRoot
  }

  deinit {
    unsafe factsBehind.values.forEach { unsafe $0.destroy() }
    unsafe recordFacts.destroy()
    unsafe nodes.forEach { unsafe $0.deallocate() }
    unsafe canonicalRoot.deallocate()
    unsafe mayBeBloated.deallocate()
    unsafe types.deinitialize(count: TypeTable.types.count)
    unsafe types.deallocate()
    unsafe facts.deallocate()
  }

  /// Whether it has learnt so much that a new one is better for memory.
  var isBloated: Bool { isBloated(beyond: 0, fields: 0) }

  /// Whether it has learnt much more than the tables of the archive being encoded hold.
  @inline(__always)
  var isBloatedBeyondTables: Bool {
    unsafe mayBeBloated.pointee && isBloated(beyond: content.keyCount, fields: content.fields.count)
  }

  private func isBloated(beyond keyCount: Int, fields fieldCount: Int) -> Bool {
    unsafe keys.count > Self.keyLimit + 2 * keyCount || nodes.count > Self.nodeLimit + 4 * fieldCount
      || factsBehind.count > Self.factLimit
  }

  /// Looks, after something was learnt, whether it may be too much.
  private func noteSize() {
    if isBloated { unsafe mayBeBloated.pointee = true }
  }

  private static let keyLimit = 1 << 13
  private static let nodeLimit = 1 << 15
  private static let factLimit = 1 << 12

  // MARK: Types

  /// Finds how a type is encoded when the front cache does not know.
  func classify<T: Encodable>(_ type: T.Type, slot: Int) -> TypeKind {
    let address = UInt(bitPattern: ObjectIdentifier(type))
    let entry: TypeEntry
    if let known = typesBehind[address] {
      entry = known
    } else {
      if let kind = TypeKind.scalar(type) {
        entry = TypeEntry(type: address, kind: kind)
      } else if let collection = type as? any FastEncodable.Type {
        entry = TypeEntry(type: address, kind: .collection, common: CommonCollection(type), collection: collection)
      } else {
        entry = TypeEntry(type: address, kind: .general)
      }
      typesBehind[address] = entry
    }
    unsafe types[slot] = entry
    return entry.kind
  }

  /// Finds the facts of a key type when the front cache does not know them.
  func learn<Key: CodingKey>(_ type: Key.Type, slot: Int) -> KeyFactsRef {
    let address = UInt(bitPattern: ObjectIdentifier(type))
    let found: KeyFactsRef
    if let known = unsafe factsBehind[address] {
      unsafe found = known
    } else {
      unsafe found = .allocate(capacity: 1)
      unsafe found.initialize(to: KeyFacts(type, root: makeNode(), naming: false))
      unsafe factsBehind[address] = found
      noteSize()
    }
    unsafe facts[slot] = (address, found)
    return unsafe found
  }

  // MARK: Keys

  /// The number of a key.
  func number(of key: String) -> UInt32 {
    let text = KeyText(rawValue: key)
    if let known = keyNumbers[text] { return known }
    let number = UInt32(keys.count)
    keys.append(key)
    keyLocals.append((0, 0))
    keyNumbers[text] = number
    noteSize()
    return number
  }

  /// The number of a key in the archive being encoded, which is given now if it has none.
  private func localKey(_ number: UInt32) -> UInt32 {
    let index = Int(number)
    if keyLocals[index].epoch == epoch { return keyLocals[index].local }
    let local = content.appendKey(keys[index])
    keyLocals[index] = (epoch, local)
    return local
  }

  // MARK: Shapes

  private func makeNode() -> ShapeNodeRef {
    let node = UnsafeMutablePointer<ShapeNode>.allocate(capacity: 1)
    unsafe node.initialize(to: ShapeNode())
    unsafe nodes.append(node)
    noteSize()
    return unsafe node
  }

  /// Follows an edge other than the one taken last.
  func follow(_ edge: UInt64, from node: ShapeNodeRef) -> ShapeNodeRef {
    let next: ShapeNodeRef
    if let known = unsafe edges[ShapeEdge(node: UInt(bitPattern: node), edge: edge)] {
      unsafe next = known
    } else {
      unsafe next = makeNode()
      unsafe next.pointee.parent = node
      unsafe next.pointee.edge = edge
      unsafe next.pointee.fieldCount = node.pointee.fieldCount + 1
      unsafe next.pointee.isIrregular = node.pointee.isIrregular || isIrregular(edge, after: node)
      unsafe edges[ShapeEdge(node: UInt(bitPattern: node), edge: edge)] = next
    }
    unsafe node.pointee.lastEdge = edge
    unsafe node.pointee.lastNext = next
    return unsafe next
  }

  private func isIrregular(_ edge: UInt64, after node: ShapeNodeRef) -> Bool {
    if unsafe node.pointee.fieldCount >= CodingLimits.fieldsPerShape { return true }
    if keys[Int(edge >> 8)].utf8.count > CodingLimits.keyBytes { return true }
    var next: ShapeNodeRef? = unsafe node
    while let node = unsafe next {
      if unsafe node.pointee.edge >> 8 == edge >> 8 { return true }
      unsafe next = node.pointee.parent
    }
    return false
  }

  /// The edges from the empty shape to a node, for what happens rarely.
  func path(to node: ShapeNodeRef) -> [UInt64] {
    var path: [UInt64] = []
    var next: ShapeNodeRef? = unsafe node
    while let node = unsafe next, unsafe node.pointee.fieldCount > 0 {
      unsafe path.append(node.pointee.edge)
      unsafe next = node.pointee.parent
    }
    path.reverse()
    return path
  }

  /// The shape's number in the archive being encoded, given now if it has none; nil when there are too many shapes.
  func localShape(_ node: ShapeNodeRef, of facts: KeyFactsRef) -> UInt32? {
    let canonical: ShapeNodeRef
    if let known = unsafe node.pointee.canonical {
      unsafe canonical = known
    } else {
      unsafe canonical = path(to: node).reduce(canonicalRoot) { unsafe follow($1, from: $0) }
      unsafe canonical.pointee.canonical = canonical
      unsafe node.pointee.canonical = canonical
    }
    if unsafe canonical.pointee.epoch != epoch {
      if unsafe facts.pointee.epoch != epoch {
        unsafe facts.pointee.epoch = epoch
        unsafe facts.pointee.shapes = 0
      }
      if unsafe facts.pointee.shapes >= facts.pointee.shapeLimit { return nil }
      if content.shapeCount >= CodingLimits.tableEntries { return nil }
      unsafe facts.pointee.shapes += 1
      unsafe appendFields(node)
      content.shapeEnds.append(UInt32(content.fields.count))
      unsafe canonical.pointee.local = UInt32(content.shapeEnds.count - 1)
      unsafe canonical.pointee.epoch = epoch
    }
    unsafe node.pointee.epoch = epoch
    unsafe node.pointee.local = canonical.pointee.local
    return unsafe canonical.pointee.local
  }

  /// Adds the fields of a node to the tables, the first one first: a shape has a few hundred at most.
  private func appendFields(_ node: ShapeNodeRef) {
    if let parent = unsafe node.pointee.parent { unsafe appendFields(parent) }
    if unsafe node.pointee.fieldCount == 0 { return }
    let edge = unsafe node.pointee.edge
    content.fields.append(localKey(UInt32(edge >> 8)) << 8 | UInt32(edge & 0xFF))
  }

  // MARK: Archives

  /// Begins an archive with empty tables.
  func begin() {
    epoch += 1
    content.reset()
  }

  /// Begins an archive, or goes on with one, whose tables exist.
  func begin(with tables: TableContent) {
    epoch += 1
    content = tables
    var numbers: [UInt32] = []
    numbers.reserveCapacity(tables.keyCount)
    for key in 0..<tables.keyCount {
      let number = number(of: tables.key(key))
      numbers.append(number)
      if keyLocals[Int(number)].epoch != epoch { keyLocals[Int(number)] = (epoch, UInt32(key)) }
    }
    for shape in 0..<tables.shapeCount {
      var node = unsafe canonicalRoot
      for field in tables.fields[tables.fieldRange(shape)] {
        unsafe node = follow(UInt64(numbers[Int(field >> 8)]) << 8 | UInt64(field & 0xFF), from: node)
      }
      unsafe node.pointee.canonical = node
      if unsafe node.pointee.epoch != epoch {
        unsafe node.pointee.epoch = epoch
        unsafe node.pointee.local = UInt32(shape)
      }
    }
  }
}

extension UnsafeMutablePointer where Pointee == KeyFacts {
  /// Frees the facts, whose type is then learnt anew by whoever needs them.
  func destroy() {
    unsafe pointee.numbers.deallocate()
    unsafe pointee.names.deallocate()
    unsafe deinitialize(count: 1)
    unsafe deallocate()
  }
}
