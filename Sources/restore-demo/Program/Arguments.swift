/// What the command line asks for.
struct Arguments: Equatable {
  /// Why a command line was not understood, as one line for a person.
  struct Problem: Error, CustomStringConvertible {
    var description: String
  }

  /// The folder of notes; `nil` for the package's own documentation.
  var folder: String?
  /// Where the device's files are kept; `nil` for the platform's state directory.
  var state: String?
  /// The script to run without a terminal.
  var script: String?
  /// The file that gets the framework's log; `nil` for none.
  var log: String?
  var showsHelp = false

  static let usage = """
    restore-demo [FOLDER] [--state DIR] [--script FILE] [--log FILE]

    Notes in a terminal that come back exactly as you left them: after a kill, a crash, a power cut, and only to you.

      FOLDER         a folder of .md or .txt files (default: this package's Docs)
      --state DIR    where the sealed state is kept (default: the platform's state directory)
      --script FILE  run without a terminal: one command a line, - for standard input
      --log FILE     append what the framework does, paths and counts but never text

    Script commands: text WORDS, key NAME, wait preserved, lock, unlock PASSCODE, background, foreground,
    resize ROWS COLUMNS, screen, report, status, force-quit, crash, kill, quit.
    The exit status is 0 when the script ran to its end, 1 when a command failed, 2 for unusable arguments.
    """

  /// Reads a command line without the program's name.
  init(_ words: some Sequence<String>) throws(Problem) {
    var rest = Array(words)[...]
    while let word = rest.popFirst() {
      switch word {
      case "--help", "-h": showsHelp = true
      case "--state": state = try Self.value(of: word, from: &rest)
      case "--log": log = try Self.value(of: word, from: &rest)
      case "--script": script = try Self.value(of: word, from: &rest)
      case _ where word.hasPrefix("-") && word != "-":
        throw Problem(description: "\(word) is not an option. See restore-demo --help.")
      default:
        guard folder == nil else { throw Problem(description: "one folder at a time: \(word) is one too many") }
        folder = word
      }
    }
  }

  private static func value(of option: String, from rest: inout ArraySlice<String>) throws(Problem) -> String {
    guard let value = rest.popFirst(), !value.isEmpty else {
      throw Problem(description: "\(option) needs a value. See restore-demo --help.")
    }
    return value
  }
}
