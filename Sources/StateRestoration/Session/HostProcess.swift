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
    markMainActor()
    atexit(body)
  }

  /// Whether this is code of the main actor; ask after ``markMainActor()``, before which it is false.
  static var isOnMainActor: Bool { DispatchQueue.getSpecific(key: mainQueueKey) != nil }

  /// Has ``isOnMainActor`` know the main actor; call this on it.
  @MainActor static func markMainActor() { DispatchQueue.main.setSpecific(key: mainQueueKey, value: ()) }

  /// The number of this process.
  static var identifier: Int32 { getpid() }

  /// The processor time that all threads but this one have used.
  static var timeOfOtherThreads: Duration { time(CLOCK_PROCESS_CPUTIME_ID) - time(CLOCK_THREAD_CPUTIME_ID) }

  /// The clock of the processor time that one thread has used.
  struct ThreadClock: Sendable {
    private let clock: clockid_t

    /// That of the thread which asks; nil where the system has none.
    static var current: ThreadClock? {
      #if canImport(Darwin)
      return nil
      #else
      var clock = clockid_t()
      return unsafe pthread_getcpuclockid(pthread_self(), &clock) == 0 ? ThreadClock(clock: clock) : nil
      #endif
    }

    /// Whether it is that of the thread on which the program began.
    ///
    /// If the main actor's jobs run there, they always do. Once `main` awaits, or calls `dispatchMain()`, that thread has ended,
    /// and they run on one thread after another.
    var isOfFirstThread: Bool {
      // The number of a thread's clock has the thread's number in it.
      ~(clock >> 3) == getpid()
    }

    /// What the thread has used; nil once it has ended.
    var time: Duration? {
      var time = timespec()
      return unsafe clock_gettime(clock, &time) == 0 ? Duration(time) : nil
    }
  }

  private static func time(_ clock: clockid_t) -> Duration {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Duration(time)
  }

  /// Writes a line to standard error in one call, so that lines of several threads do not mix.
  ///
  /// There is nobody to tell about a failure. A process that was started without standard error may have something of its own
  /// under that number, which is no file: nothing is written there. Where nobody reads the other end any more, the signal that says so would end
  /// the program: it is held back from this thread, and taken away.
  static func writeToStandardError(_ line: String) {
    var status = stat()
    guard unsafe fstat(STDERR_FILENO, &status) == 0, status.st_mode & S_IFMT != 0 else { return }
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

  // MARK: - Descriptors

  /// A pipe whose ends don't block and are closed in other programs; nil when the process has no descriptor left.
  ///
  /// Neither is one of the standard three, also where a process was started without those.
  static func makePipe() -> (read: Int32, write: Int32)? {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { return nil }
    for index in ends.indices {
      if ends[index] <= STDERR_FILENO {
        let low = ends[index]
        ends[index] = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        close(low)
      }
      _ = fcntl(ends[index], F_SETFD, FD_CLOEXEC)
      _ = fcntl(ends[index], F_SETFL, O_NONBLOCK)
    }
    guard ends.allSatisfy({ $0 >= 0 }) else {
      for end in ends where end >= 0 { close(end) }
      return nil
    }
    return (ends[0], ends[1])
  }

  /// Writes a byte; a full pipe has enough to read already.
  static func writeByte(_ descriptor: Int32) {
    var byte: UInt8 = 1
    _ = unsafe write(descriptor, &byte, 1)
  }

  /// Reads what is there.
  static func drain(_ descriptor: Int32) {
    var byte: UInt8 = 0
    while unsafe read(descriptor, &byte, 1) == 1 {}
  }

  /// Closes descriptors of the framework's own.
  static func close(_ descriptors: Int32...) {
    for descriptor in descriptors { _ = closeDescriptor(descriptor) }
  }

  /// A function of the program, or of a library that it has loaded; nil where there is none of the name.
  static func symbol(_ name: String) -> UnsafeMutableRawPointer? {
    guard let program = unsafe dlopen(nil, RTLD_NOW) else { return nil }
    return unsafe dlsym(program, name)
  }
}

extension Duration {
  fileprivate init(_ time: timespec) { self = .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec) }
}

/// The call of the C library; within ``HostProcess`` its name is taken.
private func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }
