/// A keyed container: valid while its value is being encoded and nothing inside it is, which its epoch tells.
struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol, KeyedContainer {
  let frame: EncodeFrameRef
  let epochs: EncodeEpochs
  private let keyType: KeyTypeRef?
  let epoch: UInt64

  init(frame: EncodeFrameRef, epochs: EncodeEpochs, info: KeyTypeRef, epoch: UInt64) {
    self.frame = frame
    self.epochs = epochs
    keyType = info
    self.epoch = epoch
  }

  /// Makes a container that may do nothing.
  init(deadOn frame: EncodeFrameRef, _ epochs: EncodeEpochs) {
    self.frame = frame
    self.epochs = epochs
    keyType = nil
    epoch = EncoderHandle.dead
  }

  var codingPath: [any CodingKey] { epochs.pointee.knows(epoch) ? frame.path() : [] }

  /// The facts about the key type.
  @inline(__always)
  var info: KeyTypeRef {
    guard let keyType else { preconditionFailure("a dead container was used") }
    return keyType
  }

  /// The bytes being written.
  @inline(__always)
  private var state: EncodeStateRef { frame.pointee.state }

  /// Begins an entry and tells the number of its key, or 0 in a map.
  @inline(__always)
  private func open(_ key: Key) throws -> UInt32 {
    try check()
    guard frame.pointee.kind == .shape else {
      openMapEntry(key)
      return 0
    }
    let index = info.pointee.index(of: key)
    frame.pointee.current.set(index, info)
    let number = info.pointee.numbers[Int(index)]
    return number != 0 ? number : learn(key, index)
  }

  @inline(__always)
  func check() throws {
    guard epochs.pointee.containers == epoch else {
      throw epochs.misused("A keyed container was used after its value was encoded, or inside another value.", epoch)
    }
  }

  @inline(never)
  private func openMapEntry(_ key: Key) {
    if info.pointee.isIndexed {
      frame.pointee.current.set(info.pointee.index(of: key), info)
    } else {
      frame.pointee.current.set(.key(key))
    }
    state.pointee.writer.writeString(key.stringValue)
    frame.pointee.tagPosition = state.pointee.writer.count
    state.pointee.writer.writeByte(0)
  }

  /// Finds the number of a key of a type that can be indexed: others write maps.
  @inline(never)
  private func learn(_ key: Key, _ index: UInt8) -> UInt32 {
    let number = state.pointee.interner.number(of: key.stringValue)
    info.pointee.numbers[Int(index)] = number
    return number
  }

  /// Ends an entry.
  @inline(__always)
  private func close(_ number: UInt32, _ tag: UInt8) {
    if number != 0 { frame.advance(number, tag) } else { frame.closeEntry(tag) }
  }

  /// Begins an entry that may be absent.
  @inline(__always)
  private func openOptional(_ key: Key, _ tag: UInt8) throws -> UInt32 {
    let number = try open(key)
    if number != 0 { state.pointee.writer.writeByte(tag) }
    return number
  }

  /// Ends an entry that may be absent.
  @inline(__always)
  private func closeOptional(_ number: UInt32, _ tag: UInt8) { close(number, number != 0 ? ValueTag.any : tag) }

  /// Marks a key as given no value, so that the shape does not depend on it.
  @inline(__always)
  private func encodeAbsent(_ key: Key) throws {
    try check()
    if frame.pointee.kind == .shape {
      closeOptional(try openOptional(key, ValueTag.absent), ValueTag.absent)
    }
  }

  // MARK: Encoding

  func encodeNil(forKey key: Key) throws { closeOptional(try openOptional(key, ValueTag.null), ValueTag.null) }

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    try check()
    let before = state.pointee.writer.count
    let number = try open(key)
    let tag: UInt8
    do {
      tag = try frame.encode(value)
    } catch {
      state.pointee.writer.truncate(to: before)
      throw error
    }
    if tag == ValueTag.null && number != 0 {
      state.pointee.writer.writeByte(ValueTag.null)
      frame.advance(number, ValueTag.any)
    } else {
      close(number, tag)
    }
  }

  func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
    guard let value else { return try encodeAbsent(key) }
    try check()
    let before = state.pointee.writer.count
    let number = try openOptional(key, 0)
    let start = state.pointee.writer.count
    let tag: UInt8
    do {
      tag = try frame.encode(value)
    } catch {
      state.pointee.writer.truncate(to: before)
      throw error
    }
    if number != 0 { state.pointee.writer[start - 1] = tag }
    closeOptional(number, tag)
  }

  // MARK: Scalars

  @inline(__always)
  private func encode<Value: Scalar>(scalar value: Value, _ key: Key) throws {
    let number = try open(key)
    value.write(to: &state.pointee.writer)
    close(number, Value.tag)
  }

  @inline(__always)
  private func encode<Value: Scalar>(scalarIfPresent value: Value?, _ key: Key) throws {
    guard let value else { return try encodeAbsent(key) }
    let number = try openOptional(key, Value.tag)
    value.write(to: &state.pointee.writer)
    closeOptional(number, Value.tag)
  }

  // One for all that the protocol lists, but for those that it has a default of its own for. Inlined, so that there is
  // code for each type where the standard library looks for it.
  @inline(__always)
  func encode<Value: Scalar>(_ value: Value, forKey key: Key) throws { try encode(scalar: value, key) }
  func encode(_ value: Int128, forKey key: Key) throws { try encode(scalar: value, key) }
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
