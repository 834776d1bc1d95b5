import Dispatch
import Synchronization

/// Stops a process before chosen calls of its store, so that others can act there.
///
/// While it is stopped every call is somebody else's, and passes.
@MainActor struct MeetingProcesses {
  private enum Event {
    case stopped(call: Int)
    case ended
  }

  /// The calls of the process, counted from one.
  private final class Calls: Sendable {
    private let state = Mutex((count: 0, isStopped: false))

    /// The number of the call that is made now; nil when it is somebody else's, or not one to stop at.
    func stop(at stops: Set<Int>) -> Int? {
      state.withLock { state in
        guard !state.isStopped else { return nil }
        state.count += 1
        state.isStopped = stops.contains(state.count)
        return state.isStopped ? state.count : nil
      }
    }

    func goOn() { state.withLock { $0.isStopped = false } }
  }

  let store: MemoryStore

  /// Makes a change in one process, and lets others act before some of its calls.
  ///
  /// - Returns: Whether the change made so many calls.
  func run(
    _ change: @escaping @MainActor () async throws -> Void, stoppingAt stops: Set<Int>,
    _ act: @MainActor (_ call: Int) async throws -> Void
  ) async throws -> Bool {
    let (events, sender) = AsyncStream.makeStream(of: Event.self)
    let released = DispatchSemaphore(value: 0)
    let calls = Calls()
    store.state.withLock {
      $0.gate = { _ in
        guard let call = calls.stop(at: stops) else { return }
        sender.yield(.stopped(call: call))
        released.wait()
      }
    }
    let changing = Task {
      defer { sender.yield(.ended) }
      try await change()
    }
    var reached = 0
    for await event in events {
      guard case .stopped(let call) = event else { break }
      defer {
        calls.goOn()
        released.signal()
      }
      reached += 1
      try await act(call)
    }
    store.state.withLock { $0.gate = nil }
    try await changing.value
    return reached == stops.count
  }
}
