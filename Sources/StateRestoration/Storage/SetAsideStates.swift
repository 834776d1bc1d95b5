internal import DataProtection
internal import FoundationEssentials
internal import RestorationArchive

/// The generations that a store has set aside, as states of the program.
struct SetAsideStates: Sendable {
  let store: any PreservationStore
  let limits: RestorationArchive.Limits
  let schemaVersion: StateVersion

  /// What is set aside, oldest first; opens each to read when it was saved, and by which version.
  func all() throws(ProtectionError) -> [SetAsideState] {
    var states: [SetAsideState] = []
    for generation in try store.setAsideGenerations() { states.append(try describe(generation)) }
    return states
  }

  /// Opens one; nil when it is not there.
  func open(_ id: SetAsideState.ID) throws(ProtectionError) -> StoredState? {
    guard try store.setAsideGenerations().contains(where: { $0.generation.rawValue == id }) else { return nil }
    return try store.open(.setAside(Generation(rawValue: id)))
  }

  /// Removes one; false when it is not there.
  @discardableResult
  func remove(_ id: SetAsideState.ID) throws(ProtectionError) -> Bool {
    try store.removeSetAside(Generation(rawValue: id))
  }

  /// What is known of a generation: what can't be opened is damaged, unless it may be opened later.
  func describe(_ generation: SetAsideGeneration) throws(ProtectionError) -> SetAsideState {
    var state = SetAsideState(
      id: generation.generation.rawValue, byteCount: generation.byteCount, isReadable: false,
      isDamaged: generation.isDamaged)
    guard !generation.isDamaged else { return state }
    let stored: StoredState
    do throws(ProtectionError) {
      stored = try store.open(.setAside(generation.generation))
    } catch  where !error.code.saysTryAgain {
      state.isDamaged = true
      return state
    }
    let context = try? reader(of: stored)?.context
    state.savedAt = context?.timeSaved
    state.applicationVersion = context?.applicationVersion.rawValue
    state.schemaVersion = context?.schemaVersion
    state.byteCount = stored.frames.reduce(stored.byteCount) { $0 + $1.count }
    state.isReadable = context.map { $0.schemaVersion <= schemaVersion } ?? false
    return state
  }

  /// Whether a state is set aside already, or one that differs from it only in when it was saved.
  ///
  /// What launches that declined saved one after another, unedited, would push out what the user had.
  func holdsEqual(of state: StoredState) -> Bool {
    guard let reader = reader(of: state), let content = timeless(reader),
      let generations = try? store.setAsideGenerations()
    else { return false }
    return generations.contains { generation in
      guard !generation.isDamaged, let stored = try? store.open(.setAside(generation.generation)),
        let other = self.reader(of: stored), other.nodeCount == reader.nodeCount
      else { return false }
      return timeless(other) == content
    }
  }

  /// A state as an archive that does not know when it was saved; nil when it can't be read.
  private func timeless(_ reader: RestorationArchive.Reader) -> Data? {
    guard var writer = try? RestorationArchive.Writer(continuing: reader, limits: limits) else { return nil }
    writer.context.timeSaved = Date(timeIntervalSince1970: 0)
    return try? writer.makeArchiveOverBudget()
  }

  private func reader(of state: StoredState) -> RestorationArchive.Reader? {
    try? RestorationArchive.Reader(
      base: .init(byteCount: state.byteCount) { try state.read($0) }, deltas: state.frames, limits: limits)
  }
}
