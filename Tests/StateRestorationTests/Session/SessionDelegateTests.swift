import ApplicationLifecycle
import DataProtection
import FoundationEssentials
import StateRestorationTesting
import TestTraits
import Testing

@testable import StateRestoration

/// What a program of `RestorationSession.run` can do through its delegate.
@MainActor @Suite(.tags(.threads)) struct SessionDelegateTests {
  /// A program with a setting of its own, a picture, and a version that it asks for.
  @MainActor final class Program: RestorationSessionDelegate {
    var sortsByDate = false
    var wanted: RestorationArchive.VersionTag = "1"
    private(set) var calls: [String] = []
    private(set) var shown: Data?

    func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { coder.context.versionTag == wanted }
    func willEncodeRestorableState(with coder: RestorationEncoder) { coder.encode(sortsByDate, forKey: "sort") }
    func didDecodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      sortsByDate = try coder.decodeIfPresent(Bool.self, forKey: "sort") ?? false
    }
    func didFinishLaunching(with options: Lifecycle.LaunchOptions) -> Lifecycle.LaunchResponse {
      calls.append("didFinishLaunching")
      return .proceed
    }
    func didEnterBackground() async {
      await Task.yield()
      calls.append("didEnterBackground")
    }
    func willTerminate() { calls.append("willTerminate") }
    func didPreserve(_ result: Result<PreservationOutcome, RestorationError>) { calls.append("didPreserve") }
    func makeSnapshot() -> Data? { Data("picture".utf8) }
    func showSnapshot(_ snapshot: Data) { shown = snapshot }
    func sessionDidEnd(by signal: Lifecycle.Signal?) { calls.append("end \(signal?.description ?? "of the body")") }
  }

  private func run(
    _ device: SimulatedDevice, _ program: Program, _ value: StoredValue<String>,
    _ body: @MainActor (RestorationSession) async throws -> Void
  ) async throws {
    device.reboot()
    let process = try await device.startProcess()
    try await RestorationSession.run(on: process.device, root: value, delegate: program, answering: [], body)
  }

  @Test func `a delegate has consent, state of its own, callbacks, snapshots and the end`() async throws {
    let device = try await SimulatedDevice()
    let first = Program()
    try await run(device, first, StoredValue("value", "")) { session in
      first.sortsByDate = true
      (session.root as? StoredValue<String>)?.value = "kept"
      try await session.application?.lifecycle.enterBackground()
      try await session.application?.lifecycle.enterForeground()
    }
    #expect(
      first.calls.filter { $0 != "didPreserve" }
        == ["didFinishLaunching", "didEnterBackground", "willTerminate", "end of the body"])
    #expect(first.calls.suffix(2) == ["didPreserve", "end of the body"], "after the last save")

    let (second, value) = (Program(), StoredValue("value", ""))
    try await run(device, second, value) { _ in
      #expect(value.value == "kept" && second.sortsByDate && second.shown == Data("picture".utf8))
    }

    let (third, other) = (Program(), StoredValue("value", ""))
    third.wanted = "2"
    try await run(device, third, other) { session in
      #expect(session.report.outcome == .declined && other.value == "" && !third.sortsByDate)
    }
  }

  @Test func `a delegate is told of the end when the body throws, once`() async throws {
    struct Failure: Error {}
    let program = Program()
    await #expect(throws: Failure.self) {
      try await run(try await SimulatedDevice(), program, StoredValue("value", "")) { _ in throw Failure() }
    }
    #expect(program.calls.filter { $0.hasPrefix("end") } == ["end of the body"])
  }

  @Test func `the state of the whole program is one beside all windows, whichever comes back last`() async throws {
    let device = try await SimulatedDevice()
    func run(
      _ program: Program, _ body: @MainActor (RestoredWindows<StoredValue<String>>) async throws -> Void
    ) async throws {
      device.reboot()
      let process = try await device.startProcess()
      try await RestorationSession.run(
        on: process.device, windows: { StoredValue("window", $0.id.rawValue) }, delegate: program, body)
    }
    try await run(Program()) { windows in
      for name in ["a", "b"] as [RestoredWindow.ID] { _ = try await windows.open(name).value = "one" }
    }
    let second = Program()
    try await run(second) { windows in
      // Only one window changes with the setting: the other one's archive is older than it.
      second.sortsByDate = true
      windows["a"]?.value = "two"
    }
    let third = Program()
    try await run(third) { windows in
      #expect(third.sortsByDate && windows["a"]?.value == "two" && windows["b"]?.value == "one")
      third.sortsByDate = false
      windows.invalidateApplicationState()
    }
    let fourth = Program()
    try await run(fourth) { windows in
      #expect(!fourth.sortsByDate && windows.roots.count == 2)
      for name in ["a", "b"] as [RestoredWindow.ID] { try await windows.close(name) }
      fourth.sortsByDate = true
    }
    let fifth = Program()
    try await run(fifth) { windows in #expect(fifth.sortsByDate && windows.roots.isEmpty, "without any window") }
  }

  @Test func `windows have the same delegate, beside any number of them`() async throws {
    let device = try await SimulatedDevice()
    for launch in 0..<2 {
      device.reboot()
      let process = try await device.startProcess()
      let program = Program()
      try await RestorationSession.run(
        on: process.device, windows: { StoredValue("window", $0.id.rawValue) }, delegate: program
      ) { windows in
        if launch == 0 {
          for name in ["a", "b"] as [RestoredWindow.ID] { _ = try await windows.open(name) }
          program.sortsByDate = true
          windows["a"]?.value = "changed"
          windows["b"]?.value = "changed too"
        } else {
          #expect(program.sortsByDate && windows["a"]?.value == "changed" && windows["b"]?.value == "changed too")
          #expect(windows.application != nil)
        }
      }
      #expect(program.calls.last == "end of the body")
    }
  }
}
