internal import Dispatch

/// A serial queue off the main actor which owns what only it may touch.
///
/// Store calls block on the disk, so they must not run on the cooperative pool, whose threads are few.
final class PreservationWorker<State>: Sendable {
  private let queue: DispatchQueue
  /// Confined to `queue`: read and written inside `run` only.
  nonisolated(unsafe) private var state: State

  init(label: String, state: sending State) {
    queue = DispatchQueue(label: label, qos: .userInitiated)
    unsafe self.state = state
  }

  /// Runs a body with the state, after everything that was asked for before.
  func run<Value: Sendable>(_ body: @escaping @Sendable (inout State) -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: unsafe body(&self.state)) }
    }
  }

  /// Runs a body after everything that was asked for before, and blocks until then: for the end of the process.
  func runNow<Value: Sendable>(_ body: @Sendable (inout State) -> Value) -> Value {
    queue.sync { unsafe body(&self.state) }
  }

  /// Runs a body after everything that was asked for before, and does not wait for it.
  func post(_ body: @escaping @Sendable (inout State) -> Void) {
    queue.async { unsafe body(&self.state) }
  }

  /// Runs a body that may fail with a typed error.
  func run<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable (inout State) throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result: Result<Value, Failure> = await run { state in
      do throws(Failure) {
        return .success(try body(&state))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
