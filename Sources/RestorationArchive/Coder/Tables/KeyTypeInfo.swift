// Unsafe memory, 6 of 6: coding keys as bytes.
//
// Relies on: a key type that is trivial and one byte wide (`isByte`, an enumeration as the compiler makes it) is no more
// than that byte, and a byte that came from a key makes the same key again. The containers of a type are its own, whether or
// not the compiler knows that.

typealias KeyTypeRef = Cell<KeyTypeInfo>

/// What an encoding or decoding state knows of one type of coding keys.
struct KeyTypeInfo {
  /// The type's containers.
  private let containers: any KeyedContainers.Type
  private let identity: ObjectIdentifier
  /// Whether the type is trivial and one byte wide, as the enums that the compiler makes: the byte tells the key.
  let isByte: Bool
  /// Whether the key's byte may be used as an index; other types may make any key at run time.
  let isIndexed: Bool
  /// By byte: the number of the key in the interner; 0 where not yet known.
  let numbers: Slab<UInt32>
  /// By byte: a copy of the key's UTF-8; nil where not yet known.
  let names: Slab<Borrowed<UInt8>?>
  /// The empty shape from which objects of this key type start; nil when decoding.
  let root: ShapeNodeRef?
  /// The epoch in which ``shapes`` was counted.
  var epoch: UInt64 = 0
  /// The number of shapes that this type added to the archive being encoded.
  var shapes = 0

  /// Finds out about a type.
  init<Key: CodingKey>(_ type: Key.Type, root: ShapeNodeRef?, in memory: SessionMemory) {
    containers = KeyedContainersOf<Key>.self
    identity = ObjectIdentifier(type)
    let isTrivial = _isPOD(Key.self)
    isByte = isTrivial && MemoryLayout<Key>.size == 1
    isIndexed = isTrivial && MemoryLayout<Key>.size <= 1
    numbers = Slab(repeating: 0, count: root != nil && isByte ? 256 : 1, in: memory)
    names = Slab(repeating: nil, count: root == nil && isByte ? 256 : 1, in: memory)
    self.root = root
  }

  /// The index of a key of this type, which must be one that can be indexed.
  @inline(__always)
  func index<Key: CodingKey>(of key: Key) -> UInt8 {
    isByte && MemoryLayout<Key>.size == 1 ? unsafe unsafeBitCast(key, to: UInt8.self) : 0
  }

  /// The containers for a type of keys, which this must be.
  @inline(__always)
  func containers<Key: CodingKey>(of type: Key.Type) -> any KeyedContainers<Key>.Type {
    precondition(identity == ObjectIdentifier(type))
    return unsafe unsafeBitCast(containers, to: (any KeyedContainers<Key>.Type).self)
  }

  /// Makes the key of an index that a key had.
  func key(at index: UInt8) -> any CodingKey { containers.keyType.key(at: index) }
}

extension CodingKey {
  fileprivate static func key(at index: UInt8) -> any CodingKey {
    precondition(MemoryLayout<Self>.size <= 1 && _isPOD(Self.self))
    return unsafe withUnsafePointer(to: index) {
      unsafe UnsafeRawPointer($0).assumingMemoryBound(to: Self.self).pointee
    }
  }
}

/// A key of any text or number, for coding paths and for the keys that the coder itself makes.
struct AnyCodingKey: CodingKey, CustomStringConvertible {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) {
    stringValue = "Index \(intValue)"
    self.intValue = intValue
  }

  /// Makes the key of a dictionary's entry, whose number is its text's.
  init(dictionaryKey text: String) {
    stringValue = text
    intValue = Int(text)
  }

  /// The key of a superclass's part.
  static let `super` = AnyCodingKey(stringValue: "super")

  var description: String { stringValue }
}

/// The text of a coding key: two spellings that Unicode merely calls equivalent are two keys, as they are in a file.
struct KeyText: RestorationArchive.ExactText {
  let rawValue: String
}
