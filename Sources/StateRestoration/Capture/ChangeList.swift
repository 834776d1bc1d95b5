internal import Synchronization

/// Collects which objects changed, from any thread; wakes its owner once per burst.
///
/// Observation calls back on whatever thread made the change and before the value changes, so nothing is captured here.
final class ChangeList: Sendable {
  private struct State {
    var keys: [Int] = []
    var isAwake = false
  }

  private let state = Mutex(State())
  private let wake: @Sendable () -> Void

  /// `wake` is called, on any thread, at the first change after the last drain.
  init(wake: @escaping @Sendable () -> Void) {
    self.wake = wake
  }

  /// Notes that an object changed.
  func mark(_ key: Int) {
    let isFirst = state.withLock { state in
      state.keys.append(key)
      defer { state.isAwake = true }
      return !state.isAwake
    }
    if isFirst { wake() }
  }

  /// Takes the keys noted since the last call, in order, with repetitions.
  func drain() -> [Int] {
    state.withLock { state in
      defer {
        state.keys.removeAll(keepingCapacity: true)
        state.isAwake = false
      }
      return state.keys
    }
  }

  /// Whether nothing was noted since the last drain.
  var isEmpty: Bool { state.withLock { $0.keys.isEmpty } }
}
