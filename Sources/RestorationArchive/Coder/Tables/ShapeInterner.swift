/// What an encoding state has learnt of types, keys and shapes; it outlives the archives it helps to encode.
///
/// Numbers of keys and nodes here are private. The numbers that an archive uses are given in the order of first use
/// and are valid for one epoch, so that the bytes depend on the encoded values alone.
final class ShapeInterner {
  /// A slot of the front cache of key types.
  typealias KeyTypeSlot = (type: UInt, info: KeyTypeRef?)

  private let memory = SessionMemory()
  /// The tables of the archive being encoded.
  var content = TableContent()
  /// Where the header and the tables of a value alone are written; kept for its memory.
  var header = ByteWriter(capacity: 256)
  /// The epoch in which the tables' numbers are valid.
  private(set) var epoch: UInt64 = 1
  /// The shapes of records start here.
  let recordInfo: KeyTypeRef
  /// The front cache of key types.
  let keyTypes: Slab<KeyTypeSlot>

  private var knownKeyTypes: [UInt: KeyTypeRef] = [:]
  private(set) var keys: [String] = [""]
  private var keyNumbers: [KeyText: UInt32] = [:]
  private var keyLocals: [(epoch: UInt64, local: UInt32)] = [(0, 0)]
  private let canonicalRoot: ShapeNodeRef
  /// How much was learnt, about; not in the object, where each look would be checked for exclusivity.
  private let learntCount: Cell<Int>
  private var edges: [ShapeEdge: ShapeNodeRef] = [:]
  /// The edges to a node; kept for its memory.
  private var path: [UInt64] = []

  init() {
    keyTypes = Slab(repeating: (0, nil), count: TypeTable.keyTypes.count, in: memory)
    canonicalRoot = Cell(ShapeNode(), in: memory)
    learntCount = Cell(0, in: memory)
    let root = ShapeNodeRef(ShapeNode(), in: memory)
    recordInfo = KeyTypeRef(KeyTypeInfo(AnyCodingKey.self, root: root, in: memory), in: memory)
    canonicalRoot.pointee.canonical = canonicalRoot
  }

  /// Whether it has learnt so much that a new one is better for memory.
  var isBloated: Bool { learntCount.pointee > Self.learntLimit }

  /// Whether it has learnt much more than the tables of the archive being encoded hold.
  @inline(__always)
  var isBloatedBeyondTables: Bool {
    isBloated && learntCount.pointee > Self.learntLimit + 4 * (content.keyCount + content.fields.count)
  }

  private static let learntLimit = 1 << 15

  // MARK: Keys

  /// Finds the facts about a key type when the front cache has none.
  @inline(never)
  func learn<Key: CodingKey>(_ type: Key.Type, slot: Int) -> KeyTypeRef {
    let address = UInt(bitPattern: ObjectIdentifier(type))
    let found = knownKeyTypes[address] ?? KeyTypeRef(KeyTypeInfo(type, root: makeNode(), in: memory), in: memory)
    knownKeyTypes[address] = found
    // Its two tables by byte are large.
    learntCount.pointee += 8
    keyTypes[slot] = (address, found)
    return found
  }

  /// The number of a key.
  func number(of key: String) -> UInt32 {
    let text = KeyText(rawValue: key)
    if let known = keyNumbers[text] { return known }
    let number = UInt32(keys.count)
    keys.append(key)
    keyLocals.append((0, 0))
    keyNumbers[text] = number
    learntCount.pointee += 4
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
    learntCount.pointee += 1
    return ShapeNodeRef(ShapeNode(), in: memory)
  }

  /// Follows an edge other than the one taken last.
  @inline(never)
  func follow(_ edge: UInt64, from node: ShapeNodeRef) -> ShapeNodeRef {
    let step = ShapeEdge(node: node.identity, edge: edge)
    let next: ShapeNodeRef
    if let known = edges[step] {
      next = known
    } else {
      next = makeNode()
      next.pointee.parent = node
      next.pointee.edge = edge
      next.pointee.fieldCount = node.pointee.fieldCount + 1
      next.pointee.isIrregular = node.pointee.isIrregular || isIrregular(edge, after: node)
      edges[step] = next
    }
    node.pointee.lastEdge = edge
    node.pointee.lastNext = next
    return next
  }

  private func isIrregular(_ edge: UInt64, after node: ShapeNodeRef) -> Bool {
    if node.pointee.fieldCount >= CodingLimits.fieldsPerShape { return true }
    if keys[Int(edge >> 8)].utf8.count > CodingLimits.keyBytes { return true }
    var next: ShapeNodeRef? = node
    while let node = next {
      if node.pointee.edge >> 8 == edge >> 8 { return true }
      next = node.pointee.parent
    }
    return false
  }

  /// The edges from the empty shape to a node, for rare events.
  func path(to node: ShapeNodeRef) -> [UInt64] {
    path.removeAll(keepingCapacity: true)
    var next: ShapeNodeRef? = node
    while let node = next, node.pointee.fieldCount > 0 {
      path.append(node.pointee.edge)
      next = node.pointee.parent
    }
    path.reverse()
    return path
  }

  /// The shape's number in the archive being encoded, given now if it has none; nil when there are too many shapes or keys.
  func localShape(_ node: ShapeNodeRef, of info: KeyTypeRef) -> UInt32? {
    let path = path(to: node)
    let canonical = node.pointee.canonical ?? path.reduce(canonicalRoot) { follow($1, from: $0) }
    canonical.pointee.canonical = canonical
    node.pointee.canonical = canonical
    if canonical.pointee.epoch != epoch {
      if info.pointee.epoch != epoch {
        info.pointee.epoch = epoch
        info.pointee.shapes = 0
      }
      let isOfRecord = info == recordInfo
      guard isOfRecord || info.pointee.shapes < CodingLimits.shapesPerKeyType,
        content.shapeCount < CodingLimits.shapesPerArchive,
        content.keyCount + path.count <= CodingLimits.keysPerArchive || path.allSatisfy({ isLocal(UInt32($0 >> 8)) })
      else { return nil }
      info.pointee.shapes += 1
      for edge in path { content.fields.append(localKey(UInt32(edge >> 8)) << 8 | UInt32(edge & 0xFF)) }
      content.shapeEnds.append(UInt32(content.fields.count))
      canonical.pointee.local = UInt32(content.shapeEnds.count - 1)
      canonical.pointee.epoch = epoch
    }
    node.pointee.epoch = epoch
    node.pointee.local = canonical.pointee.local
    return canonical.pointee.local
  }

  private func isLocal(_ key: UInt32) -> Bool { keyLocals[Int(key)].epoch == epoch }

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
      if !isLocal(number) { keyLocals[Int(number)] = (epoch, UInt32(key)) }
    }
    for shape in 0..<tables.shapeCount {
      var node = canonicalRoot
      for field in tables.fields[tables.fieldRange(shape)] {
        node = follow(UInt64(numbers[Int(field >> 8)]) << 8 | UInt64(field & 0xFF), from: node)
      }
      node.pointee.canonical = node
      guard node.pointee.epoch != epoch else { continue }
      node.pointee.epoch = epoch
      node.pointee.local = UInt32(shape)
    }
  }
}
