internal import Dispatch
internal import Synchronization

/// An actor for the state that saving and loading share, off the main actor.
///
/// Store calls block on the disk, so they must not run on the cooperative pool, whose threads are few: it has a queue of its
/// own.
actor PreservationWorker<State> {
  private let executor: QueueExecutor
  private var state: State
  /// What nobody needs before something else is asked for.
  private let later = Mutex<[@Sendable (inout State) -> Void]>([])

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  init(label: String, state: sending State) {
    executor = QueueExecutor(label: label)
    self.state = state
  }

  /// Runs a body with the state, after everything that was asked for before; in a synchronous call the main thread waits.
  @MainActor func run<Value: Sendable, Failure: Error>(
    _ body: @Sendable (inout State) throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    guard Synchronous.isOn else { return try await runHere(body) }
    return try runNow { (state) in Result { () throws(Failure) in try body(&state) } }.get()
  }

  private func runHere<Value: Sendable, Failure: Error>(
    _ body: @Sendable (inout State) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    catchUp()
    return try body(&state)
  }

  /// Runs a body after everything that was asked for before, and blocks until its end.
  nonisolated func runNow<Value: Sendable>(_ body: @Sendable (inout State) -> Value) -> Value {
    // What was put off runs where it always does, and not on the thread that waits.
    if later.withLock({ !$0.isEmpty }) { executor.queue.async { self.assumeIsolated { $0.catchUp() } } }
    return executor.queue.sync { assumeIsolated { body(&$0.state) } }
  }

  /// Runs a body after everything that was asked for before, and does not wait for it.
  nonisolated func post(_ body: @escaping @Sendable (inout State) -> Void) {
    executor.queue.async {
      self.assumeIsolated {
        $0.catchUp()
        body(&$0.state)
      }
    }
  }

  /// Runs a body before whatever is asked for next: a launch does not do what only a save needs.
  ///
  /// Only while nothing that was asked for before waits: that would come after it.
  nonisolated func postpone(_ body: @escaping @Sendable (inout State) -> Void) {
    later.withLock { $0.append(body) }
  }

  private func catchUp() {
    let bodies = later.withLock { bodies in
      defer { bodies = [] }
      return bodies
    }
    for body in bodies { body(&state) }
  }
}

/// Runs an actor's jobs one after the other on a queue.
private final class QueueExecutor: SerialExecutor {
  let queue: DispatchQueue

  init(label: String) {
    queue = DispatchQueue(label: label, qos: .userInitiated)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
