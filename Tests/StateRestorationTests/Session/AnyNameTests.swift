import DataProtection
import FoundationEssentials
import StateRestorationTesting
import TestTraits
import Testing

@testable import StateRestoration

/// Names of windows and of values: any text is one.
@MainActor @Suite(.tags(.threads), .timeLimit(.minutes(5))) struct AnyNameTests {
  typealias Windows = RestoredWindows<RestorationScope>

  private func run<Result>(
    _ device: SimulatedDevice, registry: RestorationRegistry = RestorationRegistry(),
    _ body: @MainActor (Windows) async throws -> Result
  ) async throws -> Result {
    let process = try await device.startProcess()
    var configuration = RestorationConfiguration()
    configuration.log = MemoryLog().log
    return try await RestorationSession.run(
      on: process.device, windows: { _ in RestorationScope("window") }, registry: registry,
      configuration: configuration, body)
  }

  @Test func `a window without a name is a window like any other`() async throws {
    let device = try await SimulatedDevice()
    try await run(device) { windows in
      let program = try await windows.openScope()
      try program.setValue("program", forKey: "whose")
      let window = try await windows.open("")
      try window.setValue("window", forKey: "whose")
      _ = try await windows.preserve()
    }
    device.reboot()
    try await run(device) { windows in
      let program = try await windows.openScope()
      #expect(try program.value(ofType: String.self, forKey: "whose") == "program")
      #expect(try windows[""]?.value(ofType: String.self, forKey: "whose") == "window")
    }
  }

  @Test func `a window that is opened without a name before the program's values`() async throws {
    let device = try await SimulatedDevice()
    try await run(device) { windows in
      let window = try await windows.open("")
      try window.setValue("window", forKey: "whose")
      _ = try await windows.preserve()
      try await windows.close("")
    }
    device.reboot()
    try await run(device) { windows in
      let program = try await windows.openScope()
      #expect(try program.value(ofType: String.self, forKey: "whose") == nil)
      try program.setValue("program", forKey: "whose")
    }
    device.reboot()
    try await run(device) { windows in
      let window = try await windows.reopen("")
      #expect(try window?.value(ofType: String.self, forKey: "whose") == "window")
    }
  }

  @Test func `a window that is discarded while locked leaves nothing for the next of its name`() async throws {
    let device = try await SimulatedDevice(passcode: "1234", gracePeriod: .zero)
    try await run(device) { windows in
      try await windows.unlock(passcode: "1234")
      try await windows.open("a").setValue("stored", forKey: "text")
    }
    device.reboot()
    try await run(device) { windows in
      let window = try await windows.open("a")
      try window.setValue("typed", forKey: "text")
      _ = try await windows.preserve()
      try await windows.discard("a")
      let again = try await windows.open("a")
      try again.setValue("anew", forKey: "other")
      _ = try await windows.preserve()
      try await windows.unlock(passcode: "1234")
      #expect(try windows["a"]?.value(ofType: String.self, forKey: "text") == nil)
      #expect(try windows["a"]?.value(ofType: String.self, forKey: "other") == "anew")
    }
    device.reboot()
    try await run(device) { windows in
      try await windows.unlock(passcode: "1234")
      #expect(try windows["a"]?.value(ofType: String.self, forKey: "text") == nil)
      #expect(try windows["a"]?.value(ofType: String.self, forKey: "other") == "anew")
    }
  }

  @Test func `calls of one window at the same time lose nothing`() async throws {
    let device = try await SimulatedDevice()
    for round in 0..<6 {
      try await run(device) { windows in
        let window = try await windows.open("a")
        #expect(try window.value(ofType: Int.self, forKey: "round") == (round == 0 ? nil : round - 1))
        try window.setValue(round, forKey: "round")
        async let first: Void = windows.close("a")
        async let second = windows.open("a")
        async let third: Void = windows.close("a", title: "x")
        async let fourth = windows.reopen("a")
        _ = try? await (first, second, third, fourth)
        let last = try await windows.open("a")
        #expect(try last.value(ofType: Int.self, forKey: "round") == round)
        #expect(windows["a"] === last)
      }
      device.reboot()
    }
  }

  @Test func `what is typed into a window while it is closed is stored or refused`() async throws {
    let device = try await SimulatedDevice()
    try await run(device) { windows in
      let window = try await windows.open("a")
      try window.setValue("one", forKey: "text")
      async let closing: Void = windows.close("a")
      await Task.yield()
      try window.setValue("two", forKey: "text")
      try await closing
      let again = try await windows.open("a")
      let text = try again.value(ofType: String.self, forKey: "text")
      #expect(text == "one" || text == "two")
    }
  }

  // MARK: - A scope

  @Test func `a value without a key is refused`() {
    let scope = RestorationScope("root")
    #expect(throws: RestorationError.self) { try scope.setValue(1, forKey: "") }
    #expect(throws: Never.self) { try scope.setValue(1, forKey: " ") }
  }

  @Test(arguments: ["$x", "a\u{1}5", "\u{1}5", String(repeating: "k", count: 300_000), "é", "e\u{301}"])
  func `a value under any key comes back`(key: String) async throws {
    let bench = Bench()
    for round in 0..<4 {
      let scope = RestorationScope("root")
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: scope)
      #expect(try scope.value(ofType: Int.self, forKey: key) == (round == 0 ? nil : round - 1))
      try scope.setValue(round, forKey: key)
      try scope.scope("nested").setValue(round, forKey: key)
      let receipt = try await coordinator.preserve(scope).receipt
      #expect(receipt?.findings == [])
    }
  }

  @Test(arguments: [10, 70_000, 300_000])
  func `identifiers, models and tags of any length come back`(size: Int) async throws {
    let bench = Bench()
    let long = String(repeating: "x", count: size)
    func screen(_ text: String) -> Screen {
      let screen = Screen(RestorationIdentifier(long), text: text, tag: RestorationIdentity.ClassTag(long))
      screen.restoration.model = ModelIdentifier(long)
      return screen
    }
    func launch() -> RestorationCoordinator {
      bench.launch { $0.register(Screen.self, as: RestorationIdentity.ClassTag(long)) { _, _ in screen("") } }
    }
    _ = try await launch().preserve(Screen("root", children: [screen("stored")]))
    for round in 0..<3 {
      let (coordinator, root) = (launch(), Screen("root"))
      _ = try await coordinator.restore(into: root)
      let page = try #require(root.restorationChildren.first as? Screen)
      #expect(page.text == (round == 0 ? "stored" : "typed\(round - 1)"))
      page.text = "typed\(round)"
      _ = try await coordinator.preserve(root)
      try await bench.lock()
      try await bench.unlock()
    }
  }

  @Test func `a nested scope that another one of the same name replaces keeps its values`() async throws {
    let bench = Bench()
    do {
      let scope = RestorationScope("root")
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: scope)
      try scope.scope("a").setValue(1, forKey: "k")
      try scope.scope("a").scope("b").setValue(2, forKey: "k")
      _ = try await coordinator.preserve(scope)
    }
    do {
      let scope = RestorationScope("root")
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: scope)
      // Removed and set again between two saves.
      scope.removeValue(forKey: "a")
      try scope.scope("a").setValue(3, forKey: "j")
      _ = try await coordinator.preserve(scope)
    }
    let scope = RestorationScope("root")
    _ = try await bench.launch().restore(into: scope)
    #expect(try scope.scope("a").value(ofType: Int.self, forKey: "k") == nil)
    #expect(try scope.scope("a").value(ofType: Int.self, forKey: "j") == 3)
    #expect(try scope.scope("a").scope("b").value(ofType: Int.self, forKey: "k") == nil)
  }

  @Test(arguments: [false, true])
  func `a value that is removed on another thread and set again before a save is the one that was set`(
    isLocked: Bool
  ) async throws {
    let bench = Bench()
    do {
      let scope = RestorationScope("root")
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: scope)
      try scope.setValue("stored", forKey: "k")
      try scope.scope("n").setValue("stored", forKey: "k")
      _ = try await coordinator.preserve(scope)
    }
    if isLocked { try await bench.lock() }
    do {
      let scope = RestorationScope("root")
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: scope)
      await coordinator.endTurn()
      try await Task.detached {
        scope.removeValue(forKey: "k")
        try scope.setValue("typed", forKey: "k")
        scope.removeValue(forKey: "n")
        try scope.setValue("value", forKey: "n")
      }.value
      _ = try await coordinator.preserve(scope)
      if isLocked { try await bench.unlock(coordinator) }
      #expect(try scope.value(ofType: String.self, forKey: "k") == "typed")
      #expect(try scope.value(ofType: String.self, forKey: "n") == "value")
      _ = try await coordinator.preserve(scope)
    }
    let scope = RestorationScope("root")
    let report = try await bench.launch().restore(into: scope)
    #expect(try scope.value(ofType: String.self, forKey: "k") == "typed", "\(report)")
    #expect(try scope.value(ofType: String.self, forKey: "n") == "value", "\(report)")
  }
}
