import Synchronization

/// The decoding states of the process.
///
/// Their memory is never freed, so that stale handles stay harmless; there are as many as were ever needed at
/// once.
enum DecodePool {
  /// The pooled states and chains of frames.
  @safe
  private struct Content: @unchecked Sendable {
    // Sendable: whoever takes something out is alone with it until it is given back.
    var states: [DecodeStateRef] = unsafe []
    var chains: [DecodeFrameRef] = unsafe []
    var identity: UInt64 = 0
  }

  private static let content = Mutex(Content())

  /// A number that no tables had before.
  static func makeIdentity() -> UInt64 {
    content.withLock {
      $0.identity += 1
      return $0.identity
    }
  }

  /// Takes a state, if possible one that knows the tables.
  static func take(for identity: UInt64 = 0) -> DecodeStateRef {
    let pooled: DecodeStateRef? = unsafe content.withLock { content in
      guard identity != 0,
        let index = unsafe content.states.lastIndex(where: { unsafe $0.pointee.tablesIdentity == identity })
      else { return unsafe content.states.popLast() }
      return unsafe content.states.remove(at: index)
    }
    return unsafe pooled ?? DecodeState.make()
  }

  /// Gives a state back.
  static func giveBack(_ state: DecodeStateRef) {
    unsafe state.pointee.epoch += 1
    unsafe state.pointee.root.finish()
    unsafe state.pointee.base = DecodeState.nowhere
    unsafe state.pointee.end = DecodeState.nowhere
    if unsafe !state.pointee.userInfo.isEmpty { unsafe state.pointee.userInfo = [:] }
    content.withLock { unsafe $0.states.append(state) }
  }

  /// Takes a chain of frames for a nested container.
  static func takeChain(for state: DecodeStateRef) -> DecodeFrameRef {
    if let chain = unsafe content.withLock({ unsafe $0.chains.popLast() }) { return unsafe chain }
    let chain = DecodeFrameRef.allocate(capacity: 1)
    unsafe chain.initialize(to: DecodeFrame(state: state, parent: nil))
    return unsafe chain
  }

  /// Gives a chain back.
  static func giveBack(chain: DecodeFrameRef) {
    unsafe chain.finish()
    unsafe chain.pointee.owner = nil
    content.withLock { unsafe $0.chains.append(chain) }
  }
}
