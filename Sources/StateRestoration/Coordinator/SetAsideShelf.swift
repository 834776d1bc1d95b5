internal import DataProtection
internal import FoundationEssentials
internal import RestorationArchive

/// The places beside an archive for states that were not restored and that a save replaces.
///
/// A state goes there, durably and byte for byte, before the save that replaces it. At most so many, and so many bytes,
/// are kept; the oldest go, and whoever asked is told which.
package struct SetAsideShelf: Sendable {
  let store: any PreservationStore
  let limits: RestorationArchive.Limits
  let schemaVersion: StateVersion

  /// So many states are kept.
  package static let countLimit = 4
  /// So many bytes are kept; the newest state is, whatever its size.
  package static let byteLimit = 64 << 20
  /// One place more, so that a state has its place before another one loses its own.
  package static let placeCount = countLimit + 1

  /// What became of setting a state aside.
  struct Placed: Sendable {
    /// The state that was set aside; nil when there was none that can be read, and what there is stays where it is.
    var state: SetAsideState?
    /// The states that had to go.
    var removed: [SetAsideState] = []

    /// Whether what was set aside is an archive, as far as its beginning says.
    var isArchive: Bool { state?.schemaVersion != nil }
  }

  /// A place with a state in it.
  fileprivate struct Occupant {
    var index: Int
    var place: any PreservationStore
    var state: StoredState
    var description: SetAsideState

    var generation: UInt64 { state.generation.rawValue }
  }

  /// What is set aside, oldest first; before it what is there and can't be opened.
  func states() throws(ProtectionError) -> [SetAsideState] {
    let present = try survey()
    return present.damaged.map { describe(damaged: $0) } + present.occupants.map(\.description)
  }

  /// The place of a state; nil when it is not there any more.
  func place(of id: UInt64) throws(ProtectionError) -> (any PreservationStore)? {
    let present = try survey()
    if let index = present.damaged.first(where: { describe(damaged: $0).id == id }) { return store.asidePlaces[index] }
    return present.occupants.first { $0.generation == id }?.place
  }

  /// Removes one state; false when it is not there.
  @discardableResult
  func remove(_ id: UInt64) throws(ProtectionError) -> Bool {
    guard let place = try place(of: id) else { return false }
    try place.deleteAll()
    return true
  }

  /// Removes everything that is set aside; works while locked.
  func removeAll() throws(ProtectionError) {
    let places = store.asidePlaces
    for index in try store.occupiedAsidePlaces() { try places[index].deleteAll() }
  }

  /// What is known of the generation before one that is set aside.
  enum Predecessor: Sendable, Hashable {
    /// Nothing: if the newest is damaged, it is the last good one.
    case unknown
    /// It is what goes on.
    case continued
    /// It was refused too, after it had stood in.
    case refused
  }

  /// Sets the newest state of the archive aside, because a save is about to replace what it does not continue; and the
  /// generation before it, which would last for one whole generation only, if that is what the newest should have been.
  ///
  /// What was damaged is the store's, which keeps it. When this throws, nothing may be replaced.
  ///
  /// - Parameters:
  ///   - predecessor: What is known of the generation before it.
  ///   - spared: A state that makes no room: the save continues it.
  ///   - note: Told of each step as soon as it is done.
  func putNewest(
    predecessor: Predecessor, sparing spared: UInt64?, note: (Placed) -> Void
  ) throws(ProtectionError) {
    if predecessor == .refused { note(try putPredecessor(sparing: spared)) }
    let newest = try put(sparing: spared) { () throws(ProtectionError) in try store.openNewest() }
    note(newest)
    if predecessor == .unknown, !newest.isArchive { note(try putPredecessor(sparing: spared)) }
  }

  private func putPredecessor(sparing spared: UInt64?) throws(ProtectionError) -> Placed {
    try put(sparing: spared) { () throws(ProtectionError) in try store.openPredecessor() }
  }

  private func put(
    sparing spared: UInt64?, _ open: () throws(ProtectionError) -> StoredState
  ) throws(ProtectionError) -> Placed {
    let state: StoredState
    let content: Data
    do throws(ProtectionError) {
      state = try open()
      content = try Self.content(of: state)
    } catch {
      guard error.code.saysTryAgain else { return Placed() }
      throw error
    }
    return try put(state, content, sparing: spared)
  }

  /// Sets aside what was saved while locked and belongs on no state that is there now.
  ///
  /// - Parameter spared: A state that makes no room: the next save continues it.
  func put(_ pending: StoredPending, sparing spared: UInt64? = nil) throws(ProtectionError) -> Placed {
    let content = pending.content
    let state = StoredState(generation: Generation(rawValue: 0), byteCount: content.count) { range in
      content[content.startIndex + range.lowerBound..<content.startIndex + range.upperBound]
    }
    return try put(state, content, sparing: spared)
  }

  private func put(
    _ state: StoredState, _ content: Data, sparing spared: UInt64?
  ) throws(ProtectionError) -> Placed {
    let survey = try survey()
    var present = survey.occupants
    let known = try findEqual(state, content, among: present)
    if let known {
      // The newest, or what must stay where it is, or no place is free for it to be newest in.
      let isLast = known.generation == present.last?.generation
      if isLast || known.generation == spared || present.count == store.asidePlaces.count {
        return Placed(state: known.description)
      }
    }
    var removed: [SetAsideState] = []
    let places = store.asidePlaces
    if present.count == places.count, let oldest = present.firstIndex(where: { $0.generation != spared }) {
      let goes = present.remove(at: oldest)
      try goes.place.deleteAll()
      removed.append(goes.description)
    }
    let taken = Set(present.map(\.index) + survey.damaged)
    // After the empty places those with what nobody can read any more, which the store keeps as damaged.
    guard let free = places.indices.first(where: { !taken.contains($0) }) ?? survey.damaged.first else {
      throw ProtectionError(.io, "There is no place to set the state aside, so nothing was written over it.")
    }
    let receipt = try places[free].publish(content, consuming: [])
    guard receipt.durability == .durable else { throw Self.notDurable }
    if taken.contains(free) { removed.append(describe(damaged: free)) }
    try append(state.frames[...], to: receipt.generation, in: places[free])
    if let known {
      try known.place.deleteAll()
      present.removeAll { $0.index == known.index }
    }
    var new = describe(state)
    new.id = receipt.generation.rawValue
    var count = present.count + 1
    var bytes = present.reduce(new.byteCount) { $0 + $1.description.byteCount }
    for old in present where old.generation != spared && (count > Self.countLimit || bytes > Self.byteLimit) {
      try old.place.deleteAll()
      removed.append(old.description)
      count -= 1
      bytes -= old.description.byteCount
    }
    return Placed(state: new, removed: removed)
  }

  /// The newest place with a state, or with one that differs from it only in when it was saved; nil when there is none.
  ///
  /// What launches that declined saved one after another, unedited, would push out what the user had.
  private func findEqual(
    _ state: StoredState, _ content: Data, among present: [Occupant]
  ) throws(ProtectionError) -> Occupant? {
    for occupant in present.reversed() where try occupant.holds(state, content) {
      // It was set aside before, by a run that did not come to replace it, or only in part.
      try append(
        state.frames.dropFirst(occupant.state.frames.count), to: occupant.state.generation, in: occupant.place)
      return occupant
    }
    guard let reader = reader(of: state) else { return nil }
    var content: Data?
    for occupant in present.reversed() {
      guard let other = self.reader(of: occupant.state), other.nodeCount == reader.nodeCount else { continue }
      content = content ?? timeless(reader)
      guard let content else { return nil }
      if timeless(other) == content { return occupant }
    }
    return nil
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

  private func append(
    _ frames: ArraySlice<Data>, to generation: Generation, in place: any PreservationStore
  ) throws(ProtectionError) {
    for index in frames.indices {
      let receipt = try place.append(frames[index], to: generation, as: index + 1)
      guard receipt.durability == .durable else { throw Self.notDurable }
    }
  }

  /// What can be opened, oldest first, and the positions of the places with what can't.
  private func survey() throws(ProtectionError) -> (occupants: [Occupant], damaged: [Int]) {
    let places = store.asidePlaces
    var occupants: [Occupant] = []
    var damaged: [Int] = []
    for index in try store.occupiedAsidePlaces() {
      do throws(ProtectionError) {
        let state = try places[index].openNewest()
        occupants.append(
          Occupant(index: index, place: places[index], state: state, description: describe(state)))
      } catch  where !error.code.saysTryAgain {
        damaged.append(index)
      }
    }
    return (occupants.sorted { $0.generation < $1.generation }, damaged)
  }

  /// What can't be opened has no number that anybody can read: it is named by its place, above all numbers.
  private func describe(damaged index: Int) -> SetAsideState {
    SetAsideState(id: .max - UInt64(index), byteCount: 0, isReadable: false, isDamaged: true)
  }

  private func describe(_ state: StoredState) -> SetAsideState {
    let context = try? reader(of: state)?.context
    return SetAsideState(
      id: state.generation.rawValue, savedAt: context?.timeSaved,
      applicationVersion: context?.applicationVersion.rawValue, schemaVersion: context?.schemaVersion,
      byteCount: state.frames.reduce(state.byteCount) { $0 + $1.count },
      isReadable: context.map { $0.schemaVersion <= schemaVersion } ?? false)
  }

  /// The content of a state, read whole.
  fileprivate static func content(of state: StoredState) throws(ProtectionError) -> Data {
    do {
      return try state.read(0..<state.byteCount)
    } catch let error as ProtectionError {
      throw error
    } catch {
      throw ProtectionError(.io, "What is saved could not be read, so nothing was written over it.", cause: error)
    }
  }

  private static let notDurable = ProtectionError(
    .durabilityUnknown, "The state could not be set aside durably, so nothing was written over it.")
}

extension SetAsideShelf.Occupant {
  /// Whether it is that state, or a beginning of it that a crash cut short.
  fileprivate func holds(_ other: StoredState, _ content: Data) throws(ProtectionError) -> Bool {
    guard state.byteCount == content.count, other.frames.starts(with: state.frames) else { return false }
    return try SetAsideShelf.content(of: state) == content
  }
}
