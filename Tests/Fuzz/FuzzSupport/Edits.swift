/// Changes to bytes that were valid, as a fuzzer makes them up: four bytes each.
///
/// A fuzzer never guesses an authentication code or a magic number; from something valid it gets everywhere.
extension [UInt8] {
  /// These bytes with the changes that an input asks for: operation, position (two bytes), value.
  ///
  /// The operations: 0 sets a byte, 1 flips bits, 2 cuts the end off, 3 appends, 4 sets four bytes alike, and 5 moves
  /// sixteen bytes to the position from the one that the value is a share of.
  ///
  /// - Parameter input: The changes; what is left at its end is nothing.
  /// - Returns: The changed bytes.
  package func edited(by input: some Collection<UInt8>) -> [UInt8] {
    var bytes = self
    var rest = Array(input)[...]
    while rest.count >= 4, !bytes.isEmpty {
      let start = rest.startIndex
      let position = (Int(rest[start + 1]) << 8 | Int(rest[start + 2])) % bytes.count
      let value = rest[start + 3]
      switch rest[start] % 6 {
      case 0: bytes[position] = value
      case 1: bytes[position] ^= value
      case 2: bytes.removeLast(bytes.count - position)
      case 3: bytes += [UInt8](repeating: value, count: position % 64 + 1)
      case 4: for index in position..<Swift.min(position + 4, bytes.count) { bytes[index] = value }
      default:
        let source = bytes.count * Int(value) / 256
        let moved = Array(bytes[source...].prefix(16))
        for (index, byte) in moved.enumerated() where position + index < bytes.count { bytes[position + index] = byte }
      }
      rest = rest.dropFirst(4)
    }
    return bytes
  }
}
