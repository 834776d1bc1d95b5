internal import Observation

/// One value of a scope as a node of the hierarchy: it is given what is stored whatever its type.
@Observable @MainActor final class ScopeEntry: RestorableController, CodingObject {
  @ObservationIgnored let restoration: RestorationIdentity
  @ObservationIgnored let slot: ScopeSlot
  /// Older values that restoring could give, newest first, for the time that it gives one.
  @ObservationIgnored var older: [ScopeValue] = []
  /// Called when restoring has given the value.
  @ObservationIgnored private let wasGiven: () -> Void

  init(_ key: String, _ slot: ScopeSlot, wasGiven: @escaping () -> Void) {
    restoration = RestorationIdentity(key)
    self.slot = slot
    self.wasGiven = wasGiven
  }

  func encodeRestorableState(with coder: RestorationEncoder) {
    switch slot.value {
    case .absent, .refused, .stored: coder.leaveAsStored()
    case .encoded(let bytes, let version): coder.encodeScopeValue(bytes, forKey: ReservedKey.encodedState, version)
    case .copied(let value, let version): coder.encodeScopeValue(value, forKey: ReservedKey.state, version)
    }
  }

  func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    // Of values whose type is declared restoring itself gives the newest that can be read.
    let isDeclared = slot.isDeclared
    slot.give(try coder.takeScopeValue(), older: isDeclared ? [] : older)
    defer { wasGiven() }
    // A value whose type the program has not declared is decoded at the first question for it.
    do throws(RestorationError) {
      try slot.readAsDeclared()
      coder.noteUnknown(slot.unknownFields)
      if isDeclared { slot.giveOlder(older) }
    } catch {
      throw Self.unreadable(error)
    }
  }

  /// Why the entry did not get its value: the version is the value's, and a report's words for one would be about the entry's.
  static func unreadable(_ error: RestorationError) -> RestorationError {
    RestorationError(.unreadable, error.message, path: error.path, cause: error)
  }
}

/// A node that holds one value of a scope, as tests look at it.
@MainActor package protocol ScopeMember: RestorableController {
  /// What the program reads of the value, in a form that any type can be compared in; nil if there is none.
  func content<Content: Decodable>(as type: Content.Type) throws -> Content?

  /// What today's program does not read of the stored value: the names of fields, an empty one for all of it.
  ///
  /// - Throws: Why it can't be read as the type that the program has declared.
  func unread() throws(RestorationError) -> [String]
}

extension ScopeEntry: ScopeMember {
  func content<Content: Decodable>(as type: Content.Type) throws -> Content? { try slot.content(as: type) }
  func unread() throws(RestorationError) -> [String] { try slot.unread() }
}
