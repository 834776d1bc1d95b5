import FoundationEssentials

extension EncodeState {
  /// How a type is encoded.
  @inline(__always)
  mutating func kind<T: Encodable>(of type: T.Type) -> (kind: TypeKind, slot: Int) {
    let address = UInt(bitPattern: ObjectIdentifier(type))
    let slot = TypeTable.types.slot(of: address)
    let kind =
      unsafe types[slot].type == address ? types[slot].kind : universe.classify(type, slot: slot)
    return (kind, slot)
  }

  /// What is known of a key type.
  @inline(__always)
  mutating func facts<Key: CodingKey>(of type: Key.Type) -> KeyFactsRef {
    let address = UInt(bitPattern: ObjectIdentifier(type))
    let slot = TypeTable.keyTypes.slot(of: address)
    if unsafe facts[slot].type == address, let known = unsafe facts[slot].facts { return unsafe known }
    return unsafe universe.learn(type, slot: slot)
  }
}

extension UnsafeMutablePointer where Pointee == EncodeFrame {
  /// Encodes any value inside this one: writes its payload and tells its tag.
  ///
  /// What it wrote is taken back on failure.
  @inline(__always)
  func encode<T: Encodable>(_ value: T) throws -> UInt8 {
    let state = unsafe pointee.state
    let (kind, slot) = unsafe state.pointee.kind(of: T.self)
    if kind == .general { return try unsafe encodeGeneral(value) }
    return try unsafe withUnsafePointer(to: value) { unsafe try encodeKnown(UnsafeRawPointer($0), kind, slot) }
  }

  /// Lets a value encode itself.
  @inline(__always)
  private func encodeGeneral<T: Encodable>(_ value: T) throws -> UInt8 {
    let child = try unsafe push()
    do {
      unsafe try value.encode(to: EncoderHandle(frame: child, mark: child.pointee.mark))
    } catch {
      unsafe abandon(child)
      throw error
    }
    let tag = unsafe child.close()
    unsafe pop(child)
    return tag
  }

  /// Encodes a value of a well-known type.
  private func encodeKnown(_ value: UnsafeRawPointer, _ kind: TypeKind, _ slot: Int) throws -> UInt8 {
    let state = unsafe pointee.state
    switch kind {
    case .collection:
      let start = unsafe state.pointee.count
      let common = unsafe state.pointee.types[slot].common
      let tag =
        try unsafe common == .other
        ? state.pointee.types[slot].collection!.encodeCollection(at: value, in: self)
        : state.pointee.writeCommon(value, common)
      // What has values inside is a level to every reader, also when nobody was asked to write them.
      if tag != ValueTag.integers, unsafe pointee.depth >= state.pointee.depthLimit {
        unsafe state.pointee.truncate(to: start)
        throw unsafe tooDeep()
      }
      return tag
    default:
      unsafe state.pointee.writeScalar(value, kind)
      return kind.tag
    }
  }
}

extension EncodeState {
  /// Writes the payload of a value of a well-known type.
  mutating func writeScalar(_ value: UnsafeRawPointer, _ kind: TypeKind) {
    @inline(__always)
    func load<T>(_ type: T.Type) -> T { unsafe value.assumingMemoryBound(to: type).pointee }
    switch kind {
    case .bool: writeByte(load(Bool.self) ? 1 : 0)
    case .int: writeInteger(Int64(load(Int.self)))
    case .int8: writeInteger(Int64(load(Int8.self)))
    case .int16: writeInteger(Int64(load(Int16.self)))
    case .int32: writeInteger(Int64(load(Int32.self)))
    case .int64: writeInteger(load(Int64.self))
    case .int128: writeInteger(load(Int128.self))
    case .uint: writeInteger(UInt64(load(UInt.self)))
    case .uint8: writeInteger(Int64(load(UInt8.self)))
    case .uint16: writeInteger(Int64(load(UInt16.self)))
    case .uint32: writeInteger(Int64(load(UInt32.self)))
    case .uint64: writeInteger(load(UInt64.self))
    case .uint128: writeInteger(load(UInt128.self))
    case .double: writeShort(load(Double.self))
    case .float: writeFixed(load(Float.self).bitPattern)
    case .half: unsafe writeFixed(value.loadUnaligned(as: UInt16.self))
    case .string: writeString(load(String.self))
    case .data:
      let data = load(Data.self)
      // One check for exclusivity; lent by `withUnsafeBytes`, the bytes would cost three.
      unsafe data.bytes.withUnsafeBytes { unsafe writeBytes($0) }
    case .date: writeFixed(load(Date.self).timeIntervalSinceReferenceDate.bitPattern)
    case .uuid:
      reserve(16)
      unsafe UnsafeMutableRawPointer(next).copyMemory(from: value, byteCount: 16)
      unsafe next += 16
    case .unknown, .general, .collection: preconditionFailure("\(kind) is not a scalar")
    }
  }
}
