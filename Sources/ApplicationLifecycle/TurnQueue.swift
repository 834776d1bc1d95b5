/// Lets one request run at a time, in the order in which they came.
@MainActor final class TurnQueue {
  private var isTaken = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func begin() async {
    if !isTaken {
      isTaken = true
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  func end() {
    if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
  }
}

/// One piece of work that a kill can leave behind: the waiting ends, the work is cancelled.
@MainActor final class InterruptibleWork {
  private var continuation: CheckedContinuation<Void, Never>?
  private var task: Task<Void, Never>?
  private var identity: Int?

  /// Whether the caller runs in the task of this work, which would wait for itself if it waited for the work's end.
  var isRunningHere: Bool { identity != nil && identity == Self.currentTask }

  private static var currentTask: Int? { unsafe withUnsafeCurrentTask { unsafe $0?.hashValue } }

  func run(_ work: @escaping @MainActor () async -> Void) async {
    await withCheckedContinuation { continuation in
      self.continuation = continuation
      self.task = Task {
        // Interrupted before it began: the program has ended.
        if Task.isCancelled { return }
        self.identity = Self.currentTask
        await work()
        self.resume()
      }
    }
  }

  func interrupt() {
    task?.cancel()
    resume()
  }

  private func resume() {
    continuation?.resume()
    continuation = nil
    task = nil
    identity = nil
  }
}
