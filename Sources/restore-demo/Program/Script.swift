/// A script that drives the program without a terminal, one command a line.
///
/// Empty lines and lines that begin with `#` are skipped.
struct Script: Equatable {
  /// One command of a script.
  enum Command: Equatable {
    /// Types the text, a key a character.
    case text(String)
    case key(Key)
    /// Waits until everything typed so far has been preserved durably.
    case waitPreserved
    case lock
    case unlock(String)
    case background
    case foreground
    case resize(rows: Int, columns: Int)
    /// Prints the screen.
    case screen
    /// Prints the restoration report.
    case report
    /// Prints the status line.
    case status
    case forceQuit
    /// Aborts at once, as a crash would.
    case crash
    /// Sends SIGKILL to the program itself.
    case kill
    case quit
  }

  /// A line that is no command.
  struct Problem: Error, CustomStringConvertible {
    var line: Int
    var text: String
    var description: String { "line \(line) of the script is no command: \(text)" }
  }

  /// The commands with their line numbers, from 1.
  var commands: [(line: Int, command: Command)] = []

  /// Reads a script.
  init(_ text: String) throws(Problem) {
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let line = line.last == "\r" ? line.dropLast() : line
      if line.allSatisfy(\.isWhitespace) || line.first == "#" { continue }
      guard let command = Self.command(String(line)) else { throw Problem(line: index + 1, text: String(line)) }
      commands.append((index + 1, command))
    }
  }

  private static func command(_ line: String) -> Command? {
    // The first blank by its byte: a combining mark after it would make it part of a character.
    let blank = line.utf8.firstIndex(of: UInt8(ascii: " "))
    let word = String(line[..<(blank ?? line.endIndex)])
    let rest = blank.map { String(line[line.utf8.index(after: $0)...]) } ?? ""
    switch (word, rest) {
    case ("text", _) where !rest.isEmpty: return .text(rest)
    case ("key", _): return Key(name: rest).map(Command.key)
    case ("wait", "preserved"): return .waitPreserved
    case ("unlock", _) where !rest.isEmpty: return .unlock(rest)
    case ("resize", _):
      let numbers = rest.split(separator: " ").compactMap { Int($0) }
      guard numbers.count == 2, numbers.allSatisfy({ (1...500).contains($0) }) else { return nil }
      return .resize(rows: numbers[0], columns: numbers[1])
    case ("click", _):
      let numbers = rest.split(separator: " ").compactMap { Int($0) }
      guard numbers.count == 2, numbers.allSatisfy({ (1...500).contains($0) }) else { return nil }
      return .key(.click(row: numbers[0] - 1, column: numbers[1] - 1))
    case ("lock", ""): return .lock
    case ("background", ""): return .background
    case ("foreground", ""): return .foreground
    case ("screen", ""): return .screen
    case ("report", ""): return .report
    case ("status", ""): return .status
    case ("force-quit", ""): return .forceQuit
    case ("crash", ""): return .crash
    case ("kill", ""): return .kill
    case ("quit", ""): return .quit
    default: return nil
    }
  }

  static func == (left: Script, right: Script) -> Bool {
    left.commands.elementsEqual(right.commands) { $0 == $1 }
  }
}
