import Dispatch

/// A thread on which a test may block, as the threads of Swift's tasks must not be: there are only as many as cores.
struct WaitingThread: Sendable {
  /// A serial queue of its own gets a thread whenever it has work, however many others are blocked.
  private let queue: DispatchQueue

  init(named name: String) { queue = DispatchQueue(label: name) }

  /// Runs something that blocks; the caller's task is suspended meanwhile.
  func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: body()) }
    }
  }
}
