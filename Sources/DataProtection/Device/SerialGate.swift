internal import Dispatch
import Synchronization

/// Lets one operation through at a time, in the order in which they came.
final class SerialGate: Sendable {
  private struct State {
    var isTaken = false
    /// What lets each of those through who wait.
    var waiters: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())

  /// Waits for the gate, without blocking a thread.
  func enter() async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      enter { continuation.resume() }
    }
  }

  /// Waits for the gate, and blocks the thread meanwhile.
  func enterNow() {
    let turn = DispatchSemaphore(value: 0)
    enter { turn.signal() }
    turn.wait()
  }

  private func enter(_ go: @escaping @Sendable () -> Void) {
    let isFree = state.withLock { state in
      if state.isTaken {
        state.waiters.append(go)
        return false
      }
      state.isTaken = true
      return true
    }
    if isFree { go() }
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
    let next: (@Sendable () -> Void)? = state.withLock { state in
      guard !state.waiters.isEmpty else {
        state.isTaken = false
        return nil
      }
      return state.waiters.removeFirst()
    }
    next?()
  }
}
