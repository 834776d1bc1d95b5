/// A container that writes a value's payload as soon as it knows the tag: all but those with keys.
protocol PlainEncoding {
  /// Takes the place for a value with a tag and gives the state that writes it.
  func open(_ tag: UInt8) throws -> EncodeStateRef
}

extension PlainEncoding {
  func encodeNil() throws { _ = try open(ValueTag.null) }

  @inline(__always)
  func encode<Value: Scalar>(scalar value: Value) throws { value.write(to: &(try open(Value.tag)).pointee.writer) }

  /// For all scalars that the protocols list.
  @inline(__always)
  func encode<Value: Scalar>(_ value: Value) throws { try encode(scalar: value) }
}
