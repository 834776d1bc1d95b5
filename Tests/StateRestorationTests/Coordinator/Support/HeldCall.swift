import Dispatch
import Synchronization

/// A call of the store that is not answered before it is released.
struct HeldCall: Sendable {
  /// No such call was made in time.
  struct Missing: Error {
    let call: String
  }

  private let call: String
  private let arrivals: AsyncStream<Void>
  private let semaphore = DispatchSemaphore(value: 0)

  fileprivate init(_ call: String, _ arrivals: AsyncStream<Void>) {
    self.call = call
    self.arrivals = arrivals
  }

  /// Waits until somebody has made the call; throws when nobody does within twenty seconds.
  func arrived() async throws {
    try await withThrowingTaskGroup { [call, arrivals] group in
      group.addTask { for await _ in arrivals { return } }
      group.addTask {
        try await Task.sleep(for: .seconds(20))
        throw Missing(call: call)
      }
      try await group.next()
      group.cancelAll()
    }
  }

  /// Lets whoever made the call go on.
  func release() { semaphore.signal() }

  fileprivate func wait() { semaphore.wait() }
}

extension MemoryStore {
  /// Holds whoever makes the next call of a name.
  func hold(at name: String) -> HeldCall {
    let (arrivals, continuation) = AsyncStream.makeStream(of: Void.self)
    let held = HeldCall(name, arrivals)
    let isHeld = Atomic(false)
    state.withLock {
      $0.gate = { call in
        guard call == name, !isHeld.exchange(true, ordering: .acquiringAndReleasing) else { return }
        continuation.yield()
        held.wait()
      }
    }
    return held
  }
}
