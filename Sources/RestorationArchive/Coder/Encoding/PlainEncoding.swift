/// A container that writes a value's payload as soon as it knows the tag: all but those with keys.
protocol PlainEncoding {
  /// Takes the place for a value with a tag and gives the state that writes it.
  func open(_ tag: UInt8) throws -> EncodeStateRef
}

extension PlainEncoding {
  func encodeNil() throws { _ = try open(ValueTag.null) }

  @inline(__always)
  func encode<Value: Scalar>(scalar value: Value) throws { value.write(to: &(try open(Value.tag)).pointee.writer) }

  // As the protocols list them.
  func encode(_ value: Bool) throws { try encode(scalar: value) }
  func encode(_ value: String) throws { try encode(scalar: value) }
  func encode(_ value: Double) throws { try encode(scalar: value) }
  func encode(_ value: Float) throws { try encode(scalar: value) }
  func encode(_ value: Int) throws { try encode(scalar: value) }
  func encode(_ value: Int8) throws { try encode(scalar: value) }
  func encode(_ value: Int16) throws { try encode(scalar: value) }
  func encode(_ value: Int32) throws { try encode(scalar: value) }
  func encode(_ value: Int64) throws { try encode(scalar: value) }
  func encode(_ value: UInt) throws { try encode(scalar: value) }
  func encode(_ value: UInt8) throws { try encode(scalar: value) }
  func encode(_ value: UInt16) throws { try encode(scalar: value) }
  func encode(_ value: UInt32) throws { try encode(scalar: value) }
  func encode(_ value: UInt64) throws { try encode(scalar: value) }
}
