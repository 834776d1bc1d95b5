import Dispatch
import Synchronization

// The one file that knows the platform's signal calls. Only glibc is tested.
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Darwin
#endif

/// The write end of the pipe, for the handler: a constant global, so that reading it takes no lock.
private let noteDescriptor = Atomic<Int32>(-1)

/// The process that has taken the signals over: a child that it forks has the handler, too, and writes into the same pipe.
private let owner = Atomic<Int32>(0)

/// Whether a pipe is open in this process.
private let isTaken = Atomic<Bool>(false)

/// The only code that runs inside a signal handler: it notes the signal in the pipe, and leaves `errno` as it was.
private func noteSignal(_ number: Int32) {
  guard getpid() == owner.load(ordering: .relaxed) else { return takeAsBefore(number) }
  let saved = errno
  var byte = UInt8(truncatingIfNeeded: number)
  // A full pipe means that enough is noted already; there is nobody to tell about any other failure.
  _ = unsafe write(noteDescriptor.load(ordering: .relaxed), &byte, 1)
  errno = saved
}

/// In a forked child: the signal does what it does in a program without a handler, once this one has returned.
private func takeAsBefore(_ number: Int32) {
  var action = sigaction()
  action.handler = nil
  unsafe sigaction(number, &action, nil)
  raise(number)
}

/// Signals of this process, out of their handlers.
///
/// Signal actions belong to the whole process, so only one pipe can be open at a time.
@MainActor final class SignalPipe {
  private let source: any DispatchSourceRead
  private let previous: [(Lifecycle.Signal, sigaction)]

  /// The two ends; made once and never closed, because a handler may still be about to write when a pipe is given back.
  private static let ends: (read: Int32, write: Int32)? = {
    guard let ends = HostProcess.makePipe() else { return nil }
    noteDescriptor.store(ends.write, ordering: .sequentiallyConsistent)
    return ends
  }()

  nonisolated static let queue = DispatchQueue(label: "state-restoration.signals")

  /// Takes over the signals; `nil` when another pipe has them, or the system has no descriptor left.
  ///
  /// - Parameters:
  ///   - watched: The signals.
  ///   - deliver: Called for each, in the order of their arrival, on a thread of its own, until the pipe is given back.
  init?(_ watched: Set<Lifecycle.Signal>, deliver: @escaping @Sendable (Lifecycle.Signal) -> Void) {
    guard let ends = Self.ends,
      isTaken.compareExchange(expected: false, desired: true, ordering: .sequentiallyConsistent).exchanged
    else { return nil }
    // What an earlier pipe was given and nobody took is nobody's business any more.
    while Self.takeNote(ends.read) != nil {}
    let source = DispatchSource.makeReadSource(fileDescriptor: ends.read, queue: Self.queue)
    source.setEventHandler { @Sendable in
      while let byte = Self.takeNote(ends.read) {
        if let signal = Lifecycle.Signal(number: Int32(byte)) { deliver(signal) }
      }
    }
    source.activate()
    self.source = source
    owner.store(getpid(), ordering: .sequentiallyConsistent)
    previous = watched.compactMap(Self.takeOver)
  }

  nonisolated private static func takeNote(_ descriptor: Int32) -> UInt8? {
    var byte: UInt8 = 0
    return unsafe read(descriptor, &byte, 1) == 1 ? byte : nil
  }

  /// Takes over one signal; `nil`, and nothing changes, when it is ignored: its sender means nobody to act on it.
  private static func takeOver(_ signal: Lifecycle.Signal) -> (Lifecycle.Signal, sigaction)? {
    var old = sigaction()
    unsafe sigaction(signal.number, nil, &old)
    let ignored = 1  // SIG_IGN
    guard unsafe unsafeBitCast(old.handler, to: Int.self) != ignored else { return nil }
    var action = sigaction()
    action.handler = noteSignal
    unsafe sigfillset(&action.sa_mask)
    action.sa_flags = SA_RESTART
    unsafe sigaction(signal.number, &action, nil)
    return (signal, old)
  }

  isolated deinit { giveBack() }

  /// Gives the signals back to their former handlers.
  func giveBack() {
    if source.isCancelled { return }
    for (signal, action) in previous {
      var action = action
      unsafe sigaction(signal.number, &action, nil)
    }
    source.cancel()
    isTaken.store(false, ordering: .sequentiallyConsistent)
  }

  /// Stops this process until somebody continues it, as Ctrl-Z would.
  nonisolated static func stopProcess() { kill(getpid(), SIGSTOP) }

  /// Ends this process by a signal, as if it had never been handled; by Ctrl-Z, which ends nothing, with success.
  nonisolated static func endProcess(by signal: Lifecycle.Signal) -> Never {
    guard signal.isEnd else { exit(0) }
    var action = sigaction()
    action.handler = nil
    unsafe sigaction(signal.number, &action, nil)
    var set = sigset_t()
    unsafe sigemptyset(&set)
    unsafe sigaddset(&set, signal.number)
    unsafe pthread_sigmask(SIG_UNBLOCK, &set, nil)
    // To this thread: one that dumps core ends the process only when its thread takes it, and others would go on.
    raise(signal.number)
    exit(128 + signal.number)
  }
}

extension Lifecycle.Signal {
  /// The system's number, which differs between systems.
  package var number: Int32 {
    switch self {
    case .hangUp: SIGHUP
    case .interrupt: SIGINT
    case .quit: SIGQUIT
    case .terminate: SIGTERM
    case .resume: SIGCONT
    case .terminalStop: SIGTSTP
    }
  }

  /// The signal of a number; nil for another one.
  init?(number: Int32) {
    guard let signal = Self.allCases.first(where: { $0.number == number }) else { return nil }
    self = signal
  }
}

// The handler lies in another member in each C library; nil is what the system does without one.
extension sigaction {
  fileprivate typealias Handler = @convention(c) (Int32) -> Void

  #if canImport(Glibc)
  fileprivate var handler: Handler? {
    get { unsafe __sigaction_handler.sa_handler }
    set { unsafe __sigaction_handler.sa_handler = newValue }
  }
  #elseif canImport(Musl)
  fileprivate var handler: Handler? {
    get { unsafe __sa_handler.sa_handler }
    set { unsafe __sa_handler.sa_handler = newValue }
  }
  #elseif canImport(Android)
  fileprivate var handler: Handler? {
    get { unsafe sa_handler }
    set { unsafe sa_handler = newValue }
  }
  #else
  fileprivate var handler: Handler? {
    get { unsafe __sigaction_u.__sa_handler }
    set { unsafe __sigaction_u.__sa_handler = newValue }
  }
  #endif
}
