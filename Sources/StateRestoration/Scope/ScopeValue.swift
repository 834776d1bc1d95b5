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

/// A value as it is stored, with the version of its type.
private struct StoredForm: Sendable {
  let value: RecordedValue
  let version: StateVersion
}

/// The place of one value in a scope: read and written on any thread, and observed.
final class ScopeSlot: Observable, Sendable {
  private struct State {
    var value = ScopeValue.absent
    /// Older stored values, newest first, of which one is read where the stored value itself can't be.
    var older: [StoredForm] = []
    /// The stored value as it was last decoded, while it is the one.
    var decoded: (any Sendable)?
    /// Whether somebody asked for the stored value and could not be given it: a new one lies beside it.
    var isUnread = false
    /// Whether it is so as far as is known: nobody was given it as another type since.
    var isRejected = false
    /// Whether a value was set beside the stored one since the scope has last looked.
    var isBeside = false
    /// Whether the scope has a node for it.
    var isListed = false
    /// The value that a program has instead of a stored one; nil where none has declared the key's type.
    var fallback: (any Codable & Sendable)?
    /// Called the first time that a reader is not given the whole stored value.
    var listener: (@Sendable (ScopeSlot.Loss) -> Void)?
    /// The stored fields that the type does not know as which the value was read first.
    var unknownFields: [String] = []
    /// Whether somebody has asked for the stored value, of whatever type.
    var wasRead = false

    /// Takes another value.
    mutating func take(_ value: ScopeValue) {
      (self.value, older, decoded, unknownFields) = (value, [], nil, [])
      (isUnread, isRejected) = (false, false)
    }
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

  /// Notes what the program has where nothing is stored, and with it the type that it reads the key as.
  func noteDeclaration(_ fallback: any Codable & Sendable) { state.withLock { $0.fallback = fallback } }

  /// The part of a stored value that a reader was not given.
  enum Loss: Sendable {
    /// All of it: it can't be decoded as the reader's type. Whether the reader was given an older one.
    case value(RestorationError, isOlderGiven: Bool)
    /// Nothing: it was read as another type after all.
    case none
    /// Fields of it, which the reader's type does not know.
    case fields([String])

    /// Whether it is none.
    fileprivate var isNone: Bool { if case .none = self { true } else { false } }
  }

  /// The stored fields that the type does not know as which the value was read.
  var unknownFields: [String] { state.withLock { $0.unknownFields } }

  /// Has a function called the first time that a reader is not given the whole stored value.
  func noteLosses(_ body: @escaping @Sendable (Loss) -> Void) { state.withLock { $0.listener = body } }

  /// Whether a value is stored that could not be read as the type that somebody asked for, nor as another one since.
  var isRejected: Bool { state.withLock { $0.isRejected } }

  /// Whether the program has declared the key's type.
  var isDeclared: Bool { state.withLock { $0.fallback != nil } }

  /// Takes older values that restoring could have given, newest first: they count where the given one can't be read.
  func giveOlder(_ values: [ScopeValue]) {
    let forms = Self.forms(of: values)
    state.withLock { $0.older = forms }
  }

  private static func forms(of values: [ScopeValue]) -> [StoredForm] {
    values.compactMap { value in
      if case .stored(let stored, let version) = value { StoredForm(value: stored, version: version) } else { nil }
    }
  }

  /// Notes whether the scope has a node for it.
  func noteListed(_ isListed: Bool) { state.withLock { $0.isListed = isListed } }

  /// Takes the value that restoring gives, and older ones that it could have given, newest first.
  func give(_ value: ScopeValue, older: [ScopeValue] = []) {
    let forms = Self.forms(of: older)
    registrar.withMutation(of: self, keyPath: \.revision) {
      state.withLock { state in
        state.take(value)
        state.older = forms
        (state.isBeside, state.wasRead) = (false, false)
      }
    }
  }

  /// Whether a value is stored, and nobody has asked for it yet: whether it can be read has to be known before another is set.
  var isUnasked: Bool { state.withLock { if case .stored = $0.value { !$0.wasRead } else { false } } }

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
    let (held, decoded) = state.withLock { ($0.value, $0.decoded) }
    // Nothing decoded is no value, also where the type is an optional.
    if let decoded, let value = decoded as? Value { return value }
    return try read(held) { (state) throws(RestorationError) in try state.decode(type) }
  }

  /// Decodes the value once for all who ask; nil if there is none.
  ///
  /// - Parameter isQuiet: Whether nobody is told what can't be read.
  func read<Value: Codable & Sendable>(
    as type: Value.Type, completingFrom launch: Value, isQuiet: Bool = false
  ) throws(RestorationError) -> Value? {
    registrar.access(self, keyPath: \.revision)
    let (held, decoded) = state.withLock { ($0.value, $0.decoded) }
    if let decoded, let value = decoded as? Value { return value }
    let read = try read(held, isQuiet: isQuiet) { (state) throws(RestorationError) in
      try state.decode(type, completingFrom: launch)
    }
    if case .stored = held, let read {
      state.withLock { if case .stored = $0.value { $0.decoded = read } }
    }
    return read
  }

  private func read<Value: Decodable>(
    _ value: ScopeValue, isQuiet: Bool = false, _ decode: (RecordedValue) throws(RestorationError) -> Value
  ) throws(RestorationError) -> Value? {
    switch value {
    case .absent: return nil
    case .refused:
      throw RestorationError(
        .unreadable, "What is stored under the key was not given; the report of the restoration says why.")
    case .stored(var stored, let version):
      let wasRead = state.withLock { state in
        defer { state.wasRead = true }
        return state.wasRead
      }
      // A migration reads the fields of an older type.
      if !wasRead, version == StateHistory.version(of: Value.self) { stored.unknown = RecordedValue.Unknown() }
      do throws(RestorationError) {
        let value = try StateHistory.read(stored, of: version, decode)
        if state.withLock({ $0.isRejected }) { note(.none, isQuiet) }
        if let names = stored.unknown?.names, !names.isEmpty { note(.fields(names), isQuiet) }
        return value
      } catch {
        for older in state.withLock({ $0.older }) {
          guard let value = try? StateHistory.read(older.value, of: older.version, decode) else { continue }
          note(.value(error, isOlderGiven: true), isQuiet)
          return value
        }
        note(.value(error, isOlderGiven: false), isQuiet)
        throw error
      }
    case .encoded(let bytes, _): return try decode(RecordedValue(source: .encoded(bytes)))
    case .copied(let copy, _):
      if let copy = copy as? Value { return copy }
      return try decode(RecordedValue(source: .encoded(try ScopeValue.encode(copy))))
    }
  }
}

extension ScopeSlot {
  private func note(_ loss: Loss, _ isQuiet: Bool) {
    let listener: (@Sendable (Loss) -> Void)? = state.withLock { state in
      guard case .stored = state.value, !state.isUnread || loss.isNone else { return nil }
      switch loss {
      case .value: (state.isUnread, state.isRejected) = (true, true)
      case .none: state.isRejected = false
      case .fields(let names): state.unknownFields = names
      }
      return state.listener
    }
    if !isQuiet { listener?(loss) }
  }

  /// Reads the value as the type that the program has declared, if it has.
  func readAsDeclared() throws(RestorationError) {
    func read<Value: Codable & Sendable>(completingFrom fallback: Value) throws(RestorationError) {
      _ = try self.read(as: Value.self, completingFrom: fallback, isQuiet: true)
    }
    if let fallback = state.withLock({ $0.fallback }) { try read(completingFrom: fallback) }
  }

  /// What the program reads of the value, in a form that any type can be compared in; nil if there is none, or none is given.
  ///
  /// - Throws: What the program gets that reads it as the type that it has declared.
  func content<Content: Decodable>(as type: Content.Type) throws -> Content? {
    let (value, fallback) = state.withLock { ($0.value, $0.fallback) }
    switch value {
    case .absent, .refused: return nil
    case .stored(let stored, let version):
      guard let fallback else { return try stored.decodeIfPresent(type) }
      return try ArchiveDecoder().decode(type, from: try Self.today(stored, version, fallback))
    case .encoded(let bytes, _): return try ArchiveDecoder().decode(type, from: bytes)
    case .copied(let copy, _): return try ArchiveDecoder().decode(type, from: try ScopeValue.encode(copy))
    }
  }

  /// What today's program does not read of the stored value: the names of fields, an empty one for all of it.
  ///
  /// - Throws: Why it can't be read as the type that the program has declared.
  func unread() throws(RestorationError) -> [String] {
    let (value, fallback, wasRead) = state.withLock { ($0.value, $0.fallback, $0.wasRead) }
    guard case .stored(var stored, let version) = value else { return [] }
    guard let fallback else { return wasRead ? [] : [""] }
    let unknown = RecordedValue.Unknown()
    stored.unknown = unknown
    _ = try Self.today(stored, version, fallback)
    // A migration reads the fields of an older type.
    return Self.isToday(version, fallback) ? unknown.names : []
  }

  private static func isToday<Value: Codable & Sendable>(_ version: StateVersion, _ fallback: Value) -> Bool {
    version == StateHistory.version(of: Value.self)
  }

  /// A stored value of some version as today's program has it, encoded.
  private static func today<Value: Codable & Sendable>(
    _ stored: RecordedValue, _ version: StateVersion, _ fallback: Value
  ) throws(RestorationError) -> Data {
    let value = try StateHistory.read(stored, of: version) { (stored) throws(RestorationError) in
      try stored.decode(Value.self, completingFrom: fallback)
    }
    return try ScopeValue.encode(value)
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
