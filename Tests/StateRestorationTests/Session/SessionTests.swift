import DataProtection
import FoundationEssentials
import Patience
import StateRestoration
import StateRestorationTesting
import TestTraits
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// A session does for a program what the quick start shows: it comes back, whatever ended it.
@MainActor @Suite(.tags(.threads)) struct SessionTests {
  nonisolated private static func makeFolder() -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: "session-\(UUID())").path
    try? FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return folder
  }

  /// What the next launch finds.
  private func nextLaunch(_ folder: String) async throws -> String {
    let draft = StoredValue("draft", "")
    return try await RestorationSession.run(at: .directory(folder), root: draft, answering: []) { _ in draft.value }
  }

  @Test func `a change survives kill -9`() async throws {
    let folder = Self.makeFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    await #expect(processExitsWith: .signal(SIGKILL)) { @MainActor [folder = folder as String] in
      let draft = StoredValue("draft", "")
      try await RestorationSession.run(at: .directory(folder), root: draft) { session in
        draft.value = "typed"
        try await waitUntil("a save") { session.coordinator.lastReceipt?.kind == .change }
        kill(getpid(), SIGKILL)
        try await Task.sleep(for: .seconds(10))
      }
    }
    #expect(try await nextLaunch(folder) == "typed")
  }

  enum End: String, CaseIterable, Codable, Sendable {
    case returns, throwsAnError, exits, isTerminated
  }

  @Test(arguments: End.allCases) func `the last change is saved however the program ends`(_ end: End) async throws {
    let folder = Self.makeFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let expected: ExitTest.Condition =
      switch end {
      case .returns, .throwsAnError: .exitCode(3)
      case .exits: .exitCode(4)
      case .isTerminated: .signal(SIGTERM)
      }
    await #expect(processExitsWith: expected) { @MainActor [folder = folder as String, end = end as End] in
      let draft = StoredValue("draft", "")
      try? await RestorationSession.run(at: .directory(folder), root: draft) { session in
        draft.value = "first"
        try await session.preserve()
        // The interval after a save has not passed: nothing but the end saves this.
        draft.value = "last"
        switch end {
        case .returns: return
        case .throwsAnError: throw CancellationError()
        case .exits: exit(4)
        case .isTerminated:
          kill(getpid(), SIGTERM)
          try await Task.sleep(for: .seconds(10))
        }
      }
      exit(3)
    }
    #expect(try await nextLaunch(folder) == "last")
  }

  @Test(arguments: 0..<4) func `a program that calls exit away from the main actor ends, and what was saved stays`(
    _ round: Int
  ) async throws {
    let folder = Self.makeFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    await #expect(processExitsWith: .exitCode(5)) { @MainActor [folder = folder as String] in
      let draft = StoredValue("draft", "")
      try? await RestorationSession.run(at: .directory(folder), root: draft) { session in
        draft.value = "first"
        try await session.preserve()
        // The main actor is free: the other thread may be one that it has run on.
        Task.detached { exit(5) }
        try await Task.sleep(for: .seconds(10))
      }
    }
    #expect(try await nextLaunch(folder) == "first")
  }

  @Test func `a scope of values is a root`() async throws {
    let device = try await SimulatedDevice()
    for round in 0..<2 {
      let (draft, tab) = (StoredValue("draft", ""), StoredValue("tab", 0))
      let session = try await RestorationSession.open(
        on: try await device.startProcess().device, root: RestorationScope("app", draft, tab))
      #expect(draft.value == (round == 0 ? "" : "typed") && tab.value == (round == 0 ? 0 : 2))
      (draft.value, tab.value) = ("typed", 2)
      try await session.close()
    }
  }

  /// A device that holds a draft, restarted and locked.
  private func deviceThatKeeps(_ text: String) async throws -> SimulatedDevice {
    let device = try await SimulatedDevice(passcode: "1234")
    let draft = StoredValue("draft", "")
    let session = try await RestorationSession.open(on: try await device.startProcess().device, root: draft)
    draft.value = text
    try await session.close()
    device.reboot()
    return device
  }

  @Test func `an unlock gives the report of what came back`() async throws {
    let device = try await deviceThatKeeps("kept")
    let second = StoredValue("draft", "")
    let process = try await device.startProcess()
    let locked = try await RestorationSession.open(on: process.device, root: second)
    #expect(locked.report.outcome == .locked && second.value.isEmpty)
    let report = try await locked.unlock(passcode: "1234")
    #expect(report.outcome == .restored && second.value == "kept")
  }

  @Test func `what is typed right after a session has opened locked is kept by the unlock`() async throws {
    let device = try await deviceThatKeeps("kept")
    let second = StoredValue("draft", "")
    let process = try await device.startProcess()
    let locked = try await RestorationSession.open(on: process.device, root: second)
    second.value = "typed"
    // Without a save in between, which would take it for an edit in any case.
    _ = try await locked.unlock(passcode: "1234")
    #expect(second.value == "typed")
    try await locked.close()
    let third = StoredValue("draft", "")
    _ = try await RestorationSession.open(on: try await device.startProcess().device, root: third)
    #expect(third.value == "typed")
  }

  @Test func `an unlock ends also when the disk fails, and what is stored stays`() async throws {
    let before = try await deviceThatKeeps("kept").contents
    var outcomes: [RestorationReport.Outcome] = []
    for call in 1...40 {
      let device = try await SimulatedDevice(passcode: "1234")
      device.contents = before
      let draft = StoredValue("draft", "")
      let locked = try await RestorationSession.open(on: try await device.startProcess().device, root: draft)
      for failing in call..<call + 100 { device.failDisk(atCall: failing, .unreachable) }
      do throws(RestorationError) {
        outcomes.append(try await locked.unlock(passcode: "1234").outcome)
      } catch {
        device.healDisk()
        outcomes.append(try await locked.unlock(passcode: "1234").outcome)
      }
      #expect(draft.value == "kept" || outcomes.last == .unavailable, "call \(call)")
    }
    #expect(outcomes.contains(.unavailable) && outcomes.last == .restored)
  }

  struct Width: VersionedState, Equatable {
    static var stateVersion: StateVersion { 2 }
    static var migrations: StateMigrations<Width> {
      StateMigrations(from: 1) { (old: Int) in Width(points: Double(old)) }
    }
    var points: Double
  }

  @Test func `a value of an older version is migrated`() async throws {
    let bench = Bench()
    try await bench.preserve(StoredValue("width", 12))
    let width = StoredValue("width", Width(points: 0))
    let report = try await bench.launch().restore(into: width)
    #expect(width.value == Width(points: 12))
    #expect(report.nodes.first?.remarks == [.migrated(from: 1, to: 2)])
  }

  @Test func `a value that is nil comes back as nil, also in a later version`() async throws {
    let bench = Bench()
    let stored = RestorationScope("app", StoredValue<Int?>("a", nil), StoredValue<Int?>("b", nil))
    _ = try await bench.launch().preserve(stored)
    let (same, later) = (StoredValue<Int?>("a", 7), StoredValue<Width?>("b", Width(points: 7)))
    let report = try await bench.launch().restore(into: RestorationScope("app", same, later))
    #expect(report.restoredCount == 3)
    #expect(same.value == nil)
    #expect(later.value == nil)
    let (coordinator, edited) = (bench.launch(), StoredValue<Int?>("b", nil))
    let group = RestorationScope("app", edited)
    _ = try await coordinator.restore(into: group)
    edited.value = 3
    _ = try await coordinator.preserve(group)
    _ = try await bench.launch().restore(into: RestorationScope("app", later))
    #expect(later.value == Width(points: 3))
  }
}
