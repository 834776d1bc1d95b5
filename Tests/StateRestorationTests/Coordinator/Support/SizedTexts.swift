/// A suite whose tests save texts of several sizes, each of which begins with a word that tells which it is.
protocol SizedTexts {}

extension SizedTexts {
  /// Sizes of states in bytes: within a frame, of several, and over what a page of a compaction takes.
  static var sizes: [Int] { [10, 4_000, 70_000, 300_000] }

  /// A text of about so many bytes, that begins with a word.
  func text(_ word: String, _ size: Int) -> String {
    word + String(repeating: ".", count: max(size - word.utf8.count, 0))
  }

  /// The word that a text begins with.
  func word(_ text: String?) -> String? { text.map { String($0.prefix { $0 != "." }) } }
}
