import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The terminal while it is ours: raw input, the alternate screen, and both given back on every way out.
///
/// The ways out that code can see are ``leave()``, `exit` and the fatal signals; for the last a handler shuts everybody else out,
/// writes one fixed sequence and lets the signal go on. After a SIGKILL nothing can be given back: the shell does it.
final class TerminalSession {
  /// Why the program can't be shown, as one line for a person.
  struct Unusable: Error, CustomStringConvertible {
    var description: String
  }

  private let input: Int32
  private let output: Int32
  private let original: termios
  private(set) var isEntered = false

  /// Alternate screen, no automatic wrap, bracketed paste, clicks and the wheel of a mouse.
  private static let enterSequence = "\u{1B}[?1049h\u{1B}[?7l\u{1B}[?2004h\u{1B}[?1000h\u{1B}[?1006h\u{1B}[2J\u{1B}[H"
  /// The other way round; also what the handler of fatal signals writes.
  private static let leaveSequence: StaticString =
    "\u{1B}[?2026l\u{1B}[?1006l\u{1B}[?1000l\u{1B}[?2004l\u{1B}[?7h\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l"

  /// Looks at the terminal without changing it.
  ///
  /// - Parameters:
  ///   - input: Where keys come from.
  ///   - output: Where the screen goes.
  ///   - kind: What the environment says the terminal is.
  /// - Throws: ``Unusable`` when either descriptor is no terminal, or one that can't move its cursor.
  init(
    input: Int32 = 0, output: Int32 = 1, kind: String? = ProcessInfo.processInfo.environment["TERM"]
  ) throws(Unusable) {
    var state = termios()
    guard isatty(input) == 1, isatty(output) == 1, unsafe tcgetattr(input, &state) == 0 else {
      throw Unusable(
        description: "standard input or output is not a terminal. Run it in one, or give it --script FILE.")
    }
    guard let kind, !kind.isEmpty, kind != "dumb" else {
      throw Unusable(
        description:
          "TERM is \(kind.map { $0.isEmpty ? "empty" : $0 } ?? "not set"): the terminal can't move its cursor. "
          + "Set TERM to what it is (xterm-256color), or give it --script FILE.")
    }
    self.input = input
    self.output = output
    self.original = state
  }

  /// Takes the terminal.
  func enter() {
    guard !isEntered else { return }
    isEntered = true
    var raw = original
    unsafe cfmakeraw(&raw)
    _ = unsafe tcsetattr(input, TCSAFLUSH, &raw)
    Self.leaveOnFatalSignals()
    write(Self.enterSequence)
  }

  /// Gives the terminal back.
  ///
  /// Does nothing when it was not taken.
  func leave() {
    guard isEntered else { return }
    isEntered = false
    write(Self.leaveSequence.description)
    var state = original
    _ = unsafe tcsetattr(input, TCSAFLUSH, &state)
  }

  /// The rows and columns of the terminal; 24 and 80 where it does not say.
  var size: (rows: Int, columns: Int) {
    var size = winsize()
    guard unsafe ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0, size.ws_col > 0 else {
      return (24, 80)
    }
    return (Int(size.ws_row), Int(size.ws_col))
  }

  /// Writes everything, going on after interruptions.
  ///
  /// A terminal that is gone is ignored: its hangup ends the program.
  func write(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while unsafe !rest.isEmpty {
        let count = unsafe Glibc.write(output, rest.baseAddress, rest.count)
        if count < 0 && errno == EAGAIN {
          var descriptor = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
          _ = unsafe poll(&descriptor, 1, 1000)
          continue
        }
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { return }
        unsafe rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      }
    }
  }

  /// Installs a handler that writes the fixed leaving sequence for each signal that a crash raises.
  private static func leaveOnFatalSignals() {
    for number in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS] {
      var action = sigaction()
      unsafe action.__sigaction_handler.sa_handler = { @Sendable number in
        let sequence: StaticString =
          "\u{1B}[?2026l\u{1B}[?1006l\u{1B}[?1000l\u{1B}[?2004l\u{1B}[?7h\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l"
        // Another thread may be about to draw, and would do it on the screen that is given back.
        let terminal = dup(1)
        let nowhere = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
        if terminal >= 0, nowhere >= 0 { _ = dup2(nowhere, 1) }
        _ = unsafe Glibc.write(terminal >= 0 ? terminal : 1, sequence.utf8Start, sequence.utf8CodeUnitCount)
        _ = raise(number)
      }
      // Once only, and the signal raised again ends the process as it would have without us.
      action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | SA_NODEFER
      _ = unsafe sigaction(number, &action, nil)
    }
  }
}
