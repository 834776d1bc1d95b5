/// The events while a program was suspended: one entry per kind, with the net change.
package struct NotificationQueue: Sendable, Hashable {
  private var order: [Lifecycle.Notification.Kind] = []
  private var contents: [Lifecycle.Notification.Kind: Lifecycle.Notification.Content] = [:]

  /// Makes an empty queue.
  package init() {}

  /// Adds a notification, or merges it with the one of its kind.
  package mutating func add(_ notification: Lifecycle.Notification) {
    guard let earlier = contents[notification.kind] else {
      order.append(notification.kind)
      contents[notification.kind] = notification.content
      return
    }
    contents[notification.kind] =
      switch (earlier, notification.content) {
      case (.change(let first, _), .change(_, let last)): .change(from: first, to: last)
      // A kind is either an occurrence or a change; where a driver mixes them, the news is the later one.
      case (_, let later): later
      }
  }

  /// Takes out everything in the order of first arrival, without changes that came to nothing.
  package mutating func drain() -> [Lifecycle.Notification] {
    defer { self = NotificationQueue() }
    return order.compactMap { kind in
      guard let content = contents[kind] else { return nil }
      if case .change(let from, let to) = content, from == to { return nil }
      return Lifecycle.Notification(kind, content)
    }
  }
}
