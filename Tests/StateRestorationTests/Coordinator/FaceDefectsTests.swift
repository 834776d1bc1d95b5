import RestorationArchive
import StateRestoration
import StateRestorationTesting
import Testing

/// Promises of the public face that a program meets in ordinary use, each checked through that face alone.
@MainActor @Suite struct FaceDefectsTests {
  // MARK: - A renamed class and a locked launch

  /// How a run that was launched on a locked device meets its stored state.
  enum Return: String, CaseIterable, Sendable {
    case unlockInTheRun
    case killAndNextLaunch
  }

  @Test(arguments: Return.allCases)
  func `a renamed class keeps its state when a child is edited while locked`(way: Return) async throws {
    let device = try await SimulatedDevice(passcode: "1234", gracePeriod: .zero)
    let harness = RestorationHarness<HierarchyApplication<Note>>(on: device)
    try await harness.launch {
      HierarchyApplication(Note.desk(tag: "editor")) { $0.registry.register(Note.self, as: "editor") }
    }
    let first = try #require(harness.application?.root.children.first)
    first.restorableState = "draft"
    first.children[0].restorableState = "left"
    first.children[1].restorableState = "right"
    try await harness.enterBackground()
    harness.killWithoutNotice()
    try await device.lock()

    try await harness.launch {
      HierarchyApplication(Note.desk(tag: "note")) {
        $0.registry.register(Note.self, as: "note", formerly: ["editor"])
      }
    }
    try #require(harness.report?.outcome == .locked)
    let second = try #require(harness.application?.root)
    second.children[0].children[0].restorableState = "typed"
    _ = try await harness.coordinator?.preserve(second)
    switch way {
    case .unlockInTheRun:
      try await device.unlock()
      try #require(await harness.lateReport()?.outcome == .restored)
    case .killAndNextLaunch:
      harness.killWithoutNotice()
      try await device.unlock()
      try await harness.relaunch()
    }
    let note = try #require(harness.application?.root.children.first)
    #expect(note.restorableState == "draft")
    #expect(note.children.map(\.restorableState) == ["typed", "right"])
  }

  // MARK: - Values that can't be encoded

  @Test func `an edit from one unencodable value to another survives the unlock and is reported`() async throws {
    let device = try await SimulatedDevice(passcode: "1234", gracePeriod: .zero)
    let harness = RestorationHarness<HierarchyApplication<Brittle>>(on: device)
    try await harness.launch { HierarchyApplication(Brittle("stored")) }
    try await harness.enterBackground()
    harness.killWithoutNotice()
    try await device.lock()

    try await harness.launch { HierarchyApplication(Brittle("fresh", fails: true)) }
    try #require(harness.report?.outcome == .locked)
    let root = try #require(harness.application?.root)
    root.restorableState.text = "typed"
    // Nothing is written for an object that has nothing to write; the next save that writes, or could, says why.
    _ = try await harness.coordinator?.preserve(root)
    try await device.unlock()
    _ = await harness.lateReport()
    #expect(root.restorableState.text == "typed")
    #expect(Self.unencodable(try await harness.coordinator?.preserve(root)) == [["root"]])
  }

  @Test func `an unencodable edit of an object that could not read its state is reported`() async throws {
    let device = try await SimulatedDevice()
    let harness = RestorationHarness<HierarchyApplication<Brittle>>(on: device)
    try await harness.launch { HierarchyApplication(NewerBrittle("newer")) }
    try await harness.enterBackground()

    harness.killWithoutNotice()
    try await harness.launch { HierarchyApplication(Brittle("fresh", fails: true)) }
    let root = try #require(harness.application?.root)
    try #require(harness.report?[["root"]]?.isRestored == false)
    root.restorableState.text = "typed"
    let outcome = try await harness.coordinator?.preserve(root)
    #expect(Self.unencodable(outcome) == [["root"]])
  }

  private static func unencodable(_ outcome: PreservationOutcome?) -> [RestorationPath] {
    (outcome?.receipt?.findings ?? []).compactMap { finding in
      if case .encodingFailed(let path, _) = finding { path } else { nil }
    }
  }

  // MARK: - Coding

  @Test func `an encoded nil decodes as nil, and the keys after it come back`() async throws {
    let harness = RestorationHarness<HierarchyApplication<Query>>(on: try await SimulatedDevice())
    try await harness.launch { HierarchyApplication(Query()) }.root.text = nil
    harness.application?.root.page = 7
    try await harness.restartAndRestore()
    #expect(harness.report?[["query"]]?.isRestored == true)
    #expect(harness.application?.root.text == nil)
    #expect(harness.application?.root.page == 7)
  }

  @Test func `a restored object that encoded nothing gets its decoding turn`() async throws {
    let harness = RestorationHarness<HierarchyApplication<Selection>>(on: try await SimulatedDevice())
    try await harness.launch { HierarchyApplication(Selection()) }.root.selected = nil
    try await harness.restartAndRestore()
    #expect(harness.report?[["selection"]]?.isRestored == true)
    #expect(harness.application?.root.decodings == 1)
    #expect(harness.application?.root.selected == nil)
  }

  @Test func `an object whose coder method throws keeps none of the values assigned before`() async throws {
    let harness = RestorationHarness<HierarchyApplication<Form>>(on: try await SimulatedDevice())
    try await harness.launch { HierarchyApplication(Form()) }.root.title = "stored"
    harness.application?.root.body = "stored"
    try await harness.enterBackground()
    harness.killWithoutNotice()
    try await harness.launch { HierarchyApplication(Form(failsDecoding: true)) }
    #expect(harness.report?[["form"]]?.isRestored == false)
    #expect(harness.application?.root.title == "fresh")
    #expect(harness.application?.root.body == "fresh")
    // The stored state is offered again, whole.
    harness.killWithoutNotice()
    try await harness.launch { HierarchyApplication(Form()) }
    #expect(harness.application?.root.title == "stored")
    #expect(harness.application?.root.body == "stored")
  }

  // MARK: - Background launches

  @Test func `a program launched for a background event preserves before it is suspended`() async throws {
    let harness = RestorationHarness<Fetcher>(on: try await SimulatedDevice())
    try await harness.launch { Fetcher() }
    try await harness.enterBackground()
    harness.killWithoutNotice()
    let fetched = try await harness.relaunch(.backgroundEvent("fetch"))
    try #require(fetched.root.restorableState == "fetched" && harness.lifecycle?.state == .suspended)
    #expect(try await harness.relaunch().root.restorableState == "fetched")
  }

  // MARK: - Deep trees

  @Test func `a tree deeper than 1 024 levels is saved as far as it goes, and the rest is reported`() async throws {
    let depth = 1_100
    let harness = RestorationHarness<HierarchyApplication<Note>>(on: try await SimulatedDevice())
    try await harness.launch { HierarchyApplication(Note.chain(depth)) }
    let first = try #require(harness.application?.root)
    for (level, note) in first.levels.enumerated() { note.restorableState = "level \(level)" }
    let outcome = try await harness.coordinator?.preserve(first)
    let findings = outcome?.receipt?.findings ?? []
    let second = try await harness.relaunch().root
    let restored = second.levels.enumerated().prefix { level, note in note.restorableState == "level \(level)" }.count
    #expect(restored >= 1_000)
    #expect(restored == depth || !findings.isEmpty)
  }
}

// MARK: - Programs

/// A controller with a text and controllers below it.
private final class Note: StatefulObject, RestorationContainer {
  let restoration: RestorationIdentity
  var restorableState = ""
  private(set) var children: [Note]

  init(_ identifier: RestorationIdentifier, tag: RestorationIdentity.ClassTag? = nil, children: [Note] = []) {
    restoration = RestorationIdentity(identifier, class: tag)
    self.children = children
  }

  var restorationChildren: [any RestorableController] { children }

  func restorationRole(of child: any RestorableController) -> RestoredChild.Role? { nil }
  func installRestoredChildren(_ restored: [RestoredChild]) {
    children = restored.compactMap { $0.controller as? Note }
  }

  /// A root with one note of a class tag, in which there are two more.
  static func desk(tag: RestorationIdentity.ClassTag) -> Note {
    Note("desk", children: [Note("note", tag: tag, children: [Note("left"), Note("right")])])
  }

  /// Notes in each other.
  static func chain(_ depth: Int) -> Note {
    var top = Note("deep")
    for _ in 1..<depth { top = Note("deep", children: [top]) }
    return top
  }

  /// The notes from the top down, by their first children.
  var levels: [Note] {
    var levels = [self]
    while let next = levels.last?.children.first { levels.append(next) }
    return levels
  }
}

/// A text that may refuse to be encoded.
private nonisolated struct BrittleText: Codable, Sendable {
  var text: String
  var fails: Bool

  init(text: String, fails: Bool) {
    self.text = text
    self.fails = fails
  }

  init(from decoder: any Decoder) throws {
    text = try decoder.singleValueContainer().decode(String.self)
    fails = false
  }

  func encode(to encoder: any Encoder) throws {
    if fails { throw EncodingError.invalidValue(text, .init(codingPath: [], debugDescription: "as the test wants")) }
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

private class Brittle: RestorableController, StatefulObject {
  class var version: StateVersion { 1 }
  var restoration: RestorationIdentity { RestorationIdentity("root", version: Self.version) }
  var restorableState: BrittleText

  init(_ text: String, fails: Bool = false) { restorableState = BrittleText(text: text, fails: fails) }
}

private final class NewerBrittle: Brittle {
  override class var version: StateVersion { 2 }
}

/// Codes an optional value whether or not it has one.
private final class Query: RestorableController, CodingObject {
  let restoration: RestorationIdentity = "query"
  var text: String? = "fresh"
  var page = 1

  func encodeRestorableState(with coder: RestorationEncoder) {
    coder.encode(text, forKey: "text")
    coder.encode(page, forKey: "page")
  }

  func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    text = try coder.decodeIfPresent(String.self, forKey: "text")
    page = try coder.decode(Int.self, forKey: "page")
  }
}

/// Encodes a value only while it has one.
private final class Selection: RestorableController, CodingObject {
  let restoration: RestorationIdentity = "selection"
  var selected: String? = "first"
  private(set) var decodings = 0

  func encodeRestorableState(with coder: RestorationEncoder) {
    if let selected { coder.encode(selected, forKey: "selected") }
  }

  func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    decodings += 1
    selected = try coder.decodeIfPresent(String.self, forKey: "selected")
  }
}

/// Preserves by a marked property and by a coder method, which may fail.
private final class Form: RestorableController, CodingObject {
  let restoration: RestorationIdentity = "form"
  @Restored("title") var title = "fresh"
  var body = "fresh"
  private let failsDecoding: Bool

  init(failsDecoding: Bool = false) { self.failsDecoding = failsDecoding }

  func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(body, forKey: "body") }

  func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    if failsDecoding { throw RestorationError(.invalidState, "as the test wants") }
    body = try coder.decode(String.self, forKey: "body")
  }
}

/// A program that fetches something in the background.
private final class Fetcher: HarnessApplication {
  let root = Note("root")
  var rootController: (any RestorableController)? { root }

  func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
  func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }
  func handleBackgroundEvent(_ name: String) { root.restorableState = "fetched" }
}
