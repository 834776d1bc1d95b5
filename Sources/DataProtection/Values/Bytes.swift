/// Bytes as lowercase hexadecimal digits.
func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
  var digits: [UInt8] = []
  for byte in bytes {
    for digit in [byte >> 4, byte & 0xF] { digits.append(digit < 10 ? 0x30 + digit : 0x57 + digit) }
  }
  return String(decoding: digits, as: UTF8.self)
}

extension [UInt8] {
  /// How many bytes there are before the zeros that it ends with.
  var countWithoutZerosAtEnd: Int {
    var count = count
    while count > 0, self[count - 1] == 0 { count -= 1 }
    return count
  }
}

/// So many random bytes, for unique values that are no secret.
func randomBytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8.random(in: .min ... .max) } }
