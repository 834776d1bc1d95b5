import Synchronization

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
  private struct Content: @unchecked Sendable {
    // Sendable: a session that is taken out has one user until it is given back.
    var sessions: [EncodeSession] = []
    var children: [EncodeSession] = []
    var epochs: [EncodeEpochs] = []
  }

  /// More sessions than these are freed when they are given back.
  private static let sessionLimit = 8
  private static let childLimit = 64
  private static let content = Mutex(Content())

  /// Lends a session with an interner of its own.
  static func withSession<Result>(_ body: (EncodeSession) throws -> Result) rethrows -> Result {
    let session = take()
    defer { giveBack(session) }
    return try body(session)
  }

  /// Takes a session with an interner of its own.
  static func take() -> EncodeSession {
    content.withLock { $0.sessions.popLast() } ?? EncodeSession(interner: ShapeInterner(), capacity: 4096)
  }

  /// Gives a session back.
  static func giveBack(_ session: EncodeSession) {
    session.state.pointee.reset()
    if session.state.pointee.interner.isBloated { session.state.pointee.attach(ShapeInterner()) }
    content.withLock { if $0.sessions.count < sessionLimit { $0.sessions.append(session) } }
  }

  /// Takes a session for a nested container.
  static func takeChild(for interner: ShapeInterner) -> EncodeSession {
    guard let child = content.withLock({ $0.children.popLast() }) else {
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
    content.withLock { if $0.children.count < childLimit { $0.children.append(session) } }
  }

  // MARK: Epochs

  /// Takes the epochs for a level; the maker of the frame assigns them to it.
  static func takeEpochs() -> EncodeEpochs {
    content.withLock { $0.epochs.popLast() } ?? EncodeEpochs(immortal: Epochs())
  }

  /// Gives the epochs of a level back.
  static func giveBack(_ epochs: EncodeEpochs) {
    epochs.pointee.assign(nil)
    content.withLock { $0.epochs.append(epochs) }
  }
}
