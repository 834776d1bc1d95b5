extension String {
  /// Whether two texts have the same bytes; those that Unicode merely calls equivalent have not.
  func hasSameBytes(as other: String) -> Bool {
    let isSame = unsafe utf8.withContiguousStorageIfAvailable { left in
      unsafe other.utf8.withContiguousStorageIfAvailable { right in
        unsafe UnsafeRawBufferPointer(left).hasSameBytes(as: UnsafeRawBufferPointer(right))
      } ?? nil
    }
    return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
  }
}

extension UnsafeRawBufferPointer {
  /// Whether there are the same bytes in another place; compares eight at a time.
  func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    var offset = 0
    while offset + 8 <= count {
      let word = unsafe loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      guard unsafe word == other.loadUnaligned(fromByteOffset: offset, as: UInt64.self) else { return false }
      offset += 8
    }
    while offset < count {
      guard unsafe self[offset] == other[offset] else { return false }
      offset += 1
    }
    return true
  }
}
