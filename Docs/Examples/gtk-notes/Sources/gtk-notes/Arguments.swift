import Foundation

/// What the command line asks for.
struct Arguments {
  var folder = FileManager.default.currentDirectoryPath
  var state: String?
  var log: String?

  init(_ words: some Sequence<String>) {
    var rest = Array(words)[...]
    while let word = rest.popFirst() {
      switch word {
      case "--state": state = rest.popFirst()
      case "--log": log = rest.popFirst()
      default: folder = word
      }
    }
  }
}
