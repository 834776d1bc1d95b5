/// The name of a protected file: its bytes decide.
///
/// Swift calls two strings equal that only look the same ("é" in one piece and in two); as names they are two, like
/// everywhere on disk, so that what a name leads to does not depend on which process has it in a dictionary.
struct ProtectedFileName: Hashable, Comparable, Sendable {
  let text: String

  init(_ text: String) {
    self.text = text
  }

  static func == (left: ProtectedFileName, right: ProtectedFileName) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  static func < (left: ProtectedFileName, right: ProtectedFileName) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }

  func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte) }
  }
}
