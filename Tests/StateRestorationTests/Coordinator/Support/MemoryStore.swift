import DataProtection
import FoundationEssentials
import StateRestoration
import Synchronization

/// A store in memory that a test can lock, damage and fail, and that counts every call.
final class MemoryStore: PreservationStore {
  struct Stored: Sendable {
    var number: UInt64
    var base: Data
    var frames: [Data] = []
    var isDamaged = false
    /// Whether it opens well and is found damaged when it is read.
    var failsReading = false
  }

  struct Marker: Sendable {
    var generation: UInt64
    var node: UInt32?
    var attempts: Int
    /// How many have ended badly in a row, this one included, whatever was saved meanwhile.
    var ends = 1
    var isPowerCut = false
    var role = RestorationAttempt.Role.newest
    var pendingMark: UInt32 = 0
    /// The run whose attempt it is: it follows what that saves.
    var run = -1

    /// How many of them count: a power cut does not the first time.
    var failedAttempts: Int { isPowerCut ? attempts - 1 : attempts }

    /// Names what was saved in the archive's place; attempts at what was before don't count.
    mutating func follow(_ generation: UInt64? = nil, in run: Int) {
      guard run == self.run else { return }
      if let generation { (self.generation, pendingMark) = (generation, 0) }
      (attempts, isPowerCut, role) = (1, false, .newest)
    }
  }

  struct State: Sendable {
    var generations: [Stored] = []
    var next: UInt64 = 1
    var isLocked = false
    /// What was saved while locked, oldest first.
    var allPending: [Pending] = []
    var marker: Marker?
    /// The marker while nothing is being restored: the next launch finds none.
    var restingMarker: Marker?
    /// The markers of an older generation that somebody died of on request, the latest first; then the newest's.
    var formerMarkers: [Marker] = []
    /// The markers with which attempts have begun that were the last at their generations.
    var begun: [UInt64: Marker] = [:]
    var isCompactionDue = false
    /// Errors to throw, by the name of the call.
    var failures: [String: ProtectionError.Code] = [:]
    /// Names of the calls, in order.
    var calls: [String] = []
    var durability = Durability.durable
    var tailDropped = 0
    var standing = ArchiveStanding.current
    /// Called at the beginning of every call; a test may keep it waiting there.
    var gate: (@Sendable (String) -> Void)?

    /// Has the marker of a run name what that has saved.
    mutating func follow(_ generation: UInt64? = nil, in run: Int) {
      for key in begun.keys { begun[key]?.follow(in: run) }
      marker?.follow(generation, in: run)
      restingMarker?.follow(generation, in: run)
    }
  }

  /// What one run has saved while locked.
  struct Pending: Sendable {
    var number: UInt64
    var run = -1
    var base: UInt64?
    var stored: StoredPending
  }

  let state = Mutex(State())
  /// Which run it is; a launch begins the next one.
  let run = Atomic(0)
  /// The places beside it, where states are set aside.
  let places: [MemoryStore]
  /// Generations are numbered over all places.
  private static let numbers = Atomic<UInt64>(1 << 32)

  init() {
    var places: [MemoryStore] = []
    for _ in 0..<SetAsideShelf.placeCount { places.append(MemoryStore(isAside: true)) }
    self.places = places
  }

  private init(isAside: Bool) {
    places = []
  }

  var asidePlaces: [any PreservationStore] { places }

  func occupiedAsidePlaces() throws(ProtectionError) -> [Int] {
    places.indices.filter { index in places[index].state.withLock { !$0.generations.isEmpty } }
  }

  private func enter(_ call: String) throws(ProtectionError) {
    let (code, gate) = state.withLock { state in
      state.calls.append(call)
      return (state.failures[call], state.gate)
    }
    gate?(call)
    if let code { throw ProtectionError(code, "\(call) fails as the test wants") }
  }

  /// A locked store still knows that there is nothing: "locked" and "nothing was saved" never mix.
  private func check(locked call: String, isEmpty: Bool = false) throws(ProtectionError) {
    try enter(call)
    if !isEmpty, state.withLock({ $0.isLocked }) { throw ProtectionError(.locked, "The device is locked.") }
  }

  func openNewest() throws(ProtectionError) -> StoredState {
    try check(locked: "openNewest", isEmpty: state.withLock { $0.generations.isEmpty })
    return try open(state.withLock { $0.generations.last }, standing: state.withLock { $0.standing })
  }

  func openPredecessor() throws(ProtectionError) -> StoredState {
    try check(locked: "openPredecessor")
    return try open(state.withLock { $0.generations.dropLast().last }, standing: .olderGeneration(because: nil))
  }

  private func open(_ stored: Stored?, standing: ArchiveStanding) throws(ProtectionError) -> StoredState {
    guard let stored else { throw ProtectionError(.notFound, "Nothing was saved.") }
    if stored.isDamaged { throw ProtectionError(.corrupt, "The file is damaged.") }
    return StoredState(
      generation: Generation(rawValue: stored.number), standing: standing, byteCount: stored.base.count,
      frames: stored.frames, tailDropped: state.withLock { $0.tailDropped }, handle: stored.number
    ) { range in
      if stored.failsReading { throw ProtectionError(.corrupt, "A chunk in the middle is damaged.") }
      return Data(stored.base[range])
    }
  }

  func stamp() throws(ProtectionError) -> ArchiveStamp {
    try enter("stamp")
    return stamp(state.withLock { $0 })
  }

  private func stamp(_ state: State) -> ArchiveStamp {
    ArchiveStamp(
      generations: state.generations.map(\.number), pending: state.allPending.map(\.number),
      journalEnds: state.generations.map(\.frames.count))
  }

  func publish(
    _ plaintext: Data, consuming pending: [StoredPending], unlessChangedSince seen: ArchiveStamp?
  ) throws(ProtectionError) -> StoreReceipt {
    try check(locked: "publish")
    if let seen, seen != stamp(state.withLock { $0 }) { throw ProtectionError(.superseded, "Somebody has saved.") }
    if places.isEmpty {
      let number = Self.numbers.add(1, ordering: .relaxed).newValue
      state.withLock { $0.next = number }
    }
    let run = run.load(ordering: .relaxed)
    return state.withLock { state in
      state.generations.append(Stored(number: state.next, base: plaintext))
      state.generations = Array(state.generations.suffix(2))
      let consumed = pending.compactMap { $0.handle as? UInt64 }
      if state.durability == .durable { state.allPending.removeAll { consumed.contains($0.number) } }
      state.isCompactionDue = false
      if state.durability == .durable { state.follow(state.next, in: run) }
      defer { state.next += 1 }
      return StoreReceipt(
        generation: Generation(rawValue: state.next), bytesWritten: plaintext.count, durability: state.durability)
    }
  }

  func append(
    _ frame: Data, to generation: Generation, as number: Int
  ) throws(ProtectionError) -> StoreReceipt {
    try check(locked: "append")
    let run = run.load(ordering: .relaxed)
    return try state.withLock { (state) throws(ProtectionError) in
      guard let last = state.generations.indices.last else { throw ProtectionError(.superseded, "No base.") }
      guard state.generations[last].number == generation.rawValue, state.generations[last].frames.count + 1 == number
      else { throw ProtectionError(.superseded, "Not the next one.") }
      state.generations[last].frames.append(frame)
      if state.durability == .durable { state.follow(in: run) }
      return StoreReceipt(
        generation: Generation(rawValue: state.generations[last].number), bytesWritten: frame.count,
        durability: state.durability)
    }
  }

  var isCompactionDue: Bool { state.withLock { $0.isCompactionDue } }

  func freezeJournal() {}

  func publishPending(
    _ plaintext: Data, kind: PendingKind, including included: [StoredPending]
  ) throws(ProtectionError) -> StoreReceipt {
    try enter("publishPending")
    let run = run.load(ordering: .relaxed)
    let numbers = included.compactMap { $0.handle as? UInt64 }
    return state.withLock { state in
      state.allPending.removeAll { $0.run == run || numbers.contains($0.number) }
      state.allPending.append(
        Pending(
          number: state.next, run: run, base: state.generations.last?.number,
          stored: StoredPending(
            kind: kind, isBaseUnchanged: true, content: plaintext, mark: UInt32(state.next), handle: state.next)))
      if kind != .touchedNodes { state.follow(state.next, in: run) }
      defer { state.next += 1 }
      return StoreReceipt(
        generation: Generation(rawValue: state.next), bytesWritten: plaintext.count, durability: .durable)
    }
  }

  func openPending() throws(ProtectionError) -> AllPending {
    try check(locked: "openPending", isEmpty: state.withLock { $0.allPending.isEmpty })
    let run = run.load(ordering: .relaxed)
    return state.withLock { state in
      let newest = state.generations.last?.number
      return AllPending(
        readable: state.allPending.map { pending in
          var stored = pending.stored
          stored.isOwn = pending.run == run
          stored.isBaseUnchanged = stored.kind != .touchedNodes ? newest == pending.base : newest ?? 0 < pending.number
          return stored
        })
    }
  }

  func promotePending(_ pending: StoredPending) throws(ProtectionError) -> StoreReceipt {
    try check(locked: "promotePending")
    return state.withLock { state in
      let number = pending.handle as? UInt64 ?? 0
      state.generations.append(Stored(number: number, base: pending.content))
      state.generations = Array(state.generations.suffix(2))
      state.allPending.removeAll { $0.number <= number }
      return StoreReceipt(
        generation: Generation(rawValue: number), bytesWritten: pending.content.count, durability: state.durability)
    }
  }

  func discardPending(_ pending: StoredPending) throws(ProtectionError) {
    try enter("discardPending")
    let number = pending.handle as? UInt64 ?? 0
    state.withLock { $0.allPending.removeAll { $0.number <= number } }
  }

  func deleteAll() throws(ProtectionError) {
    try enter("deleteAll")
    state.withLock { state in
      state.generations = []
      state.allPending = []
      (state.marker, state.restingMarker, state.formerMarkers) = (nil, nil, [])
    }
  }

  func interruptedAttempt(for stored: StoredState) throws(ProtectionError) -> InterruptedAttempt? {
    try enter("interruptedAttempt")
    let run = run.load(ordering: .relaxed)
    return foundAttempt(for: stored, run: run)
  }

  /// What the next run would find, or that of a number, which looks for what is not its own.
  func foundAttempt(for stored: StoredState, run: Int? = nil) -> InterruptedAttempt? {
    let (last, former) = state.withLock { state in
      (state.marker?.run == run ? nil : state.marker, state.formerMarkers)
    }
    let ended = ([last].compactMap(\.self) + former).filter { $0.generation == stored.generation.rawValue }
    guard let marker = ended.first else {
      return last == nil ? nil : InterruptedAttempt(meaning: .otherArchive, node: nil, failedAttempts: 0)
    }
    var attempt = InterruptedAttempt(
      meaning: marker.isPowerCut ? .machineRestarted : .died, node: marker.node,
      failedAttempts: marker.isPowerCut ? marker.failedAttempts : max(marker.attempts, marker.ends < 5 ? 1 : 2),
      isStandIn: marker.role == .standIn, pendingMark: marker.pendingMark, endsInARow: marker.ends)
    attempt.isRequested = marker.role == .requested
    attempt.requestedNodes = ended.filter { $0.role == .requested && $0.failedAttempts > 0 }.compactMap(\.node)
    return attempt
  }

  func beginAttempt(
    for stored: StoredState, as role: RestorationAttempt.Role, joining pendingMark: UInt32,
    countingFormer countsFormer: Bool
  ) throws(ProtectionError) -> any RestorationAttempting {
    try enter("beginAttempt")
    let run = run.load(ordering: .relaxed)
    state.withLock { state in
      let generation = stored.generation.rawValue
      let isRequest = role == .requested
      func counts(_ marker: Marker) -> Bool {
        marker.generation == generation && (marker.role == .requested) == isRequest
      }
      let begun = state.begun[generation].flatMap { $0.run == run && counts($0) ? $0 : nil }
      let markers = [state.marker].compactMap(\.self) + state.formerMarkers
      let former = markers.first(where: counts)
      let ended = markers.filter { $0.run != run }
      var requests = ended.filter { $0.role == .requested }
      for index in requests.indices where requests[index].failedAttempts > 0 { requests[index].isPowerCut = false }
      let newest = isRequest ? ended.first { $0.role == .newest } : nil
      state.formerMarkers =
        requests.filter { $0.generation == requests[0].generation } + [newest].compactMap(\.self)
      let before = begun.map { $0.attempts - 1 } ?? former?.attempts ?? 0
      let ends = begun.map { $0.ends - 1 } ?? former?.ends ?? 0
      state.restingMarker = nil
      state.marker = Marker(
        generation: generation, node: nil, attempts: (countsFormer ? before : 0) + 1, ends: ends + 1,
        role: role, pendingMark: pendingMark, run: run)
      state.begun[generation] = state.marker
    }
    return MemoryAttempt(store: self)
  }

  /// The number of calls since the last question.
  func takeCalls() -> [String] {
    state.withLock { state in
      defer { state.calls = [] }
      return state.calls
    }
  }

  /// The only thing that is pending.
  var pending: StoredPending? { state.withLock { $0.allPending.count == 1 ? $0.allPending[0].stored : nil } }

  func lock(_ isLocked: Bool) {
    state.withLock { $0.isLocked = isLocked }
    for place in places { place.lock(isLocked) }
  }
}

final class MemoryAttempt: RestorationAttempting {
  let store: MemoryStore

  init(store: MemoryStore) { self.store = store }

  func beginTurn() {}

  func endTurn() {}

  func note(node: UInt32) {
    store.state.withLock { state in
      if let resting = state.restingMarker { (state.marker, state.restingMarker) = (resting, nil) }
      state.marker?.node = node == .max ? nil : node
    }
  }

  func rest() {
    store.state.withLock { state in
      guard var marker = state.marker else { return }
      marker.node = nil
      (state.marker, state.restingMarker) = (nil, marker)
    }
  }

  func forgetFormer() {
    store.state.withLock { state in
      state.begun = [:]
      state.restingMarker?.attempts = 1
      state.restingMarker?.ends = 1
    }
  }

  func finish() { store.state.withLock { ($0.marker, $0.restingMarker) = (nil, nil) } }

  func settle() {}
}
