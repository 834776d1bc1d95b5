import FoundationEssentials
import RestorationArchive
import Synchronization

@testable import DataProtection
@testable import StateRestoration

/// A store in memory that a test can lock, damage and fail, and that counts every call.
final class MemoryStore: PreservationStore {
  struct Stored: Sendable {
    var number: UInt64
    var base: Data
    var frames: [Data] = []
    var isDamaged = false
    /// Whether it opens well and is found damaged when it is read.
    var failsReading = false
    /// Whether it was sealed one-way.
    var isOneWay = false
  }

  /// How attempts at a generation have ended.
  struct Ended: Sendable {
    var history = AttemptHistory()
    var hasRestarted = false
  }

  /// The attempt that runs.
  struct Marker: Sendable {
    var generation: UInt64
    var node: UInt32?
    var isRequest: Bool
    var run: Int
    var isPowerCut = false
  }

  struct State: Sendable {
    /// The newest is the last, the one before it the first.
    var generations: [Stored] = []
    var setAside: [Stored] = []
    var next: UInt64 = 1
    var isLocked = false
    /// What was saved while locked, oldest first.
    var allPending: [Pending] = []
    var markers: [UInt64: Ended] = [:]
    var marker: Marker?
    /// The nodes that attempts have noted, in order; nil for code outside any.
    var notedNodes: [UInt32?] = []
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

    /// What ran in another run has died.
    mutating func settle(in run: Int) {
      guard let last = marker, last.run != run else { return }
      marker = nil
      var ended = markers[last.generation] ?? Ended()
      if last.isRequest {
        ended.history.requestDied = true
        ended.history.node = last.node
      } else if last.isPowerCut, !ended.hasRestarted {
        ended.hasRestarted = true
      } else {
        ended.history.deaths += 1
        ended.history.node = last.node
      }
      markers[last.generation] = ended
    }
  }

  /// The touched nodes that one run has saved while locked.
  struct Pending: Sendable {
    var run = -1
    var stored: PendingArchive

    /// Damages it, say.
    mutating func replaceContent(_ content: Data) {
      stored = PendingArchive(generation: stored.generation, isOwn: stored.isOwn, content: content)
    }
  }

  let state = Mutex(State())
  /// Which run it is; a launch begins the next one.
  let run = Atomic(0)

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

  func take(waiting patience: Duration) throws(ProtectionError) {}

  /// Its states have one class: while that has no key nothing is read.
  var lockedClasses: Set<ProtectionClass> { [] }

  func close() {}

  func open(_ choice: StateChoice) throws(ProtectionError) -> StoredState {
    switch choice {
    case .newest:
      try check(locked: "openNewest", isEmpty: state.withLock { $0.generations.isEmpty })
      return try open(state.withLock { $0.generations.last }, standing: state.withLock { $0.standing })
    case .predecessor:
      try check(locked: "openPredecessor")
      return try open(state.withLock { $0.generations.dropLast().last }, standing: .olderGeneration(because: nil))
    case .setAside(let generation):
      try check(locked: "openSetAside")
      let stored = state.withLock { $0.setAside.first { $0.number == generation.rawValue } }
      return try open(stored, standing: .olderGeneration(because: nil))
    }
  }

  private func open(_ stored: Stored?, standing: ArchiveStanding) throws(ProtectionError) -> StoredState {
    guard let stored else { throw ProtectionError(.notFound, "Nothing was saved.") }
    if stored.isDamaged { throw ProtectionError(.corrupt, "The file is damaged.") }
    let content = StoredState.Content(
      byteCount: stored.base.count, frames: stored.frames, tailDropped: state.withLock { $0.tailDropped }
    ) { range in
      if stored.failsReading { throw ProtectionError(.corrupt, "A chunk in the middle is damaged.") }
      return Data(stored.base[range])
    }
    return StoredState(
      generation: Generation(rawValue: stored.number), standing: standing,
      parts: [.init(protection: .complete, file: Self.file(stored), content: content)], handle: stored.number)
  }

  /// It has one part, which nothing stands in for.
  func openStandIn(
    for file: PartFile, because code: ProtectionError.Code
  ) throws(ProtectionError) -> StoredState.Part {
    throw ProtectionError(code, "The part is damaged, and there is no other one.")
  }

  func setAsideRecords() throws(ProtectionError) -> [Ledger.Record] {
    try enter("setAsideRecords")
    return state.withLock { $0.setAside.map(Self.describe) }
  }

  func generations() throws(ProtectionError) -> [Generation] {
    try enter("generations")
    return state.withLock { state in
      (state.generations.map(\.number) + state.allPending.map(\.stored.generation.rawValue))
        .map { Generation(rawValue: $0) }
    }
  }

  private static func file(_ stored: Stored) -> PartFile {
    PartFile(place: .root, number: stored.number, commitment: [])
  }

  private static func describe(_ stored: Stored) -> Ledger.Record {
    Ledger.Record(
      generation: stored.number, commitment: [], protection: .complete, flags: stored.isDamaged ? .damaged : [],
      byteCount: UInt64(stored.base.count))
  }

  func publish(
    _ parts: [PublishedPart], _ succession: ArchiveSuccession, droppingWeakerThan: ProtectionClass?
  ) throws(ProtectionError) -> PublishReceipt {
    guard parts.count == 1, case .new(let archive) = parts[0].content else {
      preconditionFailure("several classes of protection need a device")
    }
    try enter("publish")
    return state.withLock { state in
      var new = Stored(number: state.next, base: archive)
      new.isOneWay = state.isLocked
      state.next += 1
      let retiring = Set(succession.retiring.map(\.rawValue))
      var aside = state.generations.filter { retiring.contains($0.number) || $0.isDamaged }
      aside += state.allPending.filter { retiring.contains($0.stored.generation.rawValue) }
        .map { Stored(number: $0.stored.generation.rawValue, base: $0.stored.content) }
      if state.durability == .durable {
        state.setAside.removeAll { $0.number == succession.reclaiming?.rawValue }
        let done = retiring.union(succession.consuming.map(\.rawValue))
        state.allPending.removeAll { done.contains($0.stored.generation.rawValue) }
        state.setAside += aside
      }
      var removed: [Stored] = []
      while state.setAside.count > 4 {
        let index = state.setAside.dropLast().firstIndex(where: \.isDamaged) ?? 0
        removed.append(state.setAside.remove(at: index))
      }
      state.generations.removeAll { one in aside.contains { $0.number == one.number } }
      state.generations = Array((state.generations + [new]).suffix(2))
      state.isCompactionDue = false
      return PublishReceipt(
        generation: Generation(rawValue: new.number), bytesWritten: archive.count, durability: state.durability,
        isSealedOneWay: new.isOneWay, setAside: aside.map(Self.describe), removed: removed.map(Self.describe),
        parts: [Self.file(new)])
    }
  }

  func append(
    _ change: Data, to generation: Generation, part: RestorationArchive.Part, as protection: ProtectionClass
  ) throws(ProtectionError) -> PublishReceipt? {
    try check(locked: "append")
    return state.withLock { state -> PublishReceipt? in
      guard !state.isCompactionDue, let last = state.generations.indices.last, !state.generations[last].isOneWay,
        state.generations[last].number == generation.rawValue
      else { return nil }
      state.generations[last].frames.append(change)
      return PublishReceipt(generation: generation, bytesWritten: change.count, durability: state.durability)
    }
  }

  func publishPending(_ touchedNodes: Data, isBeside: Bool) throws(ProtectionError) -> PublishReceipt {
    try enter("publishPending")
    let run = run.load(ordering: .relaxed)
    return state.withLock { state in
      state.allPending.removeAll { $0.run == run }
      let generation = Generation(rawValue: state.next)
      state.next += 1
      state.allPending.append(
        Pending(
          run: run,
          stored: PendingArchive(generation: generation, isOwn: false, content: touchedNodes)))
      return PublishReceipt(
        generation: generation, bytesWritten: touchedNodes.count, durability: .durable, isSealedOneWay: true)
    }
  }

  func keepPending() {
    let run = run.load(ordering: .relaxed)
    state.withLock { state in
      for index in state.allPending.indices where state.allPending[index].run == run {
        state.allPending[index].run = -1
      }
    }
  }

  func openPending() throws(ProtectionError) -> PendingArchives {
    try check(locked: "openPending", isEmpty: state.withLock { $0.allPending.isEmpty })
    let run = run.load(ordering: .relaxed)
    return PendingArchives(
      archives: state.withLock { state in
        state.allPending.map { pending in
          PendingArchive(
            generation: pending.stored.generation, isOwn: pending.run == run, content: pending.stored.content)
        }
      })
  }

  func requireDurable() throws(ProtectionError) {}

  func removeSetAside(_ generation: Generation) throws(ProtectionError) -> Bool {
    try enter("removeSetAside")
    return state.withLock { state in
      let count = state.setAside.count
      state.setAside.removeAll { $0.number == generation.rawValue }
      return state.setAside.count < count
    }
  }

  func deleteAll() throws(ProtectionError) {
    try enter("deleteAll")
    state.withLock { state in
      state.generations = []
      state.setAside = []
      state.allPending = []
      state.markers = [:]
      state.marker = nil
    }
  }

  func attempts(at stored: StoredState) throws(ProtectionError) -> AttemptHistory {
    try enter("attempts")
    let run = run.load(ordering: .relaxed)
    return state.withLock { state in
      state.settle(in: run)
      return state.markers[stored.generation.rawValue]?.history ?? AttemptHistory()
    }
  }

  func beginAttempt(
    at stored: StoredState, isRequest: Bool
  ) throws(ProtectionError) -> any RestorationAttempting {
    try enter("beginAttempt")
    let run = run.load(ordering: .relaxed)
    state.withLock { state in
      state.settle(in: run)
      // An attempt of this run goes on with another generation.
      if let last = state.marker { state.markers[last.generation] = nil }
      state.marker = Marker(generation: stored.generation.rawValue, isRequest: isRequest, run: run)
    }
    return MemoryAttempt(store: self, generation: stored.generation.rawValue, isRequest: isRequest, run: run)
  }

  /// The number of calls since the last question.
  func takeCalls() -> [String] {
    state.withLock { state in
      defer { state.calls = [] }
      return state.calls
    }
  }

  /// The only thing that is pending.
  var pending: PendingArchive? { state.withLock { $0.allPending.count == 1 ? $0.allPending[0].stored : nil } }

  func lock(_ isLocked: Bool) { state.withLock { $0.isLocked = isLocked } }
}

final class MemoryAttempt: RestorationAttempting {
  let store: MemoryStore
  let generation: UInt64
  let isRequest: Bool
  let run: Int

  init(store: MemoryStore, generation: UInt64, isRequest: Bool, run: Int) {
    (self.store, self.generation, self.isRequest, self.run) = (store, generation, isRequest, run)
  }

  /// What earlier attempts have left, which the end forgets.
  private let earlier = Mutex<MemoryStore.Ended?>(nil)

  func note(node: UInt32?) {
    let earlier = earlier.withLock { $0 }
    store.state.withLock { state in
      if state.marker == nil, let earlier { state.markers[generation] = earlier }
      state.marker = .init(generation: generation, node: node, isRequest: isRequest, run: run)
      state.notedNodes.append(node)
    }
  }

  func end() {
    store.state.withLock { state in
      guard state.marker?.generation == generation else { return }
      state.marker = nil
      if let left = state.markers.removeValue(forKey: generation) { earlier.withLock { $0 = left } }
    }
  }

  func pause() {
    store.state.withLock { state in
      if state.marker?.generation == generation { state.marker = nil }
    }
  }
}
