extension DecodeFrameRef {
  // MARK: Errors

  /// The error of a value inside this one that is of another kind than the wanted one.
  @inline(never)
  func mismatch(_ type: Any.Type, found tag: UInt8) -> any Error { mismatch(type, found: tag, at: pathInside()) }

  /// The error of asking for a container that this value is not.
  @inline(never)
  func mismatchedContainer(_ type: Any.Type) -> any Error { mismatch(type, found: pointee.tag, at: path()) }

  private func mismatch(_ type: Any.Type, found tag: UInt8, at path: [any CodingKey]) -> any Error {
    let context = DecodingError.Context(
      codingPath: path, debugDescription: "Expected to decode \(type) but found \(ValueTag.name(tag)) instead.")
    return tag == ValueTag.null ? DecodingError.valueNotFound(type, context) : .typeMismatch(type, context)
  }

  /// The error of damaged bytes.
  @inline(never)
  func corrupt(_ failure: ArchiveError) -> any Error { failure.decodingError(pathInside()) }

  // MARK: Any value

  /// Decodes a value of any type inside this one and moves the cursor behind it.
  @inline(__always)
  func read<T: Decodable>(_ type: T.Type, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> T {
    let slot = pointee.state.pointee.types.slot(of: type)
    if pointee.state.pointee.types.slots[slot].form == .general { return try readGeneral(type, tag, &cursor) }
    return try ResultPlace.lending(type) { try readKnown(slot, into: $0, tag, &cursor) }
  }

  /// Lets a type decode itself.
  @inline(__always)
  private func readGeneral<T: Decodable>(_ type: T.Type, _ tag: UInt8, _ cursor: inout ByteCursor) throws -> T {
    let child = try push(tag, at: cursor.offset)
    defer { pop(child) }
    let (epochs, epoch) = (child.pointee.epochs, child.pointee.epochs.pointee.value)
    let value = try T(from: DecoderHandle(epochs: epochs, epoch: epoch, keeper: nil))
    guard epochs.pointee.value == epoch else { throw epochs.misused("A decoder was used inside another value.") }
    cursor.move(to: try child.findEnd())
    return value
  }

  /// Decodes a value of a well-known type.
  private func readKnown(
    _ slot: Int, into place: ResultPlace, _ tag: UInt8, _ cursor: inout ByteCursor
  ) throws -> ResultPlace.Filled {
    let entry = pointee.state.pointee.types.slots[slot]
    if let scalar = entry.scalar {
      if entry.form == .scalar { return try scalar.read(into: place, self, tag, &cursor) }
      if let filled = try scalar.read(entry.form, into: place, self, tag, &cursor) { return filled }
    }
    guard let collection = entry.decodable else { preconditionFailure("a type that nobody decodes") }
    return try collection.decodeCollection(into: place, tag, &cursor, in: self)
  }

  // MARK: Collections of scalars

  /// Reads an array of integers of one width.
  @inline(__always)
  func readIntegers<T: FixedWidthInteger>(_ type: T.Type, _ cursor: inout ByteCursor) throws -> [T] {
    var result: [T] = []
    do throws(ArchiveError) {
      let header = try ArrayHeader(integers: &cursor)
      let isUnsigned = header.innerTag >= ValueTag.unsignedBits
      // Checked against the bytes left: eight times their number at most.
      result.reserveCapacity(header.count)
      for _ in 0..<header.count {
        let bits = try cursor.readBits(width: header.width)
        guard let value = isUnsigned ? T(exactly: bits) : T(exactly: Int64(zigzag: bits)) else { break }
        result.append(value)
      }
      if result.count == header.count { return result }
    } catch { throw corrupt(error) }
    throw DecodingError.dataCorrupted(
      DecodingError.Context(
        codingPath: pathInside() + [AnyCodingKey(intValue: result.count)],
        debugDescription: "A number does not fit in \(type)."))
  }

  /// Reads an array of doubles of eight bytes each.
  func readDoubles(_ cursor: inout ByteCursor) throws -> [Double] {
    do throws(ArchiveError) {
      _ = try cursor.readByte()
      let count = try cursor.readCount(ofSize: 8)
      var result: [Double] = []
      result.reserveCapacity(count)
      for _ in 0..<count { result.append(Double(bitPattern: try cursor.readFixed(UInt64.self))) }
      return result
    } catch { throw corrupt(error) }
  }

  /// Reads an array of strings.
  func readStrings(_ cursor: inout ByteCursor) throws -> [String] {
    var result: [String] = []
    do throws(ArchiveError) {
      _ = try cursor.readByte()
      let count = try cursor.readCount()
      let budget = pointee.state.pointee.preallocationBudget
      defer { pointee.state.pointee.preallocationBudget = budget }
      result.reserveCapacity(affordable(count, stride: MemoryLayout<String>.stride))
      for _ in 0..<count { result.append(try cursor.readString()) }
      return result
    } catch {
      throw error.decodingError(pathInside() + [AnyCodingKey(intValue: result.count)])
    }
  }

  /// Reads a map whose values are all of the tag of a scalar.
  @inline(__always)
  func readTextMap<Stored: Scalar>(_ type: Stored.Type, _ cursor: inout ByteCursor) throws -> [String: Stored] {
    let header: MapHeader
    do throws(ArchiveError) { header = try MapHeader(&cursor) } catch { throw corrupt(error) }
    let stride = 2 * (MemoryLayout<String>.stride + MemoryLayout<Stored>.stride)
    let budget = pointee.state.pointee.preallocationBudget
    defer { pointee.state.pointee.preallocationBudget = budget }
    var result = [String: Stored](minimumCapacity: affordable(header.count, stride: stride))
    for _ in 0..<header.count {
      let key = try String.read(self, ValueTag.string, &cursor)
      result[key] = try Stored.read(self, header.innerTag, &cursor)
    }
    return result
  }

  /// How many elements may be given memory before they were read.
  ///
  /// All collections that are being decoded inside each other share one budget, twice the bytes of the input and some;
  /// each takes half of the rest at most. Else each of many levels could claim to hold all the bytes there are.
  func affordable(_ count: Int, stride: Int) -> Int {
    let stride = Swift.max(1, stride)
    let affordable = min(count, max(0, pointee.state.pointee.preallocationBudget / 2 / stride))
    pointee.state.pointee.preallocationBudget -= affordable * stride
    return affordable
  }
}
