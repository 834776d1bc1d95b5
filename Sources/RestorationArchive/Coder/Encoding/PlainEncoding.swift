/// A container that writes a value's payload as soon as it knows the tag: all but those with keys.
protocol PlainEncoding {
  /// Takes the place for a value with a tag and gives the bytes being written.
  func open(_ tag: UInt8) throws -> EncodeStateRef
}

extension PlainEncoding {
  func encodeNil() throws { _ = try unsafe open(ValueTag.null) }
  func encode(_ value: Bool) throws { try unsafe open(ValueTag.bool).pointee.writeByte(value ? 1 : 0) }
  func encode(_ value: String) throws { try unsafe open(ValueTag.string).pointee.writeString(value) }
  func encode(_ value: Double) throws { try unsafe open(ValueTag.short).pointee.writeShort(value) }
  func encode(_ value: Float) throws { try unsafe open(ValueTag.float).pointee.writeFixed(value.bitPattern) }
  func encode(_ value: Int) throws { try unsafe open(ValueTag.integer).pointee.writeInteger(Int64(value)) }
  func encode(_ value: Int8) throws { try unsafe open(ValueTag.integer).pointee.writeInteger(Int64(value)) }
  func encode(_ value: Int16) throws { try unsafe open(ValueTag.integer).pointee.writeInteger(Int64(value)) }
  func encode(_ value: Int32) throws { try unsafe open(ValueTag.integer).pointee.writeInteger(Int64(value)) }
  func encode(_ value: Int64) throws { try unsafe open(ValueTag.integer).pointee.writeInteger(value) }
  func encode(_ value: UInt) throws { try unsafe open(ValueTag.integer).pointee.writeInteger(UInt64(value)) }
  func encode(_ value: UInt8) throws { try unsafe open(ValueTag.integer).pointee.writeInteger(Int64(value)) }
  func encode(_ value: UInt16) throws { try unsafe open(ValueTag.integer).pointee.writeInteger(Int64(value)) }
  func encode(_ value: UInt32) throws { try unsafe open(ValueTag.integer).pointee.writeInteger(Int64(value)) }
  func encode(_ value: UInt64) throws { try unsafe open(ValueTag.integer).pointee.writeInteger(value) }
}
