import FoundationEssentials
import Patience
import StateRestorationTesting
import TestTraits
import Testing

@testable import StateRestoration

/// What a version of the program can't read of a scope stays beside what it sets, whenever it asks, and is told.
@MainActor @Suite(.tags(.threads)) struct UnreadValueTests {
  private struct Before: Codable { var text = "" }

  private struct After: VersionedState {
    var text = ""
    static var stateVersion: StateVersion { 2 }
    static var migrations: StateMigrations<After> {
      StateMigrations(from: 1) { (old: Before) in After(text: old.text) }
    }
  }

  /// When the older program asks for the value.
  enum Asking: CaseIterable { case beforeLaunch, afterLaunch, onAnyThread }

  /// Runs a program that is nothing but a scope, in a session; the value is in a scope below it where that is asked for.
  private func run(
    _ device: SimulatedDevice, isNested: Bool, before: (RestorationScope) -> Void = { _ in },
    _ body: (RestorationScope, RestorationSession) async throws -> Void
  ) async throws {
    let root = RestorationScope("root")
    let scope = { isNested ? root.scope("nested") : root }
    before(scope())
    try await RestorationSession.run(on: try await device.startProcess().device, root: root) { session in
      try await body(scope(), session)
    }
    device.reboot()
  }

  @Test(arguments: Asking.allCases, [false, true])
  func `a value of a newer version stays, and is beside the one that was set`(
    asking: Asking, isNested: Bool
  ) async throws {
    for size in [1, 300_000] {
      let device = try await SimulatedDevice()
      let newer = String(repeating: "n", count: size)
      try await run(device, isNested: isNested) { (scope, _) async throws in
        scope.value("draft", default: After()).value.text = newer
      }
      let declare = { (scope: RestorationScope) in _ = scope.value("draft", default: Before()) }
      try await run(device, isNested: isNested, before: asking == .beforeLaunch ? declare : { _ in }) {
        (scope, session) async throws in
        if asking == .onAnyThread {
          let failure = #expect(throws: RestorationError.self) { try scope.value(ofType: Before.self, forKey: "draft") }
          #expect(failure?.code == .newerVersion)
          try await Task.detached { try scope.setValue(Before(text: "older"), forKey: "draft") }.value
        } else {
          let draft = scope.value("draft", default: Before())
          #expect(draft.value.text.isEmpty)
          draft.value.text = "older"
        }
        let path: RestorationPath = isNested ? ["root", "nested", "draft"] : ["root", "draft"]
        let node = session.report[path]
        #expect(node?.notRestoredReason?.description.contains("has version 2") == true)
      }
      try await run(device, isNested: isNested) { (scope, _) async throws in
        #expect(scope.value("draft", default: After()).value.text == "older")
        var stored: [String] = []
        #expect(scope.settleConflict(ofKey: "draft") { (values: [After]) in stored = values.map(\.text) })
        #expect(stored == [newer])
      }
    }
  }

  /// What another thread was not given is said in a turn of its own.
  private func waitForReason(in session: RestorationSession) async throws {
    try await waitUntil("the report") { session.report[["root", "draft"]]?.notRestoredReason != nil }
  }

  @Test(arguments: Asking.allCases, [1, 300_000])
  func `the newest value that can be read is given, and all others stay`(asking: Asking, size: Int) async throws {
    let device = try await SimulatedDevice(passcode: "1234")
    let older = String(repeating: "o", count: size)
    try await run(device, isNested: false) { (scope, _) async throws in
      scope.value("draft", default: Before()).value.text = older
    }
    // What a newer version types while it can read nothing lies beside that.
    try await run(device, isNested: false) { (scope, session) async throws in
      scope.value("draft", default: After()).value.text = "newer"
      _ = try await session.unlock(passcode: "1234")
    }
    for (edit, expected) in [(nil, older), ("beside", older), (nil, "beside")] as [(String?, String)] {
      let declare = { (scope: RestorationScope) in _ = scope.value("draft", default: Before()) }
      try await run(device, isNested: false, before: asking == .beforeLaunch ? declare : { _ in }) {
        (scope, session) async throws in
        _ = try await session.unlock(passcode: "1234")
        let found: String? =
          if asking == .onAnyThread {
            try await Task.detached { try scope.value(ofType: Before.self, forKey: "draft")?.text }.value
          } else {
            scope.value("draft", default: Before()).value.text
          }
        #expect(found == expected)
        if expected == older {
          #expect(!scope.settleConflict(ofKey: "draft") { (_: [Before]) in Issue.record("it has the older value") })
          try await waitForReason(in: session)
          let node = session.report[["root", "draft"]]
          #expect(node?.notRestoredReason?.description.contains("has version 2") == true)
          #expect(node?.remarks == [.olderRecordGiven])
        }
        if let edit { scope.value("draft", default: Before()).value.text = edit }
      }
    }
    try await run(device, isNested: false) { (scope, session) async throws in
      _ = try await session.unlock(passcode: "1234")
      #expect(scope.value("draft", default: After()).value.text == "beside")
      var stored: [String] = []
      #expect(scope.settleConflict(ofKey: "draft") { (values: [After]) in stored = values.map(\.text) })
      // A record that was given is replaced by the edit.
      #expect(stored == (asking == .beforeLaunch ? [] : [older]) + ["newer"])
    }
  }

  @Test(arguments: [false, true])
  func `a value of another type stays beside the one that is set, also where nobody has asked for it`(
    isMainActor: Bool
  ) async throws {
    let device = try await SimulatedDevice()
    try await run(device, isNested: false) { (scope, _) async throws in scope.value("key", default: 0).value = 7 }
    for text in ["one", "two"] {
      try await run(device, isNested: false) { (scope, _) async throws in
        if isMainActor {
          scope.value("key", default: "").value = text
        } else {
          try scope.setValue(text, forKey: "key")
        }
      }
    }
    try await run(device, isNested: false) { (scope, _) async throws in
      #expect(scope.value("key", default: "").value == "two")
      var stored: [Int] = []
      #expect(scope.settleConflict(ofKey: "key") { (values: [Int]) in stored = values })
      #expect(stored == [7])
    }
  }

  @Test func `a value that nobody can read is told once in the log`() async throws {
    let bench = Bench()
    let log = MemoryLog()
    try await bench.preserve(StoredScopes.holding(7))
    bench.configuration.log = log.log
    let (coordinator, scope) = (bench.launch(), RestorationScope())
    _ = try await coordinator.restore(into: scope)
    #expect(log.warnings.isEmpty)
    let value = scope.value("key", default: "")
    for _ in 0..<3 { #expect(value.value.isEmpty) }
    #expect(log.warnings.count == 1)
    #expect(log.warnings.first?.hasPrefix("scope/key: The stored value is not String") == true)
  }

  @Test(arguments: [false, true])
  func `a field that was renamed without a version is told, once`(isDeclared: Bool) async throws {
    struct Renamed: Codable { var words = "" }
    let bench = Bench()
    let log = MemoryLog()
    let stored = RestorationScope()
    stored.value("draft", default: Before()).value.text = "typed"
    try await bench.preserve(stored)
    bench.configuration.log = log.log
    let (coordinator, scope) = (bench.launch(), RestorationScope())
    if isDeclared { _ = scope.value("draft", default: Renamed()) }
    _ = try await coordinator.restore(into: scope)
    #expect(log.warnings.isEmpty != isDeclared)
    for _ in 0..<3 { #expect(scope.value("draft", default: Renamed()).value.words.isEmpty) }
    #expect(log.warnings.count == 1)
    #expect(log.warnings.first?.hasPrefix("scope/draft: nobody reads “text”, and the next edit drops it") == true)
    #expect(coordinator.lastReport?[["scope", "draft"]]?.remarks == [.unreadKeys(["text"])])
  }

  @Test func `keys are those that have a value, stored or set`() async throws {
    let device = try await SimulatedDevice()
    try await run(device, isNested: false) { (scope, _) async throws in
      #expect(scope.keys.isEmpty)
      for key in ["b", "a", "c"] { try scope.setValue(1, forKey: key) }
      _ = scope.value("declared", default: 0)
      scope.scope("pane").value("inner", default: 0).value = 1
      #expect(scope.keys == ["a", "b", "c"])
    }
    try await run(device, isNested: false) { (scope, _) async throws in
      try scope.setValue(1, forKey: "d")
      scope.removeValue(forKey: "b")
      #expect(scope.keys == ["a", "c", "d"])
    }
  }
}

private enum StoredScopes {
  /// A scope with a number.
  @MainActor static func holding(_ number: Int) -> RestorationScope {
    let scope = RestorationScope()
    scope.value("key", default: 0).value = number
    return scope
  }
}
