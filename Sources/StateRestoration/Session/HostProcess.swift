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
    markMainQueue()
    atexit(body)
  }

  /// Has ``isOnMainActor`` tell the main actor's code from other threads'.
  @MainActor static func markMainQueue() { DispatchQueue.main.setSpecific(key: mainQueueKey, value: ()) }

  /// Whether this is code of the main actor; ask after ``markMainQueue()``, before which it is false.
  static var isOnMainActor: Bool { DispatchQueue.getSpecific(key: mainQueueKey) != nil }

  /// Writes a line to standard error in one call, so that lines of several threads do not mix.
  ///
  /// There is nobody to tell about a failure. Where nobody reads the other end any more, the signal that says so would end
  /// the program: it is held back from this thread, and taken away.
  static func writeToStandardError(_ line: String) {
    let line = Array("\(line)\n".utf8)
    var (broken, pending, former) = (sigset_t(), sigset_t(), sigset_t())
    unsafe sigemptyset(&broken)
    unsafe sigaddset(&broken, SIGPIPE)
    unsafe sigpending(&pending)
    // One that waits already is the program's.
    let isPending = unsafe sigismember(&pending, SIGPIPE) == 1
    unsafe pthread_sigmask(SIG_BLOCK, &broken, &former)
    let count = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    if count < 0, errno == EPIPE, !isPending {
      unsafe sigpending(&pending)
      var signal: Int32 = 0
      // It is there, so that this doesn't wait; where the program ignores it, it is not.
      if unsafe sigismember(&pending, SIGPIPE) == 1 { _ = unsafe sigwait(&broken, &signal) }
    }
    unsafe pthread_sigmask(SIG_SETMASK, &former, nil)
  }
}
