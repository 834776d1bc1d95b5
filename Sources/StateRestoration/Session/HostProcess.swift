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

  /// The processor time that all threads but this one have used.
  static var timeOfOtherThreads: Duration { time(CLOCK_PROCESS_CPUTIME_ID) - time(CLOCK_THREAD_CPUTIME_ID) }

  private static func time(_ clock: clockid_t) -> Duration {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

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
