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
  /// Whether the desktop session locks, wakes and ends the program.
  var followsDesktop = false
  /// Whether the names of folders and notes are dots while the device is locked.
  var hidesTitles = false
  var showsHelp = false

  /// What the keys do.
  static let keys = """
    F2 Notes, F3 Search, F4 Settings; ^T and Tab go to the next of them
    F1, or ? where nothing is typed: this help
    Arrows, Enter and Esc: choose, open and leave in lists
    The mouse: a click chooses, a second one opens; the wheel scrolls
    ^S writes a draft into its file; until then it is state, and comes back
    ^N renames the note
    ^L locks, once Settings have a passcode: without one nothing locks
    While locked the lists stay; drafts, the search and jots wait for the passcode
    ^R shows what came back at this launch, and what did not
    ^Z suspends, ^Q quits, ^\\ quits by force and forgets
    In a wide window Alt-left and Alt-right move the divider
    """

  static let usage = """
    restore-demo [FOLDER] [--state DIR] [--hide-titles] [--desktop | --script FILE] [--log FILE]

    Notes in a terminal that come back exactly as you left them: after a kill, a crash, a power cut, and only to you.

      FOLDER         a folder of .md or .txt files (default: this package's Docs)
      --state DIR    where the sealed state is kept, a directory of your own with mode 0700; it is made if need be
                     (default: restore-demo in $XDG_STATE_HOME or ~/.local/state)
      --hide-titles  while locked, dots stand for the names of folders and notes, and only the passcode opens the
                     state that has them
      --desktop      lock with the screen, preserve before sleep and at the end of the session; ^R tells what it reached
      --script FILE  run without a terminal: one command a line, - for standard input
      --log FILE     append what the framework does, paths and counts but never text

    \(keys)

    A script is a person at the keyboard. Its commands:
      text WORDS           types the words
      key NAME             presses enter, escape, tab, backtab, backspace, delete, space, up, down, left, right, home,
                           end, pageup, pagedown, alt-left, alt-right, f1 to f12, ctrl-LETTER, or one character
      click ROW COLUMN     clicks into a cell, counted from 1
      wait preserved       returns when everything until now would survive a power cut, at once if nothing changed
      lock                 as Ctrl-L; without a passcode the status line says that nothing locks
      unlock PASSCODE      tries a passcode; a wrong or delayed one is told on the screen, and the script goes on
      screen, report, status   print the screen, the restoration report, the status line
      resize ROWS COLUMNS  changes the size of the screen (24 80)
      background, foreground   leave and take the foreground
      quit, force-quit     end with a last save; end and forget
      crash, kill          abort at once; send SIGKILL to itself
    Empty lines and lines that begin with # are skipped. To set the passcode 1234: key f4, key enter, text 1234,
    key enter, text 1234, key enter.

    The exit status is 0 when the script ran to its end or to its quit; 1 when a line is no command (then none is
    performed), or a command can't be done, or folder or state can't be used; 2 for unusable arguments.
    """

  /// Reads a command line without the program's name.
  init(_ words: some Sequence<String>) throws(Problem) {
    var rest = Array(words)[...]
    while let word = rest.popFirst() {
      switch word {
      case "--help", "-h": showsHelp = true
      case "--desktop": followsDesktop = true
      case "--hide-titles": hidesTitles = true
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
    guard !followsDesktop || script == nil else {
      throw Problem(description: "--desktop needs a terminal, so it does not go with --script")
    }
  }

  private static func value(of option: String, from rest: inout ArraySlice<String>) throws(Problem) -> String {
    guard let value = rest.popFirst(), !value.isEmpty else {
      throw Problem(description: "\(option) needs a value. See restore-demo --help.")
    }
    return value
  }
}
