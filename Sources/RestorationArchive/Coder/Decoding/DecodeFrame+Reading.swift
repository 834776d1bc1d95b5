import FoundationEssentials

extension UnsafeMutablePointer where Pointee == DecodeFrame {
  // MARK: Errors

  /// The error of a value that is something else than what was asked for.
  @inline(never)
  func mismatch(_ type: Any.Type, found tag: UInt8) -> any Error {
    let path = unsafe pathInside()
    if tag == ValueTag.null {
      return DecodingError.valueNotFound(
        type,
        DecodingError.Context(
          codingPath: path, debugDescription: "Cannot get a value of type \(type) -- found null instead."))
    }
    return DecodingError.typeMismatch(
      type,
      DecodingError.Context(
        codingPath: path, debugDescription: "Expected to decode \(type) but found \(ValueTag.name(tag)) instead."))
  }

  /// The error of damaged bytes.
  @inline(never)
  func corrupt(_ failure: CodingFailure) -> any Error { unsafe failure.decodingError(pathInside()) }

  // MARK: Values

  /// Reads a Boolean.
  @inline(__always)
  func readBool(_ tag: UInt8, _ cursor: inout ByteCursor) throws -> Bool {
    guard tag == ValueTag.bool else { throw unsafe mismatch(Bool.self, found: tag) }
    do throws(CodingFailure) {
      let byte = try cursor.readByte()
      guard byte <= 1 else { throw cursor.corrupt("\(byte) is not a Boolean") }
      return byte == 1
    } catch { throw unsafe corrupt(error) }
  }

  /// Reads a string.
  @inline(__always)
  func readString(_ tag: UInt8, _ cursor: inout ByteCursor) throws -> String {
    guard tag == ValueTag.string else { throw unsafe mismatch(String.self, found: tag) }
    do throws(CodingFailure) {
      return try cursor.readString()
    } catch { throw unsafe corrupt(error) }
  }

  /// Reads data, or an array of bytes that was stored as integers.
  func readData(_ tag: UInt8, _ cursor: inout ByteCursor) throws -> Data {
    do throws(CodingFailure) {
      if tag == ValueTag.data {
        let bytes = try unsafe cursor.readBytes()
        return unsafe Data(buffer: bytes)
      }
    } catch { throw unsafe corrupt(error) }
    guard tag == ValueTag.integers || tag == ValueTag.array || tag == ValueTag.packed else {
      throw unsafe mismatch(Data.self, found: tag)
    }
    return Data(try unsafe read([UInt8].self, tag, &cursor))
  }

  /// Reads a date, or a number of seconds since the reference date.
  func readDate(_ tag: UInt8, _ cursor: inout ByteCursor) throws -> Date {
    if tag == ValueTag.date {
      do throws(CodingFailure) {
        return Date(timeIntervalSinceReferenceDate: Double(bitPattern: try cursor.readFixed(UInt64.self)))
      } catch { throw unsafe corrupt(error) }
    }
    return Date(timeIntervalSinceReferenceDate: try unsafe readOtherDouble(Date.self, tag, &cursor))
  }

  /// Reads a UUID, or its text.
  func readUUID(_ tag: UInt8, _ cursor: inout ByteCursor) throws -> UUID {
    if tag == ValueTag.uuid {
      guard cursor.remaining >= 16 else { throw unsafe corrupt(cursor.truncated()) }
      let bytes = unsafe UnsafeRawPointer(cursor.next).loadUnaligned(as: uuid_t.self)
      unsafe cursor.next += 16
      return UUID(uuid: bytes)
    }
    guard tag == ValueTag.string else { throw unsafe mismatch(UUID.self, found: tag) }
    guard let uuid = UUID(uuidString: try unsafe readString(tag, &cursor)) else {
      throw unsafe DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: pathInside(), debugDescription: "Attempted to decode UUID from invalid UUID string."))
    }
    return uuid
  }

  // MARK: Any value

  /// Decodes a value of any type inside this one and moves the cursor behind it.
  @inline(__always)
  func read<T: Decodable>(_ type: T.Type, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> T {
    let (kind, slot) = unsafe pointee.state.pointee.kind(of: type)
    if kind == .general { return try unsafe readGeneral(type, tag, &cursor) }
    return try unsafe readKnown(type, kind, slot, tag, &cursor)
  }

  /// Lets a type decode itself.
  @inline(__always)
  private func readGeneral<T: Decodable>(_ type: T.Type, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> T {
    let child = try unsafe push(tag, at: cursor.next)
    let mark = unsafe child.pointee.mark
    do {
      let value = try unsafe T(from: DecoderHandle(frame: child, mark: mark))
      guard unsafe child.pointee.mark == mark else { throw unsafe misused("A decoder was used inside another value.") }
      unsafe cursor.next = try unsafe child.findEnd()
      unsafe pop(child)
      return value
    } catch {
      unsafe pop(child)
      throw error
    }
  }

  /// Decodes a value of a well-known type.
  private func readKnown<T: Decodable>(
    _ type: T.Type, _ kind: TypeKind, _ slot: Int, _ tag: UInt8, _ cursor: inout ByteCursor
  ) throws -> T {
    @inline(__always)
    func cast<U>(_ value: U) -> T {
      // The kind says that T is U.
      unsafe withUnsafePointer(to: value) { unsafe UnsafeRawPointer($0).assumingMemoryBound(to: T.self).pointee }
    }
    switch kind {
    case .date: return cast(try unsafe readDate(tag, &cursor))
    case .data: return cast(try unsafe readData(tag, &cursor))
    case .uuid: return cast(try unsafe readUUID(tag, &cursor))
    case .string: return cast(try unsafe readString(tag, &cursor))
    case .bool: return cast(try unsafe readBool(tag, &cursor))
    case .double: return cast(try unsafe readDouble(tag, &cursor))
    case .float: return cast(try unsafe readFloat(tag, &cursor))
    case .half: return cast(try unsafe readHalf(tag, &cursor))
    case .int: return cast(try unsafe readInteger(Int.self, tag, &cursor))
    case .int8: return cast(try unsafe readInteger(Int8.self, tag, &cursor))
    case .int16: return cast(try unsafe readInteger(Int16.self, tag, &cursor))
    case .int32: return cast(try unsafe readInteger(Int32.self, tag, &cursor))
    case .int64: return cast(try unsafe readInteger(Int64.self, tag, &cursor))
    case .int128: return cast(try unsafe readInteger(Int128.self, tag, &cursor))
    case .uint: return cast(try unsafe readInteger(UInt.self, tag, &cursor))
    case .uint8: return cast(try unsafe readInteger(UInt8.self, tag, &cursor))
    case .uint16: return cast(try unsafe readInteger(UInt16.self, tag, &cursor))
    case .uint32: return cast(try unsafe readInteger(UInt32.self, tag, &cursor))
    case .uint64: return cast(try unsafe readInteger(UInt64.self, tag, &cursor))
    case .uint128: return cast(try unsafe readInteger(UInt128.self, tag, &cursor))
    case .collection:
      let collection = unsafe pointee.state.pointee.types[slot].collection!
      // Every such collection is one word.
      var place: UInt = 0
      return try unsafe withUnsafeMutableBytes(of: &place) { place in
        let address = place.baseAddress!
        try unsafe collection.decodeCollection(into: address, tag, &cursor, in: self)
        return unsafe address.assumingMemoryBound(to: T.self).move()
      }
    case .unknown, .general: preconditionFailure("\(type) is not well-known")
    }
  }
}
