extension Lifecycle {
  /// A piece of work that goes on in the background; ended exactly once.
  public struct BackgroundTask: Sendable, Hashable, CustomStringConvertible {
    /// The number of the task in its program.
    package let id: UInt64

    /// What the work is called, for reports.
    public let name: String

    /// The name.
    public var description: String { name }
  }
}

/// The open background tasks of one program, in the order in which they began.
struct BackgroundTasks {
  struct Open {
    let task: Lifecycle.BackgroundTask
    let expirationHandler: @MainActor () -> Void
  }

  private(set) var open: [Open] = []
  private var lastID: UInt64 = 0

  mutating func begin(name: String, expirationHandler: @escaping @MainActor () -> Void) -> Lifecycle.BackgroundTask {
    lastID += 1
    let task = Lifecycle.BackgroundTask(id: lastID, name: name)
    open.append(Open(task: task, expirationHandler: expirationHandler))
    return task
  }

  /// Whether the task was open.
  mutating func end(_ task: Lifecycle.BackgroundTask) -> Bool {
    guard let index = open.firstIndex(where: { $0.task == task }) else { return false }
    open.remove(at: index)
    return true
  }

  /// Whether the task was begun and not ended.
  func isOpen(_ task: Lifecycle.BackgroundTask) -> Bool { open.contains { $0.task == task } }

  mutating func endAll() { open = [] }
}
