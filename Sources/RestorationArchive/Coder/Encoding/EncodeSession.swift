/// Owns the memory of one encoding: its state, its frames and its buffer go when nobody holds it any more.
///
/// Handles do not hold it: they ask their epochs, which stay.
final class EncodeSession {
  private let memory = SessionMemory()
  /// The buffer and the chain of values.
  let state: EncodeStateRef

  init(interner: ShapeInterner, capacity: Int) {
    state = EncodeStateRef(EncodeState(interner: interner, capacity: capacity, memory: memory), in: memory)
    state.pointee.root = EncodeFrameRef.make(state, parent: nil, info: interner.recordInfo)
  }

  deinit {
    state.pointee.dropChildren(downTo: 0)
    var next = state.pointee.root
    while let frame = next {
      next = frame.pointee.child
      EncodePool.giveBack(frame.pointee.epochs)
    }
  }
}

/// The encoding sessions that wait for the next value, so that a small one need not make its own.
enum EncodePool {
  private static let sessions = Pool<EncodeSession>(limit: 8)
  private static let children = Pool<EncodeSession>(limit: 64)
  private static let epochs = Pool<EncodeEpochs>(limit: .max)

  /// Lends a session with an interner of its own.
  static func withSession<Result>(_ body: (EncodeSession) throws -> Result) rethrows -> Result {
    let session = take()
    defer { giveBack(session) }
    return try body(session)
  }

  /// Takes a session with an interner of its own.
  static func take() -> EncodeSession {
    sessions.take() ?? EncodeSession(interner: ShapeInterner(), capacity: 4096)
  }

  /// Gives a session back.
  static func giveBack(_ session: EncodeSession) {
    session.state.pointee.reset()
    if session.state.pointee.interner.isBloated { session.state.pointee.attach(ShapeInterner()) }
    sessions.giveBack(session)
  }

  /// Takes a session for a nested container.
  static func takeChild(for interner: ShapeInterner) -> EncodeSession {
    guard let child = children.take() else {
      return EncodeSession(interner: interner, capacity: 240)
    }
    child.state.pointee.attach(interner)
    return child
  }

  /// Gives a nested container's session back.
  static func giveBack(child session: EncodeSession) {
    session.state.pointee.reset()
    session.state.pointee.owner = nil
    session.state.pointee.ownerKey = nil
    children.giveBack(session)
  }

  // MARK: Epochs

  /// Takes the epochs for a level; the maker of the frame assigns them to it.
  static func takeEpochs() -> EncodeEpochs {
    epochs.take() ?? EncodeEpochs(immortal: Epochs())
  }

  /// Gives the epochs of a level back.
  static func giveBack(_ level: EncodeEpochs) {
    level.pointee.assign(nil)
    epochs.giveBack(level)
  }
}
