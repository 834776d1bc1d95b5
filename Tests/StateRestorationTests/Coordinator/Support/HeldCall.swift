import Dispatch
import Synchronization

/// Keeps a thread waiting until somebody opens it.
struct Gate: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func open() { semaphore.signal() }

  func wait() { semaphore.wait() }
}

extension MemoryStore {
  /// Holds whoever makes the next call of a name until the gate is opened; the stream tells that somebody has come.
  func hold(at held: String) -> (arrived: AsyncStream<Void>, gate: Gate) {
    let (arrived, continuation) = AsyncStream.makeStream(of: Void.self)
    let gate = Gate()
    let isHeld = Atomic(false)
    state.withLock {
      $0.gate = { call in
        guard call == held, !isHeld.exchange(true, ordering: .acquiringAndReleasing) else { return }
        continuation.yield()
        gate.wait()
      }
    }
    return (arrived, gate)
  }
}
