import Synchronization

/// Lets one asynchronous operation through at a time, in the order in which they came, without blocking a thread.
final class SerialGate: Sendable {
  private struct State {
    var isTaken = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  /// Waits for the gate.
  func enter() async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let isFree = state.withLock { state in
        if state.isTaken {
          state.waiters.append(continuation)
          return false
        }
        state.isTaken = true
        return true
      }
      if isFree { continuation.resume() }
    }
  }

  /// Takes the gate if it is free, and never waits.
  func tryEnter() -> Bool {
    state.withLock { state in
      guard !state.isTaken else { return false }
      state.isTaken = true
      return true
    }
  }

  /// Lets the next one through.
  func leave() {
    let next: CheckedContinuation<Void, Never>? = state.withLock { state in
      guard !state.waiters.isEmpty else {
        state.isTaken = false
        return nil
      }
      return state.waiters.removeFirst()
    }
    next?.resume()
  }
}
