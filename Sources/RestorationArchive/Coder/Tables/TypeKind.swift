import FoundationEssentials

/// How a type is encoded and decoded: the well-known ones without asking them.
enum TypeKind: UInt8 {
  case unknown, general, bool
  case int, int8, int16, int32, int64, int128
  case uint, uint8, uint16, uint32, uint64, uint128
  case double, float, half, string, data, date, uuid
  /// An array, a dictionary or a set: see `FastEncodable` and `FastDecodable`.
  case collection

  /// The kind of a type that is not a collection.
  static func scalar(_ type: Any.Type) -> TypeKind? {
    switch ObjectIdentifier(type) {
    case ObjectIdentifier(Bool.self): .bool
    case ObjectIdentifier(Int.self): .int
    case ObjectIdentifier(Int8.self): .int8
    case ObjectIdentifier(Int16.self): .int16
    case ObjectIdentifier(Int32.self): .int32
    case ObjectIdentifier(Int64.self): .int64
    case ObjectIdentifier(Int128.self): .int128
    case ObjectIdentifier(UInt.self): .uint
    case ObjectIdentifier(UInt8.self): .uint8
    case ObjectIdentifier(UInt16.self): .uint16
    case ObjectIdentifier(UInt32.self): .uint32
    case ObjectIdentifier(UInt64.self): .uint64
    case ObjectIdentifier(UInt128.self): .uint128
    case ObjectIdentifier(Double.self): .double
    case ObjectIdentifier(Float.self): .float
    case ObjectIdentifier(String.self): .string
    case ObjectIdentifier(Data.self): .data
    case ObjectIdentifier(Date.self): .date
    case ObjectIdentifier(UUID.self): .uuid
    default: scalarOfSomePlatforms(type)
    }
  }

  /// `Float16` is missing on macOS for Intel.
  private static func scalarOfSomePlatforms(_ type: Any.Type) -> TypeKind? {
    #if !(os(macOS) && arch(x86_64))
    if ObjectIdentifier(type) == ObjectIdentifier(Float16.self) { return .half }
    #endif
    return nil
  }

  /// The tag of the payload that this kind writes, or 0 when it is not fixed.
  var tag: UInt8 {
    switch self {
    case .bool: ValueTag.bool
    case .int, .int8, .int16, .int32, .int64, .int128: ValueTag.integer
    case .uint, .uint8, .uint16, .uint32, .uint64, .uint128: ValueTag.integer
    case .double: ValueTag.short
    case .float: ValueTag.float
    case .half: ValueTag.half
    case .string: ValueTag.string
    case .data: ValueTag.data
    case .date: ValueTag.date
    case .uuid: ValueTag.uuid
    case .unknown, .general, .collection: 0
    }
  }
}
