/// The names of directory entries are bytes; nearly all of them are UTF-8, and stand for themselves.
///
/// Any other is spelled as a NUL, which no name has, and its bytes in hexadecimal digits: so every name that a directory lists
/// can be given back, and no two names are spelled alike.
package enum EntryName {
  /// How the bytes of a name are spelled.
  package static func spelling(of bytes: some Collection<UInt8>) -> String {
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    let digits = Array("0123456789abcdef".utf8)
    var spelled: [UInt8] = [0]
    for byte in bytes { spelled += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    return String(decoding: spelled, as: UTF8.self)
  }

  /// The bytes of a name that is spelled with a NUL; nil for what spells none.
  static func bytes(of spelling: String) -> [UInt8]? {
    let digits = Array(spelling.utf8.dropFirst())
    guard spelling.utf8.first == 0, !digits.isEmpty, digits.count.isMultiple(of: 2) else { return nil }
    let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { position in
      UInt8(String(decoding: digits[position..<position + 2], as: UTF8.self), radix: 16)
    }
    guard !bytes.contains(0), self.spelling(of: bytes) == spelling else { return nil }
    return bytes
  }
}
