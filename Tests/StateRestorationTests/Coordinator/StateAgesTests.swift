import DataProtection
import FoundationEssentials
import Observation
import StateRestoration
import StateRestorationTesting
import Testing

/// State of a class with an age limit is as old as the last save in which its object was there.
@MainActor @Suite struct StateAgesTests {
  private func launch(_ bench: Bench) -> RestorationCoordinator {
    bench.launch { $0.register(Screen.self, as: "note", freshFor: .seconds(60)) }
  }

  private func hierarchy() -> (root: Screen, note: Screen) {
    let note = Screen("note", tag: "note")
    note.restorationChildren = [Screen("page")]
    return (Screen("root", children: [note, Screen("beside")]), note)
  }

  /// A run that has saved a note, which is still open.
  private func opened(_ bench: Bench) async throws -> (coordinator: RestorationCoordinator, root: Screen, note: Screen)
  {
    let coordinator = launch(bench)
    let (root, note) = hierarchy()
    _ = try await coordinator.restore(into: root)
    note.text = "note"
    note["page"]?.text = "page"
    _ = try await coordinator.preserve(root)
    return (coordinator, root, note)
  }

  @Observable final class Memo: RestorableController, StatefulObject {
    let restoration: RestorationIdentity
    var restorableState = ""

    init(_ identifier: RestorationIdentifier) { restoration = RestorationIdentity(identifier, class: "memo") }
  }

  /// What changes while the note is open and nobody edits it.
  enum Change: CaseIterable, Sendable {
    case nothing, something, below
  }

  @Test(arguments: Change.allCases, [false, true])
  func `what is there at every save does not grow too old`(change: Change, isInOneRun: Bool) async throws {
    let bench = Bench()
    var (coordinator, root, note) = try await opened(bench)
    for round in 0..<5 {
      bench.time += 40
      if !isInOneRun {
        coordinator = launch(bench)
        (root, note) = hierarchy()
        _ = try await coordinator.restore(into: root)
        #expect(note.text == "note")
      }
      switch change {
      case .nothing: break
      case .something: root["beside"]?.text = "\(round)"
      case .below: note["page"]?.text = "\(round)"
      }
      _ = try await coordinator.preserve(root)
    }
    bench.time += 40
    let (next, again) = hierarchy()
    let report = try await launch(bench).restore(into: next)
    #expect(again.text == "note", "\(report)")
    #expect(again["page"]?.text == (change == .below ? "4" : "page"))
  }

  @Test func `of several plain objects of a class none grows too old while it is there`() async throws {
    let bench = Bench()
    let names: [RestorationIdentifier] = ["first", "second", "third"]
    func launch() -> RestorationCoordinator {
      bench.launch { $0.register(Memo.self, as: "memo", freshFor: .seconds(60)) }
    }
    func hierarchy() -> (root: Screen, memos: [Memo]) {
      let memos = names.map(Memo.init)
      return (Screen("root", children: memos), memos)
    }
    let (coordinator, (root, memos)) = (launch(), hierarchy())
    _ = try await coordinator.restore(into: root)
    for memo in memos { memo.restorableState = "text" }
    for _ in 0..<5 {
      _ = try await coordinator.preserve(root)
      bench.time += 40
    }
    let (next, again) = hierarchy()
    _ = try await launch().restore(into: next)
    #expect(again.map(\.restorableState) == ["text", "text", "text"])
  }

  @Test func `what is not there grows old, whatever else is saved`() async throws {
    let bench = Bench()
    let (coordinator, root, note) = try await opened(bench)
    #expect(note.text == "note")
    _ = try await coordinator.preserve(root)
    let later = launch(bench)
    let bare = Screen("root", children: [Screen("beside")])
    _ = try await later.restore(into: bare)
    for round in 0..<2 {
      bench.time += 40
      bare["beside"]?.text = "\(round)"
      _ = try await later.preserve(bare)
    }
    let (next, again) = hierarchy()
    _ = try await launch(bench).restore(into: next)
    #expect(again.text.isEmpty)
  }

  @Test func `what is there again is as old as the save that has it again`() async throws {
    let bench = Bench()
    _ = try await opened(bench)
    bench.time += 30
    let bare = Screen("root", children: [Screen("beside")])
    let away = launch(bench)
    _ = try await away.restore(into: bare)
    bare["beside"]?.text = "away"
    _ = try await away.preserve(bare)
    bench.time += 25
    let back = launch(bench)
    let (root, note) = hierarchy()
    _ = try await back.restore(into: root)
    #expect(note.text == "note")
    root["beside"]?.text = "back"
    _ = try await back.preserve(root)
    bench.time += 40
    let (next, again) = hierarchy()
    let report = try await launch(bench).restore(into: next)
    #expect(again.text == "note", "\(report)")
  }

  @Test func `nothing is written for the time alone until it has moved on by a sixteenth of the limit`() async throws {
    let bench = Bench()
    bench.time = Date(timeIntervalSinceReferenceDate: 60_000)
    let (coordinator, root, _) = try await opened(bench)
    bench.time += 3.7
    guard case .unchanged = try await coordinator.preserve(root) else {
      Issue.record("written though nothing has changed")
      return
    }
    bench.time += 0.1
    guard case .preserved = try await coordinator.preserve(root) else {
      Issue.record("nothing written though the time has moved on")
      return
    }
    guard case .unchanged = try await coordinator.preserve(root) else {
      Issue.record("written twice")
      return
    }
  }

  /// A machine whose clock nobody sets.
  private struct Machine: BootClock {
    var boot: UInt8 = 1
    var seconds: Double
    var bootIdentifier: [UInt8] { [UInt8](repeating: boot, count: 16) }
    var elapsed: Duration { .seconds(seconds) }
  }

  /// A run that saves a note when the time of day is a guess; returns the reason why the next run leaves it out.
  private func reason(
    savedAt saved: Double, on machine: Machine, restoredAt restored: Double, on later: Machine
  ) async throws -> RestorationReport.NotRestoredReason? {
    let bench = Bench()
    bench.time = Date(timeIntervalSinceReferenceDate: saved)
    bench.configuration.bootClock = machine
    _ = try await opened(bench)
    bench.time = Date(timeIntervalSinceReferenceDate: restored)
    bench.configuration.bootClock = later
    let (root, _) = hierarchy()
    return try await launch(bench).restore(into: root)[["root", "note"]]?.notRestoredReason
  }

  @Test func `state that was saved before the clock was set is not old within the same boot`() async throws {
    let year = 365.0 * 86400
    #expect(
      try await reason(savedAt: 0, on: Machine(seconds: 5), restoredAt: 25 * year, on: Machine(seconds: 20)) == nil)
    let old = try await reason(
      savedAt: 0, on: Machine(seconds: 5), restoredAt: 25 * year, on: Machine(seconds: 66))
    #expect(old == .expired(age: 61, limit: 60))
    let rebooted = try await reason(
      savedAt: 25 * year, on: Machine(seconds: 900), restoredAt: 25 * year + 61, on: Machine(boot: 2, seconds: 5))
    #expect(rebooted == .expired(age: 61, limit: 60))
  }

  @Test func `a save while the clock is behind is of the newest time seen`() async throws {
    let bench = Bench()
    bench.time = Date(timeIntervalSinceReferenceDate: 1_000_000)
    let (coordinator, root, note) = try await opened(bench)
    // The battery of the clock is empty.
    bench.time = Date(timeIntervalSinceReferenceDate: 0)
    note.text = "later"
    _ = try await coordinator.preserve(root)
    bench.time = Date(timeIntervalSinceReferenceDate: 1_000_030)
    let (next, again) = hierarchy()
    let report = try await launch(bench).restore(into: next)
    #expect(report[["root", "note"]]?.isRestored == true, "\(report)")
    #expect(again.text == "later")
  }
}
