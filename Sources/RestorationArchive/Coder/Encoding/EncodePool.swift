import Synchronization

/// The encoding states of the process.
///
/// A state's memory is never freed, so that stale handles stay harmless; there are as many as were ever
/// needed at once.
enum EncodePool {
  /// The pooled states.
  @safe private struct Content: @unchecked Sendable {
    // Sendable: whoever takes a state out is alone with it until it is given back.
    var states: [EncodeStateRef] = unsafe []
    var sides: [EncodeStateRef] = unsafe []
  }

  private static let content = Mutex(Content())

  /// Takes a state with a universe of its own.
  static func take() -> EncodeStateRef {
    if let state = unsafe content.withLock({ unsafe $0.states.popLast() }) { return unsafe state }
    return unsafe EncodeState.make(universe: EncodingUniverse(), capacity: 4096)
  }

  /// Gives a state back.
  static func giveBack(_ state: EncodeStateRef) {
    unsafe state.pointee.reset()
    if unsafe state.pointee.universe.isBloated { unsafe state.pointee.attach(EncodingUniverse()) }
    content.withLock { unsafe $0.states.append(state) }
  }

  /// Takes a state for a nested container.
  static func takeSide(for universe: EncodingUniverse) -> EncodeStateRef {
    guard let side = unsafe content.withLock({ unsafe $0.sides.popLast() }) else {
      let side = unsafe EncodeState.make(universe: universe, capacity: 240)
      unsafe side.pointee.epoch = universe.epoch
      return unsafe side
    }
    unsafe side.pointee.attach(universe)
    return unsafe side
  }

  /// Gives a nested container's state back.
  static func giveBack(side: EncodeStateRef) {
    unsafe side.pointee.reset()
    unsafe side.pointee.owner = nil
    unsafe side.pointee.ownerFacts = nil
    if unsafe side.pointee.ownerKey != nil { unsafe side.pointee.ownerKey = nil }
    content.withLock { unsafe $0.sides.append(side) }
  }
}
