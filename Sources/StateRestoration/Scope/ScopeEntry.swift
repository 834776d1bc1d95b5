internal import Observation

/// One value of a scope as a node of the hierarchy: it is given what is stored whatever its type.
@Observable @MainActor final class ScopeEntry: CodingController {
  @ObservationIgnored let restoration: RestorationIdentity
  @ObservationIgnored let slot: ScopeSlot
  /// Whether another entry has taken over the key, while what is stored for this one stays: nobody could read it.
  @ObservationIgnored private(set) var isRelieved = false

  /// Called when restoring has given the value.
  @ObservationIgnored private let wasGiven: () -> Void

  init(_ key: String, _ slot: ScopeSlot, wasGiven: @escaping () -> Void) {
    restoration = RestorationIdentity(RestorationIdentifier(key))
    self.slot = slot
    self.wasGiven = wasGiven
  }

  /// Leaves the key to another entry, and the stored value where it is.
  func relieve() { isRelieved = true }

  func encodeRestorableState(with coder: RestorationEncoder) {
    switch slot.value {
    case .absent, .refused, .stored: coder.leaveAsStored()
    case .encoded(let bytes, let version): coder.encodeScopeValue(bytes, forKey: ReservedKey.encodedState, version)
    case .copied(let value, let version): coder.encodeScopeValue(value, forKey: ReservedKey.state, version)
    }
  }

  func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    slot.give(try coder.takeScopeValue())
    wasGiven()
  }
}
