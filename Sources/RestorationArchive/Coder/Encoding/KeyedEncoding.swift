/// A keyed container: three words, valid while its value is being encoded and nothing inside it is.
@safe
struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let frame: EncodeFrameRef
  let facts: KeyFactsRef
  let mark: UInt64

  var codingPath: [any CodingKey] { unsafe frame.path(ifMarked: mark, container: true) }

  /// The bytes being written.
  @inline(__always)
  private var state: EncodeStateRef { unsafe frame.pointee.state }

  /// Begins an entry and tells the number of its key, or 0 in a map.
  @inline(__always)
  private func open(_ key: Key) throws -> UInt32 {
    guard unsafe frame.pointee.containerMark == mark else {
      throw unsafe frame.misused("A keyed container was used after its value was encoded, or inside another value.")
    }
    if unsafe frame.pointee.kind == .shape {
      if unsafe facts.pointee.isByte {
        let byte = byte(of: key)
        unsafe frame.setCurrentKey(byte, facts)
        let number = unsafe facts.pointee.numbers[Int(byte)]
        if number != 0 { return number }
      }
      return learn(key)
    }
    remember(key)
    unsafe state.pointee.writeString(key.stringValue)
    unsafe frame.pointee.tagPosition = state.pointee.count
    unsafe state.pointee.writeByte(0)
    return 0
  }

  /// Remembers a key for the coding path.
  @inline(never)
  private func remember(_ key: Key) {
    if unsafe facts.pointee.isByte {
      unsafe frame.setCurrentKey(byte(of: key), facts)
    } else {
      unsafe frame.pointee.currentByte = -1
      unsafe frame.pointee.currentKey = key
    }
  }

  @inline(__always)
  private func byte(of key: Key) -> UInt8 {
    unsafe unsafeBitCast(key, to: UInt8.self)
  }

  @inline(never)
  private func learn(_ key: Key) -> UInt32 {
    remember(key)
    if unsafe facts.pointee.isEmpty && facts.pointee.numbers[0] != 0 { return unsafe facts.pointee.numbers[0] }
    let number = unsafe state.pointee.universe.number(of: key.stringValue)
    if unsafe facts.pointee.isIndexed {
      let index =
        unsafe facts.pointee.isByte
        ? Int(byte(of: key)) : 0
      unsafe facts.pointee.numbers[index] = number
    }
    return number
  }

  /// Ends an entry.
  @inline(__always)
  private func close(_ number: UInt32, _ tag: UInt8) {
    if number != 0 {
      unsafe frame.advance(number, tag)
    } else {
      unsafe frame.closeEntry(tag)
    }
  }

  /// Begins an entry that may be absent.
  @inline(__always)
  private func openOptional(_ key: Key, _ tag: UInt8) throws -> UInt32 {
    let number = try open(key)
    if number != 0 { unsafe state.pointee.writeByte(tag) }
    return number
  }

  /// Ends an entry that may be absent.
  @inline(__always)
  private func closeOptional(_ number: UInt32, _ tag: UInt8) {
    close(number, number != 0 ? ValueTag.any : tag)
  }

  /// Marks a key as given no value, so that the shape does not depend on it.
  @inline(__always)
  private func encodeAbsent(_ key: Key) throws {
    if unsafe frame.pointee.kind == .shape || frame.pointee.containerMark != mark {
      let number = try openOptional(key, ValueTag.absent)
      unsafe frame.advance(number, ValueTag.any)
    }
  }

  // MARK: Encoding

  func encodeNil(forKey key: Key) throws {
    let number = try openOptional(key, ValueTag.null)
    closeOptional(number, ValueTag.null)
  }

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    let before = unsafe state.pointee.count
    let number = try open(key)
    let tag: UInt8
    do {
      tag = try unsafe frame.encode(value)
    } catch {
      unsafe state.pointee.truncate(to: before)
      throw error
    }
    if tag == ValueTag.null && number != 0 {
      unsafe state.pointee.writeByte(ValueTag.null)
      unsafe frame.advance(number, ValueTag.any)
    } else {
      close(number, tag)
    }
  }

  func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
    guard let value else { return try encodeAbsent(key) }
    let before = unsafe state.pointee.count
    let number = try openOptional(key, 0)
    let start = unsafe state.pointee.count
    let tag: UInt8
    do {
      tag = try unsafe frame.encode(value)
    } catch {
      unsafe state.pointee.truncate(to: before)
      throw error
    }
    if number != 0 { unsafe state.pointee.base[start - 1] = tag }
    closeOptional(number, tag)
  }

  // MARK: Scalars

  @inline(__always)
  private func encode<Value: Scalar>(scalar value: Value, _ key: Key) throws {
    let number = try open(key)
    unsafe value.write(to: state)
    close(number, Value.tag)
  }

  @inline(__always)
  private func encode<Value: Scalar>(scalarIfPresent value: Value?, _ key: Key) throws {
    guard let value else { return try encodeAbsent(key) }
    let number = try openOptional(key, Value.tag)
    unsafe value.write(to: state)
    closeOptional(number, Value.tag)
  }

  func encode(_ value: Bool, forKey key: Key) throws { try encode(scalar: value, key) }
  func encode(_ value: String, forKey key: Key) throws { try encode(scalar: value, key) }
  func encode(_ value: Double, forKey key: Key) throws { try encode(scalar: value, key) }
  func encode(_ value: Float, forKey key: Key) throws { try encode(scalar: value, key) }
  func encode(_ value: Int, forKey key: Key) throws { try encode(scalar: value, key) }
  func encode(_ value: Int8, forKey key: Key) throws { try encode(scalar: value, key) }
  func encode(_ value: Int16, forKey key: Key) throws { try encode(scalar: value, key) }
  func encode(_ value: Int32, forKey key: Key) throws { try encode(scalar: value, key) }
  func encode(_ value: Int64, forKey key: Key) throws { try encode(scalar: value, key) }
  func encode(_ value: Int128, forKey key: Key) throws { try encode(scalar: value, key) }
  func encode(_ value: UInt, forKey key: Key) throws { try encode(scalar: value, key) }
  func encode(_ value: UInt8, forKey key: Key) throws { try encode(scalar: value, key) }
  func encode(_ value: UInt16, forKey key: Key) throws { try encode(scalar: value, key) }
  func encode(_ value: UInt32, forKey key: Key) throws { try encode(scalar: value, key) }
  func encode(_ value: UInt64, forKey key: Key) throws { try encode(scalar: value, key) }
  func encode(_ value: UInt128, forKey key: Key) throws { try encode(scalar: value, key) }

  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encode(scalarIfPresent: value, key) }
  func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encode(scalarIfPresent: value, key) }
  func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try encode(scalarIfPresent: value, key) }
  func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encode(scalarIfPresent: value, key) }
  func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encode(scalarIfPresent: value, key) }
  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encode(scalarIfPresent: value, key) }
  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encode(scalarIfPresent: value, key) }
  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encode(scalarIfPresent: value, key) }
  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encode(scalarIfPresent: value, key) }
  func encodeIfPresent(_ value: Int128?, forKey key: Key) throws { try encode(scalarIfPresent: value, key) }
  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encode(scalarIfPresent: value, key) }
  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encode(scalarIfPresent: value, key) }
  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encode(scalarIfPresent: value, key) }
  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encode(scalarIfPresent: value, key) }
  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encode(scalarIfPresent: value, key) }
  func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws { try encode(scalarIfPresent: value, key) }
}
