extension EncodeFrameRef {
  /// Encodes any value inside this one: writes its payload and tells its tag.
  ///
  /// What it wrote is taken back on failure.
  @inline(__always)
  func encode<T: Encodable>(_ value: T) throws -> UInt8 {
    let slot = pointee.state.pointee.types.slot(of: T.self)
    if pointee.state.pointee.types.slots[slot].form == .general { return try encodeGeneral(value) }
    return try ValueAddress.lending(value) { try encodeKnown($0, slot) }
  }

  /// Lets a value encode itself.
  @inline(__always)
  private func encodeGeneral<T: Encodable>(_ value: T) throws -> UInt8 {
    let child = try inside { child in
      try value.encode(to: child.encoder)
    }
    let tag = child.close()
    pop(child)
    return tag
  }

  /// Encodes a value of a well-known type.
  private func encodeKnown(_ value: ValueAddress, _ slot: Int) throws -> UInt8 {
    let state = pointee.state
    let entry = state.pointee.types.slots[slot]
    guard entry.form != .scalar else {
      entry.scalar?.write(at: value, to: &state.pointee.writer)
      return entry.tag
    }
    let start = state.pointee.writer.count
    let tag: UInt8
    if let scalar = entry.scalar {
      tag = scalar.write(entry.form, at: value, in: state)
    } else {
      guard let collection = entry.encodable else { preconditionFailure("a type that nobody encodes") }
      tag = try collection.encodeCollection(at: value, in: self)
    }
    // A value with values inside is a level to every reader, also when nobody was asked to write them.
    if tag != ValueTag.integers, pointee.depth >= state.pointee.depthLimit {
      state.pointee.writer.truncate(to: start)
      throw tooDeep(at: pathInside())
    }
    return tag
  }

  /// Encodes an element with its tag.
  @inline(__always)
  func encodeElement<T: Encodable>(_ value: T) throws {
    let state = pointee.state
    let start = state.pointee.writer.count
    state.pointee.writer.writeByte(0)
    do {
      let tag = try encode(value)
      state.pointee.writer[start] = tag
    } catch {
      state.pointee.writer.truncate(to: start)
      throw error
    }
    pointee.count &+= 1
  }
}
