/// A row of the table of scalars: all that the coder knows of a type that it writes and reads without asking it.
///
/// Members with a default here follow from the four facts of the row: tag, writer, reader, and the form of an array. They are
/// requirements nevertheless, so that the compiler makes code for each type.
protocol Scalar: Codable, Hashable, SendableMetatype {
  /// The tag of the payload.
  static var tag: UInt8 { get }

  /// Writes the payload.
  func write(to writer: inout ByteWriter)

  /// Reads the value from a payload with a tag, its own or another one that can stand for it.
  static func read(_ frame: DecodeFrameRef, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> Self

  /// Writes an array and tells its tag.
  static func writeArray(_ elements: [Self], to writer: inout ByteWriter) -> UInt8

  /// Reads an array whose bytes can be taken as they are; nil when the elements must be read one by one.
  static func readArray(_ frame: DecodeFrameRef, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> [Self]?

  // MARK: Derived, for values that are known by their metatype

  /// Writes the value at an address.
  static func write(at address: ValueAddress, to writer: inout ByteWriter)

  /// Writes the array, set or dictionary by texts at an address, and tells its tag.
  static func write(_ form: TypeEntry.Form, at address: ValueAddress, in state: EncodeStateRef) -> UInt8

  /// Reads a value into a place.
  static func read(
    into place: ResultPlace, _ frame: DecodeFrameRef, _ tag: UInt8, _ cursor: inout ByteCursor
  ) throws -> ResultPlace.Filled

  /// Reads a whole array, or a dictionary by texts, into a place; nil when it has to be read one by one.
  static func read(
    _ form: TypeEntry.Form, into place: ResultPlace, _ frame: DecodeFrameRef, _ tag: UInt8, _ cursor: inout ByteCursor
  ) throws -> ResultPlace.Filled?
}

extension Scalar {
  static func writeArray(_ elements: [Self], to writer: inout ByteWriter) -> UInt8 {
    writer.writeByte(tag)
    writer.writeNumber(UInt64(elements.count))
    for element in elements { element.write(to: &writer) }
    return ValueTag.packed
  }

  static func readArray(_ frame: DecodeFrameRef, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> [Self]? { nil }

  static func write(at address: ValueAddress, to writer: inout ByteWriter) {
    address[Self.self].write(to: &writer)
  }

  static func write(_ form: TypeEntry.Form, at address: ValueAddress, in state: EncodeStateRef) -> UInt8 {
    switch form {
    case .array: return writeArray(address[[Self].self], to: &state.pointee.writer)
    case .set:
      let set = address[Set<Self>.self]
      state.pointee.writer.writeByte(tag)
      state.pointee.writer.writeNumber(UInt64(set.count))
      state.pointee.writeElements(of: set)
      return ValueTag.packed
    default:
      let dictionary = address[[String: Self].self]
      state.pointee.writer.writeByte(tag)
      state.pointee.writer.writeNumber(UInt64(dictionary.count))
      state.pointee.writeEntries(of: dictionary)
      return ValueTag.map
    }
  }

  static func read(
    into place: ResultPlace, _ frame: DecodeFrameRef, _ tag: UInt8, _ cursor: inout ByteCursor
  ) throws -> ResultPlace.Filled {
    place.put(try read(frame, tag, &cursor))
  }

  static func read(
    _ form: TypeEntry.Form, into place: ResultPlace, _ frame: DecodeFrameRef, _ tag: UInt8, _ cursor: inout ByteCursor
  ) throws -> ResultPlace.Filled? {
    switch form {
    case .array:
      guard let array = try readArray(frame, tag, &cursor) else { return nil }
      return place.put(array)
    case .textMap where tag == ValueTag.map && cursor.peek == self.tag:
      return place.put(try frame.readTextMap(Self.self, &cursor))
    default: return nil
    }
  }
}
