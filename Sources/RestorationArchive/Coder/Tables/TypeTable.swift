/// The sizes of the small tables in which the coder keeps what it knows of types, by their addresses.
///
/// An entry with no other slot than another one's takes that one, at any time: the holder of a slot has to ask each time
/// whose it is.
enum TypeTable {
  /// How types are coded; with fewer than 256 slots programs with many types are slow.
  case types
  /// The facts about key types.
  case keyTypes
  /// Where the fields of shapes are for key types.
  case fieldMaps

  @inline(__always)
  private var bits: UInt {
    switch self {
    case .types: 9
    case .keyTypes: 7
    case .fieldMaps: 8
    }
  }

  /// The number of slots.
  var count: Int { 1 << bits }

  /// The slot of an address, or of another value that tells the entries apart.
  @inline(__always)
  func slot(of number: UInt) -> Int {
    #if SMALL_TABLES
    // For the fuzzers: nearly all meet in the same slots, as they do once in hundreds of runs otherwise.
    let bits: UInt = 1
    #endif
    return Int(truncatingIfNeeded: (number &* 0x9E37_79B9_7F4A_7C15) &>> (64 - bits))
  }
}

/// How a type is coded: found once for each type, and looked up by its metatype from then on.
struct TypeEntry {
  /// The use of a value.
  enum Form: UInt8 {
    /// Nobody has asked yet.
    case unknown
    /// It codes itself.
    case general
    /// A row of the table of scalars, or an array, a set or a dictionary by texts of one.
    case scalar, array, set, textMap
    /// Any other array, dictionary or set.
    case collection
  }

  /// The type's address; 0 in an empty slot.
  var type: UInt = 0
  /// The use of a value.
  var form = Form.unknown
  /// The tag that a scalar writes.
  var tag = ValueTag.absent
  /// The row of the table of scalars.
  var scalar: (any Scalar.Type)?
  /// How a collection is encoded; of those of scalars the runtime is asked once it is needed, which it mostly is not.
  var encodable: (any EncodableCollection.Type)? { known.encodable ?? collection as? any EncodableCollection.Type }
  /// How a collection is decoded.
  var decodable: (any DecodableCollection.Type)? { known.decodable ?? collection as? any DecodableCollection.Type }
  private var known: (encodable: (any EncodableCollection.Type)?, decodable: (any DecodableCollection.Type)?)
  private var collection: (any ScalarCollection.Type)?

  /// An empty slot.
  init() {}

  /// Finds out about a type.
  init<T>(_ type: T.Type) {
    self.type = UInt(bitPattern: ObjectIdentifier(type))
    form = .general
    if let scalar = ScalarTable.row(of: type) {
      form = .scalar
      self.scalar = scalar
      tag = scalar.tag
      return
    }
    // With no the runtime searches every conformance of the program, so that it is asked only of types that may be a
    // collection: one reference.
    guard MemoryLayout<T>.size == MemoryLayout<AnyObject>.size, !_isPOD(type),
      let collection = type as? any ScalarCollection.Type
    else { return }
    self.collection = collection
    if let common = collection.common {
      (form, scalar) = common
    } else {
      known = (type as? any EncodableCollection.Type, type as? any DecodableCollection.Type)
      if known.encodable != nil || known.decodable != nil { form = .collection }
    }
  }
}

/// The facts about types, behind a table of slots for those that came last.
struct TypeCache {
  /// The slots.
  let slots: Slab<TypeEntry>
  private var known: [UInt: TypeEntry] = [:]

  /// Makes an empty cache.
  init(in memory: SessionMemory) {
    slots = Slab(repeating: TypeEntry(), count: TypeTable.types.count, in: memory)
  }

  /// The slot in which a type's entry is now.
  @inline(__always)
  mutating func slot<T>(of type: T.Type) -> Int {
    let address = UInt(bitPattern: ObjectIdentifier(type))
    let slot = TypeTable.types.slot(of: address)
    if slots[slot].type != address { learn(type, address, slot) }
    return slot
  }

  @inline(never)
  private mutating func learn<T>(_ type: T.Type, _ address: UInt, _ slot: Int) {
    let entry = known[address] ?? TypeEntry(type)
    known[address] = entry
    slots[slot] = entry
  }
}

/// An array, set or dictionary: the only collections that are coded as such, and those that may be of scalars.
protocol ScalarCollection {
  /// The form for the table of types and the row of the elements; nil when they are no scalars.
  static var common: (TypeEntry.Form, (any Scalar.Type)?)? { get }
}

extension Array: ScalarCollection {
  static var common: (TypeEntry.Form, (any Scalar.Type)?)? { ScalarTable.row(of: Element.self).map { (.array, $0) } }
}

extension Set: ScalarCollection {
  static var common: (TypeEntry.Form, (any Scalar.Type)?)? { ScalarTable.row(of: Element.self).map { (.set, $0) } }
}

extension Dictionary: ScalarCollection {
  static var common: (TypeEntry.Form, (any Scalar.Type)?)? {
    Key.self == String.self ? ScalarTable.row(of: Value.self).map { (.textMap, $0) } : nil
  }
}
