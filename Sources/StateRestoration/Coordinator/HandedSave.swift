internal import DataProtection
internal import FoundationShim
internal import RestorationArchive
internal import Synchronization

/// A save whose values are copied: the worker writes it, and the main actor takes note of how that went, once.
///
/// Any code of the main actor may take note: the save that has waited, a turn of a main loop, or a synchronous call that can't wait.
final class HandedSave: Sendable {
  /// What the worker made of it.
  struct Written: Sendable {
    var result: Result<PreservationSession.Saved, any Error>
    var base: PreservationSession.Base
    /// The mark at the new generation, for objects that come late; nil when there is none.
    var movedAttempt: (any RestorationAttempting)?
  }

  let batch: CaptureBatch
  /// The number of the capture that made it.
  let captureNumber: Int
  let context: RestorationArchive.Context
  let loader: StateLoader
  let scope: LiveTree.Scope
  let start: ContinuousClock.Instant
  let captureDuration: Duration
  /// Whether objects may come late, so that a new generation needs a mark, and whether restoring goes on in this moment.
  let attempt: (isNeeded: Bool, isOpen: Bool)

  private let state = Mutex<Written?>(nil)
  /// What it has come to; nil until somebody has taken note.
  @MainActor var outcome: Result<PreservationOutcome, RestorationError>?
  /// Goes on when the save is over: for one that nobody waits for.
  @MainActor var onEnd: (() -> Void)?

  init(
    batch: CaptureBatch, captureNumber: Int, context: RestorationArchive.Context, loader: StateLoader,
    scope: LiveTree.Scope, start: ContinuousClock.Instant, captureDuration: Duration,
    attempt: (isNeeded: Bool, isOpen: Bool)
  ) {
    self.batch = batch
    self.captureNumber = captureNumber
    self.context = context
    self.loader = loader
    self.scope = scope
    self.start = start
    self.captureDuration = captureDuration
    self.attempt = attempt
  }

  /// Writes it; on the worker.
  func write(_ session: inout PreservationSession) {
    let result = Result { try session.save(batch, context: context, loader: loader) }
    var written = Written(result: result, base: session.base)
    if attempt.isNeeded, case .success(let saved) = result, saved.written?.kind == .whole {
      written.movedAttempt = session.moveAttempt(isOpen: attempt.isOpen)
    }
    state.withLock { $0 = written }
  }

  /// What the worker made of it; nil as long as it is at it.
  var written: Written? { state.withLock { $0 } }
}

extension PreservationSession {
  /// Marks the newest state, for objects that come late; nil if that can't be done.
  func moveAttempt(isOpen: Bool) -> (any RestorationAttempting)? {
    guard let state = try? store.open(.newest) else { return nil }
    let moved = try? store.beginAttempt(at: state, isRequest: false)
    if !isOpen { moved?.end() }
    return moved
  }
}
