import Synchronization

/// Owns the memory of one decoding: its state and its frames.
///
/// Handles do not hold it: they ask their epochs, which stay.
final class DecodeSession {
  private let memory = SessionMemory()
  /// The bytes and the chain of values.
  let state: DecodeStateRef

  init() {
    state = DecodeStateRef(DecodeState(memory: memory), in: memory)
    state.pointee.root = DecodeFrameRef.make(state, parent: nil)
  }

  deinit {
    for chain in state.pointee.chains + (state.pointee.root.map { [$0] } ?? []) {
      var next: DecodeFrameRef? = chain
      while let frame = next {
        next = frame.pointee.child
        DecodePool.giveBack(frame.pointee.epochs)
      }
    }
  }
}

/// Keeps the frames of a nested container or a super decoder for as long as somebody holds it.
///
/// A program that walks through a million nested containers so needs the memory of one.
final class NestedDecoding {
  /// The frame of the nested value.
  let frame: DecodeFrameRef
  private let epochs: DecodeEpochs
  private let epoch: UInt64

  /// Makes the frame for a payload.
  init(_ tag: UInt8, at start: Int, path: [any CodingKey], inside parent: DecodeFrameRef) throws {
    let state = parent.pointee.state
    let depth = parent.pointee.depth + 1
    if depth > state.pointee.depthLimit { throw parent.tooDeep(at: start) }
    frame = state.pointee.takeChain { DecodeFrameRef.make(state, parent: nil) }
    frame.begin(tag, at: start, depth: depth)
    frame.pointee.basePath = path
    epochs = frame.pointee.epochs
    epoch = epochs.pointee.value
  }

  deinit {
    // When the decoding has ended, its end took the frame back.
    guard epochs.pointee.knows(epoch) else { return }
    frame.finish()
    frame.pointee.basePath = []
    frame.pointee.state.pointee.freeChains.append(frame)
  }
}

/// The decoding sessions that wait for the next value, so that a small one need not make its own.
enum DecodePool {
  private struct Content: @unchecked Sendable {
    // Sendable: a session that is taken out has one user until it is given back.
    var sessions: [DecodeSession] = []
    var epochs: [DecodeEpochs] = []
    var identity: UInt64 = 0
  }

  /// More sessions than these are freed when they are given back.
  private static let sessionLimit = 8
  private static let content = Mutex(Content())

  /// A number that no tables had before.
  static func makeIdentity() -> UInt64 {
    content.withLock {
      $0.identity += 1
      return $0.identity
    }
  }

  /// Lends a session, if possible one that knows the tables.
  @inline(__always)
  static func withSession<Result>(
    for identity: UInt64 = 0, _ body: (DecodeSession) throws -> Result
  ) rethrows -> Result {
    let session = take(for: identity)
    defer { giveBack(session) }
    return try body(session)
  }

  private static func take(for identity: UInt64) -> DecodeSession {
    let pooled: DecodeSession? = content.withLock { content in
      guard identity != 0,
        let index = content.sessions.lastIndex(where: { $0.state.pointee.tablesIdentity == identity })
      else { return content.sessions.popLast() }
      return content.sessions.remove(at: index)
    }
    return pooled ?? DecodeSession()
  }

  private static func giveBack(_ session: DecodeSession) {
    session.state.pointee.end()
    content.withLock { if $0.sessions.count < sessionLimit { $0.sessions.append(session) } }
  }

  /// Takes the epochs for a level; the maker of the frame assigns them to it.
  static func takeEpochs() -> DecodeEpochs {
    content.withLock { $0.epochs.popLast() } ?? DecodeEpochs(immortal: Epochs())
  }

  /// Gives the epochs of a level back.
  static func giveBack(_ epochs: DecodeEpochs) {
    epochs.pointee.assign(nil)
    content.withLock { $0.epochs.append(epochs) }
  }
}
