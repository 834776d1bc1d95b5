/// The one byte that says how the bytes after it are to be read.
///
/// Inside an object the tags lie in the shape, everywhere else before the value. `number` below is the form that
/// ``ByteWriter/writeNumber(_:)`` writes: one byte below 240, two below 1 520, or 239 + n and then n bytes, lowest first
/// (n is 2 to 8). `Docs/ArchiveFormat.md` is the specification.
///
/// | tag | content |
/// |---|---|
/// | absent | nothing; only where `any` stands in a shape: the key was given no value |
/// | null | nothing |
/// | bool | one byte, 0 or 1 |
/// | integer | a number, zigzag; or 248 and 8 bytes (unsigned), 249 and 16 (signed), 250 and 16 (unsigned) |
/// | double, float, half | 8, 4 or 2 bytes, lowest first: the bit pattern |
/// | string, data | a number of bytes, then the bytes; a string is valid UTF-8 |
/// | date | 8 bytes: the bit pattern of the seconds since the reference date |
/// | uuid | 16 bytes |
/// | object | the number of a shape, then the payload of each of its fields, without tags |
/// | map | the tag of the values or `any`, a count, then for each entry a string and a payload |
/// | array | a count, then for each element a tag and a payload |
/// | packed | the tag of the elements, a count, then the payloads |
/// | integers | a byte (width 1 to 8; plus 128 when unsigned, else zigzag), a count, then count × width bytes |
/// | any | a tag and its payload; only in a shape or as the tag of a map's values |
/// | short | a number: the bit pattern of a double with its bytes reversed, so that round values are short |
///
/// Every payload except null's and absent's takes at least a byte, so that counts can be checked against the bytes left.
enum ValueTag {
  static let absent: UInt8 = 0
  static let null: UInt8 = 1
  static let bool: UInt8 = 2
  static let integer: UInt8 = 3
  static let double: UInt8 = 4
  static let float: UInt8 = 5
  static let half: UInt8 = 6
  static let string: UInt8 = 7
  static let data: UInt8 = 8
  static let date: UInt8 = 9
  static let uuid: UInt8 = 10
  static let object: UInt8 = 11
  static let map: UInt8 = 12
  static let array: UInt8 = 13
  static let packed: UInt8 = 14
  static let integers: UInt8 = 15
  static let any: UInt8 = 16
  static let short: UInt8 = 17

  /// In memory only: an element of `integers`, plus its width; zigzag.
  static let signedBits: UInt8 = 32
  /// In memory only: an element of `integers`, plus its width; unsigned.
  static let unsignedBits: UInt8 = 48

  /// Whether a tag may stand in a shape.
  @inline(__always)
  static func isFieldTag(_ tag: UInt8) -> Bool { tag >= bool && tag <= short }

  /// Whether a tag may stand before a value; `absent` only means something where a shape says `any`.
  @inline(__always)
  static func isValueTag(_ tag: UInt8) -> Bool { tag <= short && tag != any }

  /// Whether a tag may be that of all elements of a packed array: the payload has neither a tag nor keys inside.
  @inline(__always)
  static func isPackable(_ tag: UInt8) -> Bool { tag >= bool && tag <= uuid || tag == short }

  /// What a tag is called in errors.
  static func name(_ tag: UInt8) -> String {
    switch tag {
    case absent: "nothing"
    case null: "null"
    case bool: "a Boolean"
    case integer, signedBits...: "an integer"
    case double, float, half, short: "a floating-point number"
    case string: "a string"
    case data: "data"
    case date: "a date"
    case uuid: "a UUID"
    case object, map: "a keyed value"
    case array, packed, integers: "an array"
    default: "an unknown value"
    }
  }
}

/// The numbers that take two bytes: those just above what one byte holds.
enum TwoByteNumber {
  /// The smallest first byte of such a number.
  static let firstByte: UInt8 = 251
  /// The smallest number that takes two bytes.
  static let first: UInt64 = 240
  /// The smallest number that takes more.
  static let end: UInt64 = first + 5 * 256
}

/// Bounds of the format that reader and writer share.
enum CodingLimits {
  /// The most levels that values may be nested in each other, however a coder is set.
  static let depth = 1024
  /// The most levels unless a coder is set otherwise.
  ///
  /// In a debug build a level takes some 2.7 KB of the stack, with the frames of a small type's own code. This many leave a
  /// quarter of a thread's 512 KB for the code of bigger types.
  static let usualDepth = 128
  /// The most fields a shape may have; objects with more become maps.
  static let fieldsPerShape = 256
  /// The most shapes that one key type adds to an archive in one run; further objects become maps.
  static let shapesPerKeyType = 64
  /// The most shapes that a writer gives one archive, whichever run they come from; further objects become maps.
  static let shapesPerArchive = 4096
  /// The most keys that a writer gives one archive, so that keys made at run time cannot fill it.
  static let keysPerArchive = 8192
  /// The longest key that the tables may hold, in bytes; objects with longer ones become maps.
  ///
  /// An entry names its key in less than a byte: without a bound, few bytes could stand for very much text.
  static let keyBytes = 1024
  /// The most shapes and keys of one archive that a reader takes.
  static let tableEntries = 1 << 22
}
