import Foundation
import OwnThread
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A program running in a pseudo-terminal of its own, with the screen it shows.
///
/// The program is a session leader with the terminal as its controlling terminal, so that signals, suspension and hangup
/// are the real ones. Whatever has to be waited for is waited for on another thread, so that a test in a
/// terminal takes no thread from the tests beside it. Not safe for use by two tasks at once.
final class PseudoTerminal {
  /// The program did not come to show what the test waited for.
  struct TimedOut: Error, CustomStringConvertible {
    var description: String
  }

  /// The program ended while the test waited for something.
  struct Ended: Error {}

  let processIdentifier: pid_t
  var screen: ScreenEmulator
  private var master: Int32
  private var status: Int32?

  /// How long a test waits for something that should come at once; long, as other tests and builds share the machine.
  static let patience = Duration.seconds(60)

  /// `POSIX_SPAWN_SETSID` of glibc's `spawn.h`, which Swift's Glibc module lacks.
  private static let newSession: Int16 = 0x80

  /// Starts a program; variables of the environment that are empty are taken away.
  init(_ program: String, arguments: [String], environment: [String: String] = [:], rows: Int = 24, columns: Int = 80)
    throws
  {
    var master: Int32 = -1
    var slave: Int32 = -1
    var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    var name = [CChar](repeating: 0, count: 256)
    try #require(unsafe openpty(&master, &slave, &name, nil, &size) == 0)
    _ = fcntl(master, F_SETFD, FD_CLOEXEC)
    _ = fcntl(slave, F_SETFD, FD_CLOEXEC)
    _ = fcntl(master, F_SETFL, O_NONBLOCK)

    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    // Opened by the new session's leader, the terminal becomes its controlling terminal.
    unsafe posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, 0, 1)
    unsafe posix_spawn_file_actions_adddup2(&actions, 0, 2)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    // As a shell starts it, even where the tests run in the background or without a terminal (`nohup`), and so ignore
    // signals that the program would then ignore, too.
    var every = sigset_t()
    unsafe sigfillset(&every)
    unsafe posix_spawnattr_setsigdefault(&attributes, &every)
    unsafe posix_spawnattr_setflags(
      &attributes, Self.newSession | Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    var all = ProcessInfo.processInfo.environment
    all["TERM"] = "xterm-256color"
    all.merge(environment) { $1 }
    all = all.filter { !$0.value.isEmpty }
    let words = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
    let variables = unsafe all.map { unsafe strdup("\($0)=\($1)") } + [nil]
    defer {
      unsafe words.forEach { unsafe free($0) }
      unsafe variables.forEach { unsafe free($0) }
    }
    var identifier: pid_t = 0
    let failure = unsafe posix_spawn(&identifier, program, &actions, &attributes, words, variables)
    close(slave)
    try #require(failure == 0, "\(program): \(unsafe String(cString: strerror(failure)))")
    self.master = master
    processIdentifier = identifier
    screen = ScreenEmulator(rows: rows, columns: columns)
  }

  deinit {
    if status == nil {
      kill(processIdentifier, SIGKILL)
      var status: Int32 = 0
      unsafe waitpid(processIdentifier, &status, 0)
    }
    if master >= 0 { close(master) }
  }

  /// Types bytes into the terminal, reading what the program writes while it does not take them.
  func type(_ text: String) async {
    var rest = ArraySlice(Array(text.utf8))
    while !rest.isEmpty, isRunning {
      let count = unsafe rest.withUnsafeBytes { unsafe write(master, $0.baseAddress, $0.count) }
      if count < 0 && errno == EAGAIN {
        await pump(milliseconds: 20)
        continue
      }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// Gives the terminal another size, as a person who drags the window's corner does.
  func resize(rows: Int, columns: Int) {
    var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    _ = unsafe ioctl(master, UInt(TIOCSWINSZ), &size)
    screen.resize(rows: rows, columns: columns)
  }

  func send(_ signal: Int32) { kill(processIdentifier, signal) }

  /// Closes the terminal, as a person who closes the window does.
  func hangUp() {
    close(master)
    master = -1
  }

  /// Reads what the program writes until the screen satisfies a condition between two updates.
  func wait(
    for what: String, timeout: Duration = PseudoTerminal.patience, until condition: (ScreenEmulator) -> Bool
  ) async throws {
    let clock = ContinuousClock()
    let end = clock.now + timeout
    while !(condition(screen) && !screen.isUpdating) {
      if await pump(milliseconds: 100) { continue }
      guard isRunning else { throw Ended() }
      guard clock.now < end else {
        throw TimedOut(description: "waited for \(what); the screen was:\n\(screen.text)\n\(screen.ordinaryText)")
      }
    }
  }

  /// Waits until a text is on the screen.
  func wait(forText text: String, timeout: Duration = PseudoTerminal.patience) async throws {
    try await wait(for: text.debugDescription, timeout: timeout) { $0.text.contains(text) }
  }

  /// Reads whatever arrives within a time.
  ///
  /// - Returns: Whether anything did.
  @discardableResult
  func pump(milliseconds: Int32) async -> Bool {
    guard master >= 0 else { return false }
    if feed() { return true }
    guard milliseconds > 0 else { return false }
    await onThread { [master] in
      var descriptor = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
      _ = unsafe poll(&descriptor, 1, milliseconds)
      // A terminal that the program has closed is ready at once, but only with its end.
      if descriptor.revents & Int16(POLLIN) == 0 && descriptor.revents != 0 { _ = poll(nil, 0, milliseconds) }
    }
    return feed()
  }

  /// Shows what has arrived.
  private func feed() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = unsafe read(master, &buffer, buffer.count)
    guard count > 0 else { return false }
    screen.feed(buffer[..<count])
    return true
  }

  /// Whether the program has not ended.
  var isRunning: Bool {
    if status != nil { return false }
    var status: Int32 = 0
    guard unsafe waitpid(processIdentifier, &status, WNOHANG) == processIdentifier else { return true }
    self.status = status
    return false
  }

  /// Waits for the end.
  ///
  /// - Returns: The exit status, or the negative number of the signal that ended the program.
  func waitForEnd(timeout: Duration = PseudoTerminal.patience) async throws -> Int32 {
    let clock = ContinuousClock()
    let end = clock.now + timeout
    while isRunning {
      if clock.now > end { throw TimedOut(description: "the program did not end; the screen was:\n\(screen.text)") }
      if master < 0 { await onThread { _ = poll(nil, 0, 20) } } else { await pump(milliseconds: 20) }
    }
    while await pump(milliseconds: 0) {}
    screen.finish()
    let status = self.status ?? 0
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
  }

  /// Types the key that quits, and expects a good end that gives the terminal back.
  func quit(sourceLocation: SourceLocation = #_sourceLocation) async throws {
    await type("\u{11}")
    #expect(try await waitForEnd() == 0, sourceLocation: sourceLocation)
    #expect(!screen.isAlternate && screen.isCursorVisible, sourceLocation: sourceLocation)
    #expect(screen.complaints.isEmpty, "\(screen.complaints)", sourceLocation: sourceLocation)
  }

  /// Kills the program, which must still be there to be killed.
  func killProgram(sourceLocation: SourceLocation = #_sourceLocation) async throws {
    send(SIGKILL)
    #expect(try await waitForEnd() == -SIGKILL, sourceLocation: sourceLocation)
  }

  /// Waits until the program is stopped by a signal (suspended).
  func waitForStop(timeout: Duration = PseudoTerminal.patience) async throws {
    let clock = ContinuousClock()
    let end = clock.now + timeout
    while true {
      var status: Int32 = 0
      let result = unsafe waitpid(processIdentifier, &status, WNOHANG | WUNTRACED)
      if result == processIdentifier {
        if status & 0xFF == 0x7F { return }
        self.status = status
        throw TimedOut(description: "the program ended instead of stopping")
      }
      if clock.now > end { throw TimedOut(description: "the program did not stop; the screen was:\n\(screen.text)") }
      await pump(milliseconds: 20)
    }
  }
}
