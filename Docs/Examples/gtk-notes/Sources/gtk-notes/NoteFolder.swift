import Foundation

/// The model: text files in a folder.
///
/// Nothing of it is preserved but names.
struct NoteFolder {
  let path: String

  var names: [String] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return all.filter { $0.hasSuffix(".txt") || $0.hasSuffix(".md") }.sorted()
  }

  func text(of name: String) -> String {
    (try? String(contentsOfFile: path + "/" + name, encoding: .utf8)) ?? ""
  }

  func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/" + name), options: .atomic)
  }
}
