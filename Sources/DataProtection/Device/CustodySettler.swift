import Dispatch
import Sealing
import Synchronization

/// Runs the work of a custody, which may hang, one run after the other on a thread of its own.
final class CustodySettler: Sendable {
  private struct State {
    var isRunning = false
    var requestCount: UInt64 = 0
    var waiters: [(request: UInt64, done: DispatchSemaphore)] = []
  }

  private let state = Mutex(State())

  /// Has the work run, and waits for it so long.
  ///
  /// A run that comes while another one waits is the same run. Without a thread it runs here.
  func run(within patience: Duration, _ work: @escaping @Sendable () -> Void) {
    let done = DispatchSemaphore(value: 0)
    let needsThread = state.withLock { state in
      state.requestCount += 1
      state.waiters.append((state.requestCount, done))
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if needsThread, !DetachedThread.start({ self.serve(work) }) { serve(work) }
    _ = done.wait(timeout: .now() + patience / .seconds(1))
  }

  private func serve(_ work: @Sendable () -> Void) {
    while true {
      let request = state.withLock { $0.requestCount }
      work()
      let (done, isLast) = state.withLock { state in
        let done = state.waiters.filter { $0.request <= request }.map(\.done)
        state.waiters.removeAll { $0.request <= request }
        state.isRunning = state.requestCount != request
        return (done, !state.isRunning)
      }
      for waiter in done { waiter.signal() }
      if isLast { return }
    }
  }
}
