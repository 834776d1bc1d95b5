import Synchronization

/// A lock without a value, for sections whose results need not be `Sendable`.
struct Turn: ~Copyable, Sendable {
  private let mutex = Mutex<Void>(())

  /// Runs the body while nobody else has the turn.
  ///
  /// It isn't recursive.
  borrowing func take<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    var outcome: Result<R, E>?
    mutex.withLock { _ in
      do throws(E) {
        outcome = .success(try body())
      } catch {
        outcome = .failure(error)
      }
    }
    return try outcome!.get()
  }
}

/// A turn that several objects have.
final class SharedTurn: Sendable {
  private let turn = Turn()

  /// Runs the body while nobody else has the turn.
  func take<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R { try turn.take(body) }
}
