/// The one byte that says how the bytes after it are to be read.
///
/// Inside an object the tags lie in the shape, everywhere else before the value. `number` below is the form that
/// ``EncodeState/writeNumber(_:)`` writes: one byte below 240, or 239 + n and then n bytes, lowest first (n is 1 to 8).
///
/// | tag | what follows |
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

  /// In memory only: an element of `integers`, plus its width; zigzag.
  static let signedBits: UInt8 = 32
  /// In memory only: an element of `integers`, plus its width; unsigned.
  static let unsignedBits: UInt8 = 48

  /// Whether a tag may stand in a shape.
  @inline(__always)
  static func isFieldTag(_ tag: UInt8) -> Bool { tag >= bool && tag <= any }

  /// Whether a tag may be that of all elements of a packed array: the payload has neither a tag nor keys inside.
  @inline(__always)
  static func isPackable(_ tag: UInt8) -> Bool { tag >= bool && tag <= uuid }

  /// What a tag is called in errors.
  static func name(_ tag: UInt8) -> String {
    switch tag {
    case absent: "nothing"
    case null: "null"
    case bool: "a Boolean"
    case integer, signedBits...: "an integer"
    case double, float, half: "a floating-point number"
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

/// Bounds of the format that reader and writer share.
enum CodingLimits {
  /// The most fields a shape may have; objects with more become maps.
  static let fieldsPerShape = 256
  /// The most shapes that one key type brings into one archive; further objects become maps.
  static let shapesPerKeyType = 64
  /// The most shapes that the entries of records bring into one archive.
  static let shapesOfRecords = 4096
  /// The most shapes and keys of one archive.
  static let tableEntries = 1 << 22
}
