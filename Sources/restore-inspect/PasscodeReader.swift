#if canImport(Glibc)
import DataProtection
import Glibc

/// Reads a passcode without echo, into memory that is wiped.
enum PasscodeReader {
  /// Reads from where the command line says; `nil` when there is no passcode.
  static func read(_ source: InspectArguments.PasscodeSource) throws(InspectFailure) -> Passcode? {
    switch source {
    case .none: nil
    case .descriptor(let descriptor): try read(descriptor)
    case .prompt: try prompt()
    }
  }

  private static func prompt() throws(InspectFailure) -> Passcode {
    let terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    guard terminal >= 0 else {
      throw InspectFailure(.usage, "There is no terminal to ask on; use --passcode-fd.")
    }
    defer { close(terminal) }
    var saved = termios()
    guard unsafe tcgetattr(terminal, &saved) == 0 else {
      throw InspectFailure(.usage, "The terminal can't be asked without echo; use --passcode-fd.")
    }
    var silent = saved
    silent.c_lflag &= ~tcflag_t(ECHO)
    write("Passcode: ", to: terminal)
    guard unsafe tcsetattr(terminal, TCSAFLUSH, &silent) == 0 else {
      throw InspectFailure(.usage, "The terminal can't be asked without echo; use --passcode-fd.")
    }
    defer {
      unsafe tcsetattr(terminal, TCSAFLUSH, &saved)
      write("\n", to: terminal)
    }
    return try read(terminal)
  }

  private static func write(_ text: String, to descriptor: Int32) {
    var bytes = Array(text.utf8)
    _ = unsafe Glibc.write(descriptor, &bytes, bytes.count)
  }

  /// Reads up to the first line break or the end.
  private static func read(_ descriptor: Int32) throws(InspectFailure) -> Passcode {
    // One array of the final size, filled in place: growing it would leave copies behind.
    var buffer = [UInt8](repeating: 0, count: Passcode.maximumByteCount + 1)
    defer { unsafe buffer.withUnsafeMutableBytes { unsafe explicit_bzero($0.baseAddress!, $0.count) } }
    var count = 0
    while count < buffer.count {
      let got = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress! + count, 1) }
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else {
        throw InspectFailure(.usage, "The passcode can't be read from descriptor \(descriptor).")
      }
      if got == 0 || buffer[count] == UInt8(ascii: "\n") { break }
      count += 1
    }
    guard count > 0 else { throw InspectFailure(.usage, "The passcode is empty.") }
    do throws(ProtectionError) {
      return try Passcode(copying: buffer.span.extracting(first: count))
    } catch {
      throw InspectFailure(.usage, error.message)
    }
  }
}
#endif
