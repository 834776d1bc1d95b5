#if canImport(Glibc)
import Dispatch
import Glibc
import Synchronization

/// The write end of the pipe, for the handler: a constant global, so that reading it takes no lock.
private let noteDescriptor = Atomic<Int32>(-1)

/// The only code that runs inside a signal handler: it notes the signal in the pipe, and leaves `errno` as it was.
private func noteSignal(_ number: Int32) {
  let saved = errno
  var byte = UInt8(truncatingIfNeeded: number)
  // A full pipe means that enough is noted already; there is nobody to tell about any other failure.
  _ = unsafe write(noteDescriptor.load(ordering: .relaxed), &byte, 1)
  errno = saved
}

/// Signals of this process, out of their handlers: the one file that knows the platform's signal calls.
///
/// Signal actions belong to the whole process, so only one pipe can be open at a time.
@MainActor final class SignalPipe {
  /// The signals, in the order of their arrival.
  let signals: AsyncStream<LifecycleSignal>
  private let source: any DispatchSourceRead
  private let previous: [(LifecycleSignal, sigaction)]

  /// Takes over the signals; `nil` when another pipe has them, or the system has no descriptor left.
  init?(_ watched: Set<LifecycleSignal>) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { return nil }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    let (readEnd, writeEnd) = (ends[0], ends[1])
    guard
      noteDescriptor.compareExchange(expected: -1, desired: writeEnd, ordering: .sequentiallyConsistent).exchanged
    else {
      close(readEnd)
      close(writeEnd)
      return nil
    }
    let (stream, continuation) = AsyncStream.makeStream(of: LifecycleSignal.self)
    signals = stream
    let source = DispatchSource.makeReadSource(fileDescriptor: readEnd, queue: .global())
    source.setEventHandler { @Sendable in
      var byte: UInt8 = 0
      while unsafe read(readEnd, &byte, 1) == 1 {
        if let signal = LifecycleSignal(rawValue: Int32(byte)) { continuation.yield(signal) }
      }
    }
    source.setCancelHandler { @Sendable in
      continuation.finish()
      close(readEnd)
      close(writeEnd)
    }
    source.activate()
    self.source = source
    previous = watched.map { signal in
      var action = sigaction()
      unsafe action.__sigaction_handler.sa_handler = noteSignal
      unsafe sigfillset(&action.sa_mask)
      action.sa_flags = SA_RESTART
      var old = sigaction()
      unsafe sigaction(signal.rawValue, &action, &old)
      return (signal, old)
    }
  }

  isolated deinit { giveBack() }

  /// Gives the signals back to whoever had them before; the stream ends.
  func giveBack() {
    if source.isCancelled { return }
    for (signal, action) in previous {
      var action = action
      unsafe sigaction(signal.rawValue, &action, nil)
    }
    noteDescriptor.store(-1, ordering: .sequentiallyConsistent)
    source.cancel()
  }

  /// Stops this process until somebody continues it, as Ctrl-Z would.
  nonisolated static func stopProcess() { kill(getpid(), SIGSTOP) }

  /// Ends this process by a signal, as if it had never been handled.
  nonisolated static func endProcess(by signal: LifecycleSignal) -> Never {
    var action = sigaction()
    unsafe action.__sigaction_handler.sa_handler = nil
    unsafe sigaction(signal.rawValue, &action, nil)
    var set = sigset_t()
    unsafe sigemptyset(&set)
    unsafe sigaddset(&set, signal.rawValue)
    unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
    kill(getpid(), signal.rawValue)
    exit(128 + signal.rawValue)
  }
}
#endif
