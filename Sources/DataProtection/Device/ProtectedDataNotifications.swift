/// A device's notifications from the moment at which it was made, in their order, without end.
///
/// Nothing is lost when the consumer is slow. Each sequence is for one consumer; make one for each.
public struct ProtectedDataNotifications: AsyncSequence, Sendable {
  private let stream: AsyncStream<ProtectedDataNotification>

  init(_ announcer: Announcer) {
    stream = AsyncStream { continuation in
      let number = announcer.add { continuation.yield($0) }
      continuation.onTermination = { [weak announcer] _ in announcer?.remove(number) }
    }
  }

  /// Begins to take notifications.
  public func makeAsyncIterator() -> Iterator {
    Iterator(base: stream.makeAsyncIterator())
  }

  /// Takes one notification after the other.
  public struct Iterator: AsyncIteratorProtocol {
    var base: AsyncStream<ProtectedDataNotification>.Iterator

    /// Waits for the next notification; `nil` only when the task is cancelled or the device is gone.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> ProtectedDataNotification? {
      await base.next(isolation: actor)
    }
  }
}
