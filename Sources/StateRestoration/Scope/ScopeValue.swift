internal import FoundationShim
internal import Observation
internal import RestorationArchive
internal import Synchronization

/// A value of a scope, in the form that it was last given in.
enum ScopeValue: Sendable {
  /// There is none.
  case absent
  /// One is stored that restoring did not give: damaged, left out after a crash.
  case refused
  /// As it is stored; nobody has changed it in this run.
  case stored(RecordedValue, StateVersion)
  /// Encoded where it was set.
  case encoded(Data, StateVersion)
  /// A copy, to be encoded by the save.
  case copied(any Codable & Sendable, StateVersion)
}

/// The place of one value in a scope: read and written on any thread, and observed.
final class ScopeSlot: Observable, Sendable {
  private struct State {
    var value = ScopeValue.absent
    /// The stored value as it was last decoded, while it is the one.
    var decoded: (any Sendable)?
    /// Whether somebody asked for the stored value and could not be given it: a new one lies beside it.
    var isUnread = false
    /// Whether a value was set beside the stored one since the scope has last looked.
    var isBeside = false
    /// Whether the scope has a node for it.
    var isListed = false

    /// Takes another value.
    mutating func take(_ value: ScopeValue) { (self.value, decoded, isUnread) = (value, nil, false) }
  }

  private let state = Mutex(State())
  private let registrar = ObservationRegistrar()
  /// What is observed; the value itself has no one type.
  private var revision: Int { 0 }

  /// Whether there is a value, given or not.
  var isAbsent: Bool {
    registrar.access(self, keyPath: \.revision)
    return state.withLock { if case .absent = $0.value { true } else { false } }
  }

  /// The value, for a save.
  var value: ScopeValue {
    registrar.access(self, keyPath: \.revision)
    return state.withLock { $0.value }
  }

  /// Whether a value was set beside one that nobody could read, since this was last asked.
  func takeIsBeside() -> Bool {
    state.withLock { state in
      defer { state.isBeside = false }
      return state.isBeside
    }
  }

  /// Notes whether the scope has a node for it.
  func noteListed(_ isListed: Bool) { state.withLock { $0.isListed = isListed } }

  /// Takes the value that restoring gives.
  func give(_ value: ScopeValue) {
    registrar.withMutation(of: self, keyPath: \.revision) {
      state.withLock { state in
        state.take(value)
        state.isBeside = false
      }
    }
  }

  /// Sets another value, or none.
  ///
  /// - Returns: Whether the scope has to look at its nodes.
  @discardableResult
  func set(_ value: ScopeValue) -> Bool {
    defer { ChangesElsewhere.note { registrar.withMutation(of: self, keyPath: \.revision) {} } }
    return registrar.withMutation(of: self, keyPath: \.revision) {
      state.withLock { state in
        switch state.value {
        case .refused: state.isBeside = true
        case .stored: if state.isUnread { state.isBeside = true }
        case .absent, .encoded, .copied: break
        }
        state.take(value)
        return state.isBeside || !state.isListed
      }
    }
  }

  /// Decodes the value; nil if there is none.
  func read<Value: Decodable>(as type: Value.Type) throws(RestorationError) -> Value? {
    registrar.access(self, keyPath: \.revision)
    let (value, decoded) = state.withLock { ($0.value, $0.decoded) }
    if let decoded = decoded as? Value { return decoded }
    return try read(value) { (state) throws(RestorationError) in try state.decode(type) }
  }

  /// Decodes the value once for all who ask; nil if there is none.
  func read<Value: Codable & Sendable>(
    as type: Value.Type, completingFrom launch: Value
  ) throws(RestorationError) -> Value? {
    registrar.access(self, keyPath: \.revision)
    let (value, decoded) = state.withLock { ($0.value, $0.decoded) }
    if let decoded = decoded as? Value { return decoded }
    let read = try read(value) { (state) throws(RestorationError) in
      try state.decode(type, completingFrom: launch)
    }
    if case .stored = value, let read {
      state.withLock { if case .stored = $0.value { $0.decoded = read } }
    }
    return read
  }

  private func read<Value: Decodable>(
    _ value: ScopeValue, _ decode: (RecordedValue) throws(RestorationError) -> Value
  ) throws(RestorationError) -> Value? {
    switch value {
    case .absent: return nil
    case .refused:
      throw RestorationError(
        .unreadable, "What is stored under the key was not given; the report of the restoration says why.")
    case .stored(let stored, let version):
      do throws(RestorationError) {
        return try StateHistory.read(stored, of: version, decode)
      } catch {
        state.withLock { if case .stored = $0.value { $0.isUnread = true } }
        throw error
      }
    case .encoded(let bytes, _): return try decode(RecordedValue(source: .encoded(bytes)))
    case .copied(let copy, _):
      if let copy = copy as? Value { return copy }
      return try decode(RecordedValue(source: .encoded(try ScopeValue.encode(copy))))
    }
  }
}

extension ScopeValue {
  /// Encodes a value with the archive's coder.
  static func encode(_ value: some Encodable) throws(RestorationError) -> Data {
    do {
      return try ArchiveEncoder().encode(value)
    } catch {
      throw RestorationError(.notEncodable, "The value can't be encoded; the key keeps what it had.", cause: error)
    }
  }
}

extension RestorationError.Code {
  /// A value of a scope could not be encoded; see the cause.
  public static let notEncodable = RestorationError.Code("notEncodable")
}
