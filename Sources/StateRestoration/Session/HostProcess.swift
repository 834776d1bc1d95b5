#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The calls to the C library that the framework makes in every program.
enum HostProcess {
  /// The thread of the main actor: the first to ask is on it.
  nonisolated(unsafe) private static var mainThread = pthread_self()

  /// Calls a function when the program calls `exit`; call this on the main actor.
  @MainActor static func atExit(_ body: @convention(c) () -> Void) {
    unsafe mainThread = pthread_self()
    atexit(body)
  }

  /// Whether this is the thread that ``atExit(_:)`` was called on.
  static var isOnMainThread: Bool { unsafe pthread_equal(mainThread, pthread_self()) != 0 }

  /// Writes a line to standard error in one call, so that lines of several threads do not mix.
  ///
  /// There is nobody to tell about a failure.
  static func writeToStandardError(_ line: String) {
    let line = Array("\(line)\n".utf8)
    _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
