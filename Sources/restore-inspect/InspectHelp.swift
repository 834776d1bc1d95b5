/// What `--help` prints; `Docs/restore-inspect.1` says the same at more length, and a test compares the two.
package enum InspectHelp {
  /// The options, as they are written, and what each does.
  package static let options = [
    ("--passcode-prompt", "ask for the passcode on the terminal, without echo"),
    ("--passcode-fd N", "read the passcode from descriptor N, up to a line break"),
    ("--application ID", "the application whose state it is (default: the one that there is, or main)"),
    ("--scene ID", "the scene session (default: the one that there is, or main); (program) for the program's own"),
    ("--slot NAME", "what is kept for the scene (default: archive)"),
    ("--node IDENTIFIER", "for show: once for each identifier, from the root"),
    ("--html FILE", "with export: write one HTML page to a new file; to the standard output for -"),
    ("--json", "print JSON"),
    ("--reveal", "print values; without it only their types and sizes"),
    ("--help", "print this"),
  ]

  /// Command lines that work.
  package static let examples = [
    "restore-inspect ~/.local/state/com.example.notes",
    "restore-inspect tree ~/.local/state/restore-demo --application restore-demo",
    "restore-inspect show ~/.local/state/com.example.notes --node window --node editor --reveal",
    "restore-inspect diff ~/.local/state/com.example.notes",
    "restore-inspect diff /tmp/before /tmp/after --reveal",
    "restore-inspect verify /tmp/copy --passcode-prompt",
    "restore-inspect export /tmp/copy --passcode-fd 3 --json 3< passcode > report.json",
    "restore-inspect export /tmp/copy --html report.html",
  ]

  /// The whole text.
  package static var text: String {
    let verbs = InspectArguments.Verb.allCases.map { "  \(pad($0.rawValue, 8))\($0.summary)" }
    let codes = InspectExitCode.allCases.map { "  \($0.rawValue)  \($0.meaning)" }
    return """
      restore-inspect: look inside preserved state. It reads only; nothing is changed, but for the counter of
      wrong passcodes when you give a passcode.

      USAGE
        restore-inspect [DIRECTORY] [OPTIONS]          what there is, there or in all of your programs' states
        restore-inspect COMMAND DIRECTORY [OPTIONS]
        restore-inspect diff OLDER-DIRECTORY NEWER-DIRECTORY [OPTIONS]

      COMMANDS
      \(verbs.joined(separator: "\n"))

      OPTIONS
      \(options.map { "  \(pad($0.0, 21))\($0.1)" }.joined(separator: "\n"))

      A passcode is never taken from an argument: everybody on the machine can read those.

      EXAMPLES
      \(examples.map { "  " + $0 }.joined(separator: "\n"))

      EXIT CODES
      \(codes.joined(separator: "\n"))
      """
  }

  private static func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }
}
