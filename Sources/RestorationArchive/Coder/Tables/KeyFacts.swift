typealias KeyFactsRef = UnsafeMutablePointer<KeyFacts>

/// What an encoding or decoding state knows of one type of coding keys.
@safe struct KeyFacts {
  /// The type, to make a key from its bytes for a coding path.
  let type: any CodingKey.Type
  /// Whether the type is trivial and one byte wide, as the enums that the compiler makes: the byte tells the key.
  let isByte: Bool
  /// Whether the type has one value only.
  let isEmpty: Bool
  /// By byte: the number of the key in the universe; 0 where not yet known.
  let numbers: UnsafeMutablePointer<UInt32>
  /// By byte: the key's UTF-8, kept for ever; nil where not yet known.
  let names: UnsafeMutablePointer<UnsafeBufferPointer<UInt8>>
  /// The empty shape from which objects of this key type start.
  var root: ShapeNodeRef
  /// The epoch in which ``shapes`` was counted.
  var epoch: UInt64 = 0
  /// The number of shapes that this type brought into the archive being encoded.
  var shapes = 0
  /// How many it may bring.
  var shapeLimit = CodingLimits.shapesPerKeyType

  /// Whether the key's byte may be used as an index.
  var isIndexed: Bool { isByte || isEmpty }

  /// Makes the facts of a type.
  init<Key: CodingKey>(_ type: Key.Type, root: ShapeNodeRef, naming: Bool) {
    self.type = type
    let size = MemoryLayout<Key>.size
    let isTrivial = _isPOD(Key.self)
    isByte = isTrivial && size == 1
    isEmpty = isTrivial && size == 0
    let count = isByte ? 256 : 1
    unsafe numbers = .allocate(capacity: naming ? 1 : count)
    unsafe numbers.initialize(repeating: 0, count: naming ? 1 : count)
    unsafe names = .allocate(capacity: naming ? count : 1)
    unsafe names.initialize(repeating: UnsafeBufferPointer(start: nil, count: 0), count: naming ? count : 1)
    unsafe self.root = root
  }

  /// Makes the key of a byte.
  func key(of byte: UInt8) -> any CodingKey {
    var byte = byte
    return unsafe withUnsafePointer(to: &byte) { unsafe key(at: UnsafeRawPointer($0)) }
  }

  /// Makes the key that lies at an address.
  func key(at pointer: UnsafeRawPointer) -> any CodingKey {
    unsafe type.key(at: pointer)
  }
}

extension CodingKey {
  /// The key of this type that lies at an address.
  fileprivate static func key(at pointer: UnsafeRawPointer) -> any CodingKey {
    unsafe pointer.assumingMemoryBound(to: Self.self).pointee
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
