internal import Synchronization

/// Asynchronous code of the main actor as synchronous calls, for programs whose main actor gets no turns by itself.
@MainActor enum Synchronous {
  /// Whether the main thread waits for what is done elsewhere, instead of going on with something else.
  private(set) static var isOn = false

  /// Runs asynchronous code on this thread, from its beginning to its end; no loop is turned, and nothing else runs meanwhile.
  ///
  /// All that it awaits must be code of the main actor, or look at ``isOn`` and block. Operations that exclude each other must
  /// be free.
  static func run<Value, Failure: Error>(
    _ body: @escaping @MainActor () async throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let outcome = Outcome<Value, Failure>()
    let before = isOn
    isOn = true
    defer { isOn = before }
    HereActor().run {
      do throws(Failure) {
        outcome.result = .success(try await body())
      } catch {
        outcome.result = .failure(error)
      }
    }
    guard let result = outcome.result else {
      preconditionFailure("A synchronous call waits for the main actor, on which it runs.")
    }
    return try result.get()
  }
}

/// What a body that runs here comes to.
@MainActor private final class Outcome<Value, Failure: Error> {
  var result: Result<Value, Failure>?
}

/// An actor whose jobs are kept, to be run where the main actor stands: a task that begins there need not wait for a turn.
///
/// `Task.immediate` would do, but for one place: a block of the main queue after `dispatchMain()` is code of the main actor, on a
/// thread of which Swift does not know that.
private actor HereActor {
  private let executor = KeepingExecutor()

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// Runs a body up to where it waits for something; call this on the main actor.
  @MainActor func run(_ body: @escaping @MainActor () async -> Void) {
    _ = assumeIsolated { actor in
      Task {
        _ = actor
        await body()
      }
    }
    // The thread is that of the main actor, which stands still until this returns: its code may run here.
    while let job = executor.next() { unsafe job.runSynchronously(on: MainActor.sharedUnownedExecutor) }
  }
}

/// Keeps jobs until somebody runs them.
private final class KeepingExecutor: SerialExecutor {
  private let jobs = Mutex<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  func next() -> UnownedJob? { jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() } }

  /// Its only user begins a task on it, and nothing else.
  func checkIsolated() {}
}
