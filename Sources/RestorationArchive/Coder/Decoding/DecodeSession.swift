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
  private static let sessions = Pool<DecodeSession>(limit: 8)
  private static let epochs = Pool<DecodeEpochs>(limit: .max)
  private static let lastIdentity = Atomic<UInt64>(0)

  /// A number that no tables had before.
  static func makeIdentity() -> UInt64 { lastIdentity.add(1, ordering: .relaxed).newValue }

  /// Lends a session, if possible one that knows the tables.
  @inline(__always)
  static func withSession<Result>(
    for identity: UInt64 = 0, _ body: (DecodeSession) throws -> Result
  ) rethrows -> Result {
    let session = sessions.take { identity == 0 || $0.state.pointee.tablesIdentity == identity } ?? DecodeSession()
    defer {
      session.state.pointee.end()
      sessions.giveBack(session)
    }
    return try body(session)
  }

  /// Takes the epochs for a level; the maker of the frame assigns them to it.
  static func takeEpochs() -> DecodeEpochs {
    epochs.take() ?? DecodeEpochs(immortal: Epochs())
  }

  /// Gives the epochs of a level back.
  static func giveBack(_ level: DecodeEpochs) {
    level.pointee.assign(nil)
    epochs.giveBack(level)
  }
}
