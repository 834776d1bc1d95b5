import DataProtection
import Foundation
import Observation
import StateRestorationTesting
import Synchronization
import Testing

@testable import StateRestoration

/// Makes a mistake as a program would, and gives what the framework says.
@MainActor final class MistakeMaker {
  private let bench = Bench()
  private let lines = Lines()

  /// A log that keeps its lines.
  final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    var text: String { lines.withLock { $0.joined(separator: "\n") } }
    var log: RestorationLog {
      RestorationLog { level, message in
        guard level >= .warning else { return }
        let line = message()
        self.lines.withLock { $0.append(line) }
      }
    }
  }

  init() { bench.configuration.log = lines.log }

  func make(_ mistake: Mistake) async throws -> String {
    switch mistake {
    case .delegateGone: try await save(Screen("root"), delegate: nil)
    case .savingRefused: try await refuseSaving()
    case .noRoot: "\(try await bench.launch().preserve())"
    case .rootExcluded: try await save(Screen(nil))
    case .unnamed: try await save(Screen("root", children: [Panel(nil)]))
    case .associationGone: try await save(ListWithoutAssociation.make())
    case .duplicate: try await save(Screen("root", children: [Screen("child"), Screen("child")]))
    case .emptyIdentifier: try await save(Screen("root", children: [Screen("")]))
    case .unregistered: try await save(Screen("root", tag: "note"))
    case .inheritedTag: try await inheritTag()
    case .listedTwice: try await listTwice()
    case .inTwoWindows: try await showTwice()
    case .fleeting: try await save(Fleeting())
    case .notListed: try await save(Forgetful())
    case .misplaced: try await save(Tagged())
    case .unnoticed: try await changeUnnoticed()
    case .danglingReference: try await refer()
    case .tooMuch: try await saveTooMuch()
    case .unencodable: try await save(StoredValue("root", RefusesCoding()))
    case .nobodyMakes: try await restore(Screen("child"), as: nil)
    case .tagGone: try await restore(Screen("child", tag: "old"), as: nil)
    case .factoryDeclines:
      try await restore(Screen("child", tag: "screen"), as: nil) {
        $0.register(Screen.self, as: "screen") { _, _ in nil }
      }
    case .anotherClass:
      try await restore(Screen("child", tag: "panel"), as: Screen("child")) { $0.register(Panel.self, as: "panel") }
    case .downgrade: try await restore(StoredValue("child", Newer()), as: StoredValue("child", 1))
    case .noMigration: try await restore(StoredValue("child", "text"), as: StoredValue("child", Unmigrated()))
    case .missingKey: try await restore(StoredValue("child", Before()), as: StoredValue("child", After()))
    case .anotherType: try await restore(StoredValue("child", "text"), as: StoredValue("child", 1))
    case .titleAsName: try await restore(Screen("inbox 3"), as: Screen("inbox 4"))
    case .renamedField: try await renameField()
    case .unreadKey: try await restore(Earlier.Search(), as: Later.Search())
    case .notInstalled:
      try await restore(Screen("child", tag: "screen"), as: nil, root: Deaf()) {
        $0.register(Screen.self, as: "screen") { path, _ in Screen(path.last, tag: "screen") }
        $0.register(Deaf.self, formerly: ["Screen"])
      }
    case .noDelegateAtRestore: try await restoreWithoutDelegate()
    case .restoringRefused: try await refuseRestoring()
    case .editedWhileLocked: try await editWhileLocked()
    case .lockedScope: try await readWhileLocked()
    case .secondCoordinator: try await makeSecondCoordinator()
    case .coordinatorGone: try await loseCoordinator()
    case .blockedMainActor: try await blockMainActor()
    case .identifierForgotten: await lint { Screen("root", children: [Screen(nil)]) }
    default: ""
    }
  }

  // MARK: - Saving

  private func save(_ root: any RestorableController, _ register: (RestorationRegistry) -> Void = { _ in }) async throws
    -> String
  {
    "\(try await bench.launch(register).preserve(root))"
  }

  private func save(_ root: any RestorableController, delegate: (any RestorationCoordinatorDelegate)?) async throws
    -> String
  {
    "\(try await RestorationCoordinator(store: bench.store, delegate: delegate).preserve(root))"
  }

  private func refuseSaving() async throws -> String {
    bench.delegate.saves = false
    return try await save(Screen("root"))
  }

  private func inheritTag() async throws -> String {
    let larger = Larger("root")
    larger.tag = "panel"
    return try await save(larger) { $0.register(Panel.self, as: "panel") }
  }

  private func listTwice() async throws -> String {
    let child = Screen("child")
    return try await save(Screen("root", children: [child, Screen("other", children: [child])]))
  }

  private func changeUnnoticed() async throws -> String {
    let coordinator = bench.launch()
    let panel = Panel("panel")
    coordinator.preservesAutomatically = .onChange(coalescedOver: .seconds(1))
    _ = try await coordinator.preserve(panel)
    panel.value = 1
    return "\(try await coordinator.preserve(panel))"
  }

  private func refer() async throws -> String {
    let panel = Panel("panel")
    panel.strongFriend = Panel("nowhere")
    return try await save(panel)
  }

  private func saveTooMuch() async throws -> String {
    bench.configuration.nodeByteBudget = 1000
    return try await save(Screen("root", text: String(repeating: "x", count: 2000)))
  }

  // MARK: - Restoring

  private func restore(
    _ preserved: any RestorableController, as child: (any RestorableController)?,
    root: (any RestorableController)? = nil, _ register: (RestorationRegistry) -> Void = { _ in }
  ) async throws -> String {
    try await bench.preserve(Screen("root", children: [preserved]))
    let root = root ?? Screen("root", children: child.map { [$0] } ?? [])
    return "\(try await bench.launch(register).restore(into: root))"
  }

  private func renameField() async throws -> String {
    _ = try await restore(StoredValue("child", Before()), as: StoredValue("child", RenamedField()))
    return lines.text
  }

  private func restoreWithoutDelegate() async throws -> String {
    try await bench.preserve(Screen("root"))
    return "\(try await RestorationCoordinator(store: bench.store, delegate: nil).restore(into: Screen("root")))"
  }

  private func refuseRestoring() async throws -> String {
    try await bench.preserve(Screen("root"))
    bench.delegate.restores = false
    return "\(try await bench.launch().restore(into: Screen("root")))"
  }

  private func showTwice() async throws -> String {
    let search = StoredValue("search", "")
    let other = bench.openWindow("other")
    defer { withExtendedLifetime(other) {} }
    _ = try await other.preserve(search)
    return try await save(search)
  }

  private func editWhileLocked() async throws -> String {
    let device = try await SimulatedDevice(passcode: "1234")
    let before = StoredValue("page", "")
    let saved = try await RestorationSession.open(on: try await device.startProcess().device, root: before)
    before.value = "stored"
    try await saved.close()
    device.reboot()
    let page = StoredValue("page", "")
    let session = try await RestorationSession.open(on: try await device.startProcess().device, root: page)
    _ = try await session.preserve()
    page.value = "typed"
    return "\(try await session.unlock(passcode: "1234"))"
  }

  private func readWhileLocked() async throws -> String {
    let device = try await SimulatedDevice(passcode: "1234")
    let before = RestorationScope()
    let saved = try await RestorationSession.open(on: try await device.startProcess().device, root: before)
    try before.setValue(1, forKey: "tab")
    try await saved.close()
    device.reboot()
    let scope = RestorationScope()
    let session = try await RestorationSession.open(on: try await device.startProcess().device, root: scope)
    defer { withExtendedLifetime(session) {} }
    let error = #expect(throws: RestorationError.self) { try scope.value(ofType: Int.self, forKey: "tab") }
    return error.map { "\($0)" } ?? ""
  }

  // MARK: - Throwing and logging

  private func makeSecondCoordinator() async throws -> String {
    let device = try await SimulatedDevice().startProcess().device
    let first = try RestorationCoordinator(device: device, delegate: bench.delegate)
    defer { withExtendedLifetime(first) {} }
    let error = #expect(throws: RestorationError.self) {
      try RestorationCoordinator(device: device, delegate: bench.delegate)
    }
    return error.map { "\($0)" } ?? ""
  }

  private func loseCoordinator() async throws -> String {
    let root = Screen("root")
    do {
      let coordinator = bench.launch()
      coordinator.preservesAutomatically = .onChange(coalescedOver: .seconds(1))
      _ = try await coordinator.preserve(root)
    }
    defer { withExtendedLifetime(root) {} }
    let deadline = ContinuousClock.now + .seconds(10)
    while lines.text.isEmpty, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(5)) }
    return lines.text
  }

  private func blockMainActor() async throws -> String {
    let coordinator = bench.launch()
    let search = StoredValue("search", "")
    coordinator.preservesAutomatically = .onChange(coalescedOver: .milliseconds(100))
    _ = try await coordinator.preserve(search)
    // The waits below are what this is about: the main thread does not come back.
    for _ in 0..<4 {
      search.value += "typed"
      block()
    }
    return lines.text
  }

  private func block() { Thread.sleep(forTimeInterval: 0.3) }

  private func lint<Root: RestorableController>(_ make: @escaping @MainActor @Sendable () -> Root) async -> String {
    var said = ""
    _ = await TestIssues.collect {
      said = await lintRestoration(of: RestorationSubject(make)).map(\.description).joined(separator: "\n")
    }
    return said
  }
}
