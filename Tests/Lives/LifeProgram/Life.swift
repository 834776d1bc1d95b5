import Foundation
public import StateRestoration

/// One life of a program with notes of several classes of protection: it compares what comes back with what was written down, does what
/// users do, and ends as if it were killed.
///
/// It uses the public face alone.
@MainActor public final class Life {
  /// Something that came back and should not have, or did not.
  public struct Wrong: Error, CustomStringConvertible {
    /// What, and what else would have been right.
    public let description: String
  }

  /// Where everything lies.
  public struct Places: Sendable {
    /// The folder of the device.
    public var device: String
    /// The file of the record.
    public var record: String
    /// The folder of the session's keys.
    public var custody: String

    /// Names them.
    public init(device: String, record: String, custody: String) {
      (self.device, self.record, self.custody) = (device, record, custody)
    }
  }

  private static let passcode = "1234"

  private let session: RestorationSession
  private let window: Note
  private let places: Places
  private var record: LifeRecord
  private var random: Chooser
  /// What the program has now: more than one as long as nobody can see what is there.
  private var now: [LifeState]
  /// What it had before what is not saved yet.
  private var saved: [LifeState]
  /// Up to which level states can be read; nil for nothing.
  private var readable: Level?
  /// Whether states that could not be read at the launch wait for an unlock.
  private var isPartial = false
  /// Notes whose state has become unreadable in this run: it waits for the unlock, whatever their class is then.
  private var hidden: Set<String> = []
  private var isDirty: Bool { now != saved }
  private let note: (String) -> Void

  private init(
    _ session: RestorationSession, _ window: Note, _ places: Places, _ record: LifeRecord,
    _ random: some RandomNumberGenerator, _ note: @escaping (String) -> Void
  ) {
    (self.session, self.window, self.places, self.record) = (session, window, places, record)
    (self.random, self.note) = (Chooser(random), note)
    now = record.allowed
    saved = record.allowed
  }

  /// Lives so many steps; returns when they are over.
  ///
  /// - Parameters:
  ///   - places: Where everything lies.
  ///   - level: The class of what names none; of a program that has run before that of then.
  ///   - isDeveloping: Whether deaths while restoring are not held against the state.
  ///   - steps: How many.
  ///   - random: What is done.
  ///   - note: Is told each step.
  public static func live(
    at places: Places, level: Level, isDeveloping: Bool, steps: Int, random: some RandomNumberGenerator,
    note: @escaping (String) -> Void
  ) async throws {
    let record = try LifeRecord.read(places.record) ?? LifeRecord(level: level)
    var configuration = RestorationConfiguration(application: "lives")
    configuration.protection = record.allowed[0].level.protection
    configuration.isDeveloperMode = isDeveloping
    let registry = RestorationRegistry()
    for tag in [Note.tag, Note.secretTag] {
      registry.register(Note.self, as: tag) { path, _ in path.last.map { Note($0, tag: tag) } }
    }
    let custody = FileCustody(places.custody)
    let isAfterFirstUnlock = custody.hasKeys
    var options = ProtectedDevice.Options()
    options.gracePeriod = .zero
    options.custody = custody
    let window = Note.window()
    try await RestorationSession.run(
      at: .directory(places.device), options: options, root: window, registry: registry, configuration: configuration,
      answering: []
    ) { session in
      let life = Life(session, window, places, record, random, note)
      try await life.begin(isAfterFirstUnlock: isAfterFirstUnlock)
      for _ in 0..<steps { try await life.step() }
      if steps == 0 { try await life.unlock() }
      try await life.save()
    }
  }

  private func begin(isAfterFirstUnlock: Bool) async throws {
    let level = record.allowed[0].level
    if session.device.isProtectedDataAvailable {
      readable = .unlocked
    } else {
      readable = isAfterFirstUnlock ? .first : level == .always ? .always : nil
      isPartial = true
      if session.report.outcome == .locked, record.waits { readable = nil }
    }
    note("starts \(readable.map { "\($0)" } ?? "locked"), \(session.report.outcome)")
    try compare("launch")
    if !session.device.hasPasscode {
      try await session.device.setPasscode(ProtectedDevice.Passcode(Self.passcode))
      note("passcode")
    }
  }

  /// Who keeps the keys of a session.
  public nonisolated static func custody(at places: Places) -> any ProtectedDevice.KeyCustody {
    FileCustody(places.custody)
  }

  // MARK: - Comparing

  /// Compares what is there with what may be there, and goes on from that.
  ///
  /// - Parameter before: Up to which level states could be read before an unlock.
  private func compare(_ moment: String, since before: Level? = nil) throws {
    guard let shown = window.state(level: record.allowed[0].level) else {
      throw Wrong(description: "\(moment): a text is none that was written")
    }
    let differences = now.map { $0.difference(from: shown, at: readable, since: before) }
    let found = zip(now, differences).filter { $0.1 == nil }.map(\.0)
    guard !found.isEmpty else {
      throw Wrong(
        description: "\(moment), \(readable.map { "\($0)" } ?? "locked"): \(differences.compactMap(\.self))\n"
          + "shown: \(shown)\nmay be: \(now.map(\.description).joined(separator: "\nor      "))\n\(session.report)")
    }
    now = found
    if readable == .unlocked, var one = found.first {
      one.adopt(shown, from: before)
      now = [one]
    }
    saved = now
  }

  // MARK: - Steps

  private func step() async throws {
    switch Int.random(in: 0..<20, using: &random) {
    case 0...4: edit()
    case 5...7: add()
    case 8, 9: changeClass()
    case 10: move()
    case 11: remove()
    case 12...16: try await save()
    default:
      if session.device.isProtectedDataAvailable {
        note("lock")
        session.device.lock(gracePeriod: .zero)
      } else {
        try await unlock()
      }
    }
  }

  private func change(_ body: (inout LifeState) -> Void) {
    for index in now.indices {
      body(&now[index])
      if isPartial { now[index].follow(saved[index], at: readable) }
    }
  }

  private func nextNumber() -> Int {
    record.count += 1
    return record.count
  }

  private var length: Int {
    switch Int.random(in: 0..<16, using: &random) {
    case 0: Int.random(in: 60_000...300_000, using: &random)
    case 1...3: Int.random(in: 400...20_000, using: &random)
    default: Int.random(in: 12...400, using: &random)
    }
  }

  /// Whether the user sees a note's state, and may do with it what they like.
  private func isSeen(_ note: Note) -> Bool {
    isWhole(note) && !hidden.contains(note.name)
      && now.allSatisfy { !isPartial || $0.seen.isVisible(note.name, at: readable) }
  }

  /// Whether it is known what a note's state is.
  private func isWhole(_ note: Note) -> Bool {
    now.allSatisfy { state in
      state.notes[note.name] != nil && (!isPartial || !state.isTorn(note.name, at: readable))
    }
  }

  private func edit(_ one: Note? = nil) {
    guard let one = one ?? window.all.filter(isWhole).randomElement(using: &random) else { return }
    let (number, length) = (nextNumber(), length)
    one.text = Word.text(number, length: length)
    let count = one.text.utf8.count
    change {
      guard var state = $0.notes[one.name] else { return }
      if state.text > 0 { state.former = (state.former + [state.text]).suffix(12) }
      (state.text, state.length) = (number, count)
      $0.notes[one.name] = state
    }
    note("edit \(one.name) \(number)+\(count)")
  }

  private var randomLevel: Level? { ([nil] + Level.allCases).randomElement(using: &random) ?? nil }

  private func add() {
    guard now[0].notes.count < 24, let parent = window.all.filter(isWhole).randomElement(using: &random) else {
      return
    }
    let name = Word.text(nextNumber(), length: 0)
    let isSecret = Int.random(in: 0..<4, using: &random) == 0
    let child = Note(RestorationIdentifier(name), tag: isSecret ? Note.secretTag : Note.tag)
    if !isSecret { child.own = randomLevel }
    parent.notes.append(child)
    change {
      $0.notes[name] = LifeState.Note(parent: parent.name, own: child.own)
      $0.order.append(name)
    }
    note("add \(name) \(child.own.map { "\($0)" } ?? "-") in \(parent.name)")
    edit(child)
    noteHidden()
  }

  private func changeClass() {
    let candidates = window.all.filter { $0.canChangeClass && isSeen($0) && !isAboveHidden($0) }
    guard let one = candidates.randomElement(using: &random) else { return }
    let level = randomLevel
    one.own = level
    change { $0.notes[one.name]?.own = level }
    note("class \(one.name) \(level.map { "\($0)" } ?? "-")")
    noteHidden()
  }

  private func move() {
    let candidates = window.all.filter {
      !LifeState.isFixed($0.name) && isSeen($0) && !isAboveHidden($0)
    }
    guard let one = candidates.randomElement(using: &random) else { return }
    let below = Set(one.all.map(\.name))
    let parents = window.all.filter { !below.contains($0.name) && isSeen($0) }
    guard let parent = parents.randomElement(using: &random),
      let former = window.all.first(where: { $0.notes.contains { $0 === one } })
    else { return }
    former.notes.removeAll { $0 === one }
    parent.notes.append(one)
    change {
      $0.notes[one.name]?.parent = parent.name
      $0.order.removeAll { $0 == one.name }
      $0.order.append(one.name)
    }
    note("move \(one.name) to \(parent.name)")
    noteHidden()
  }

  /// What nobody sees below a note that is closed would stay, as nobody has read it: such a note is not closed here.
  private func remove() {
    let candidates = window.all.filter { one in
      !LifeState.isFixed(one.name) && isSeen(one)
        && now.allSatisfy { $0.children(of: one.name).isEmpty && $0.seen.children(of: one.name).isEmpty }
    }
    guard let one = candidates.randomElement(using: &random),
      let parent = window.all.first(where: { $0.notes.contains { $0 === one } })
    else { return }
    for (state, before) in zip(now, saved) {
      guard let former = state.notes[one.name] else { continue }
      // What was saved under a weaker class may be there, in the generation before: no save has seen it get a stronger one.
      let level = state.level(of: one.name)
      record.graves.append(
        .init(
          name: one.name, level: before.notes[one.name] == nil ? level : min(level, before.level(of: one.name)),
          words: LifeRecord.number(ofName: one.name) + former.former + [former.text].filter { $0 > 0 }))
    }
    record.graves = record.graves.suffix(40)
    parent.notes.removeAll { $0 === one }
    change { $0.remove(one.name) }
    note("remove \(one.name)")
  }

  /// Whether what can't be read lies below a note: its name stays where it is until the unlock, so its class is not changed here.
  private func isAboveHidden(_ note: Note) -> Bool {
    isPartial
      && now.contains { state in
        state.order.contains { $0 != note.name && state.lies($0, in: note.name) && !state.isVisible($0, at: readable) }
      }
  }

  private func noteHidden() {
    guard isPartial else { return }
    for one in window.all where now.contains(where: { !$0.seen.isVisible(one.name, at: readable) }) {
      hidden.insert(one.name)
    }
  }

  // MARK: - Saving

  /// Writes down what may be found from now on.
  private func announce() throws {
    for (old, new) in zip(saved, now) {
      if isPartial {
        let between = old.withHidden(of: new, above: readable)
        if !record.allowed.contains(between) { record.allowed.append(between) }
      }
      if !record.allowed.contains(new) { record.allowed.append(new) }
    }
    if readable == nil { record.waits = true }
    try record.write(places.record)
  }

  private func save() async throws {
    try announce()
    note("saving")
    let outcome = try await session.preserve()
    switch outcome {
    case .deferred(.locked):
      note("nothing to save")
      return
    default: break
    }
    guard outcome.receipt?.durability != .unknown else { throw Wrong(description: "a sync has failed") }
    if readable == .unlocked {
      record.waits = false
      for index in now.indices { now[index].settle() }
    }
    saved = now
    record.allowed = now
    record.acknowledged += 1
    try record.write(places.record)
    note("saved")
  }

  private func unlock() async throws {
    guard !session.device.isProtectedDataAvailable else { return }
    try announce()
    note("unlocking")
    let (all, before) = (now, readable)
    try await session.unlock(passcode: Self.passcode)
    (readable, isPartial, hidden) = (.unlocked, false, [])
    try compare("unlock", since: before)
    note("unlocked")
    // What a run saved of a note that could read less is newer than what it shows, until somebody goes on with it.
    for one in window.all where all.contains(where: { $0.isTorn(one.name, at: before) }) { edit(one) }
  }
}

/// Any source of random numbers, as one.
private struct Chooser: RandomNumberGenerator {
  private var source: any RandomNumberGenerator

  init(_ source: some RandomNumberGenerator) { self.source = source }

  mutating func next() -> UInt64 { source.next() }
}
