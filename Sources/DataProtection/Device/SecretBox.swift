import Sealing
import Synchronization

/// A secret that a lock takes from all who share it.
protocol TakenAtLock: AnyObject, Sendable {
  /// Wipes it, now or when the computation ends that uses it; waits for nobody.
  func take()
}

/// A secret that several hold, and that is taken from all of them at once.
///
/// Code that may wait for a disk, a custody or a person holds a box and not the secret, so that a lock finds it. A result
/// that was computed while the secret was taken is not given out.
///
/// `@unchecked Sendable`: the content changes in the box's turn, and never while somebody uses it.
///
/// The class asks nothing of its content: to make a class whose content conforms to a protocol the runtime searches all
/// conformances of the program, in each launch.
final class SecretBox<Content: ~Copyable & Sendable>: TakenAtLock, @unchecked Sendable {
  let byteCount: Int

  private struct Use {
    var count = 0
    var isTaken = false
  }

  private let use = Mutex(Use())
  private var content: Content?

  init(_ content: consuming Content) where Content: Secret {
    byteCount = content.byteCount
    self.content = consume content
  }

  func take() {
    let isFree = use.withLock { use in
      defer { use.isTaken = true }
      return !use.isTaken && use.count == 0
    }
    // Nobody uses it any more, and nobody will.
    if isFree { content = nil }
  }

  /// Whether it was taken.
  var isTaken: Bool { use.withLock { $0.isTaken } }

  /// Lends the secret to a computation; throws an error made of `keyWiped` when it was taken before its end.
  func lend<R: ~Copyable, E: Error>(
    orThrow failure: (SealingError) -> E, to body: (borrowing Content) throws(E) -> R
  ) throws(E) -> R {
    let isThere = use.withLock { use in
      guard !use.isTaken else { return false }
      use.count += 1
      return true
    }
    guard isThere else { throw failure(.takenByLock) }
    let result: R
    do throws(E) {
      result = try body(content!)
    } catch {
      _ = leave()
      throw error
    }
    guard leave() else { throw failure(.takenByLock) }
    return result
  }

  /// Ends a use; returns whether the secret is still there.
  private func leave() -> Bool {
    let use = self.use.withLock { use in
      use.count -= 1
      return use
    }
    if use.isTaken, use.count == 0 { content = nil }
    return !use.isTaken
  }

  /// Lends the secret to a cryptographic computation.
  func lend<R: ~Copyable>(
    to body: (borrowing Content) throws(SealingError) -> R
  ) throws(SealingError) -> R {
    try lend(orThrow: { (error: SealingError) in error }, to: body)
  }
}

extension SecretBox: Secret where Content: Secret & ~Copyable {
  func withBytes<Result: ~Copyable>(
    _ body: (Span<UInt8>) throws(SealingError) -> Result
  ) throws(SealingError) -> Result {
    try lend { (content) throws(SealingError) in try content.withBytes(body) }
  }
}

extension SealingError {
  /// An operation that a lock has overtaken.
  static let takenByLock = SealingError(.keyWiped, "The device was locked meanwhile; unlock it and try again.")
}

/// The secrets that an operation has in memory, as long as they are not the key ring's.
///
/// Kept weakly: each goes with the operation's last use of it, or with a lock.
final class OperationSecrets: Sendable {
  private struct Taker: Sendable {
    let secret: ObjectIdentifier
    let take: @Sendable () -> Void
  }

  private struct State {
    var isTaken = false
    var takers: [Taker] = []
  }

  private let state = Mutex(State())

  /// Notes a secret; one that comes after a lock is taken at once.
  func add(_ secret: any TakenAtLock) {
    let isTaken = state.withLock { state in
      if !state.isTaken {
        state.takers.append(Taker(secret: ObjectIdentifier(secret)) { [weak secret] in secret?.take() })
      }
      return state.isTaken
    }
    if isTaken { secret.take() }
  }

  /// Notes the keys of a keybag, but for that of `none`, which no lock takes.
  func add(_ keys: KeybagKeys) {
    for key in keys.lockable { add(key) }
  }

  /// Forgets keys that are the key ring's from here on.
  func release(_ keys: KeybagKeys) {
    let released = Set(keys.lockable.map { ObjectIdentifier($0) })
    state.withLock { $0.takers.removeAll { released.contains($0.secret) } }
  }

  /// Forgets all of them, which are the key ring's from here on.
  func forget() {
    state.withLock { $0.takers = [] }
  }

  /// Takes all of them, and those that come later.
  func take() {
    let takers = state.withLock { state in
      defer { state = State(isTaken: true) }
      return state.takers
    }
    for taker in takers { taker.take() }
  }
}
