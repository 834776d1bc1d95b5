internal import Dispatch

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
#else
internal import Darwin
#endif

/// The calls to the C library that the framework makes in every program.
enum HostProcess {
  /// Marks the queue of the main actor, whose jobs run on one thread after another once `main` has returned to it.
  private static let mainQueueKey = DispatchSpecificKey<Void>()

  /// Calls a function when the program calls `exit`; call this on the main actor.
  @MainActor static func atExit(_ body: @convention(c) () -> Void) {
    DispatchQueue.main.setSpecific(key: mainQueueKey, value: ())
    atexit(body)
  }

  /// Whether this is code of the main actor; ask after ``atExit(_:)``.
  static var isOnMainActor: Bool { DispatchQueue.getSpecific(key: mainQueueKey) != nil }

  /// Writes a line to standard error in one call, so that lines of several threads do not mix.
  ///
  /// There is nobody to tell about a failure.
  static func writeToStandardError(_ line: String) {
    let line = Array("\(line)\n".utf8)
    _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
