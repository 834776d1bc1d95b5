import DataProtection
import FoundationEssentials
import StateRestoration
import StateRestorationTesting
import TestTraits
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// A program that the user starts again while it runs.
@MainActor @Suite(.tags(.threads)) struct InstancesTests {
  typealias Windows = RestoredWindows<StoredValue<String>>

  // MARK: - Processes of one device

  private func runWindows<Result>(
    _ device: SimulatedDevice, _ body: @MainActor (Windows) async throws -> Result
  ) async throws -> Result {
    let process = try await device.startProcess()
    return try await RestorationSession.run(
      on: process.device, windows: { _ in StoredValue("text", "") }, instances: .several, body)
  }

  private func runRoot<Result>(
    _ device: SimulatedDevice, configuration: RestorationConfiguration = .init(),
    _ body: @MainActor (StoredValue<String>) async throws -> Result
  ) async throws -> Result {
    let process = try await device.startProcess()
    let root = StoredValue("text", "")
    return try await RestorationSession.runInstance(
      on: process.device, root: root, registry: RestorationRegistry(), configuration: configuration
    ) { _ in try await body(root) }
  }

  /// Opens the root of a process of a program that runs several times.
  private func openRoot(
    _ device: SimulatedDevice, isNow: Bool
  ) async throws -> (session: RestorationSession, root: StoredValue<String>) {
    let process = try await device.startProcess()
    let root = StoredValue("text", "")
    let session =
      isNow
      ? try RestorationSession.openNow(on: process.device, root: root, instances: .several)
      : try await RestorationSession.open(on: process.device, root: root, instances: .several)
    return (session, root)
  }

  @Test(arguments: [false, true])
  func `each process that opens its root has a state, which comes back to the next one`(isNow: Bool) async throws {
    let device = try await SimulatedDevice()
    let one = try await openRoot(device, isNow: isNow)
    one.root.value = "first"
    let two = try await openRoot(device, isNow: isNow)
    #expect(two.root.value == "")
    two.root.value = "second"
    try two.session.closeNow()
    let next = try await openRoot(device, isNow: isNow)
    #expect(next.root.value == "second")
    try await next.session.close()
    try await one.session.preserve()
    // All of them die.
    device.reboot()
    var found: [String] = []
    var open: [RestorationSession] = []
    for _ in 1...3 {
      let process = try await openRoot(device, isNow: isNow)
      found.append(process.root.value)
      open.append(process.session)
    }
    #expect(found == ["first", "second", ""])
    for session in open { try session.closeNow() }
  }

  @Test func `a second process gets the windows that nobody has, and can open a new one`() async throws {
    let device = try await SimulatedDevice()
    try await runWindows(device) { one in
      try await one.open("a").value = "first"
      try await runWindows(device) { other in
        #expect(other.roots.isEmpty)
        try await other.openNew().value = "second"
        let error = await #expect(throws: RestorationError.self) { try await other.open("a") }
        #expect(error?.code == .inUse && error?.processIdentifier != nil)
        await #expect(throws: RestorationError.self) { try await other.close("a") }
      }
      #expect(one.roots.map(\.value) == ["first"])
    }
    device.reboot()
    try await runWindows(device) { one in
      #expect(Set(one.roots.map(\.value)) == ["first", "second"])
      try await runWindows(device) { #expect($0.roots.isEmpty) }
    }
  }

  @Test func `the state of a process that has ended comes back to the next one`() async throws {
    let device = try await SimulatedDevice()
    try await runRoot(device) { one in
      one.value = "one"
      try await runRoot(device) { two in
        two.value = "two"
        try await runRoot(device) { three in three.value = "three" }
        try await runRoot(device) { #expect($0.value == "three") }
      }
      try await runRoot(device) { #expect($0.value == "two") }
    }
    device.reboot()
    try await runRoot(device) { one in
      #expect(one.value == "one")
      try await runRoot(device) { two in
        #expect(two.value == "two")
        try await runRoot(device) { #expect($0.value == "three") }
      }
    }
  }

  @Test func `a process of a locked device gets a state that nobody has`() async throws {
    let device = try await SimulatedDevice(passcode: "1234")
    let process = try await device.startProcess()
    try await process.device.unlock(passcode: ProtectedDevice.Passcode("1234"))
    let held = try RestorationCoordinator(device: process.device, delegate: YesDelegate())
    try await runRoot(device) { two in
      #expect(two.value == "")
      two.value = "typed while locked"
    }
    device.reboot()
    let root = StoredValue("text", "")
    let again = try await device.startProcess()
    let holder = try RestorationCoordinator(device: again.device, delegate: YesDelegate())
    try await RestorationSession.runInstance(
      on: again.device, root: root, registry: RestorationRegistry(), configuration: .init()
    ) { session in
      try await session.unlock(passcode: "1234")
      #expect(root.value == "typed while locked")
    }
    withExtendedLifetime((held, holder)) {}
  }

  @Test func `the states that nobody asks for are kept by number and age`() async throws {
    let device = try await SimulatedDevice()
    var configuration = RestorationConfiguration()
    configuration.recentlyClosedLimit = 2
    func runDeep(_ number: Int) async throws {
      guard number <= 5 else { return }
      try await runRoot(device, configuration: configuration) { root in
        root.value = "\(number)"
        try await runDeep(number + 1)
      }
    }
    try await runDeep(1)
    device.reboot()
    var found: [String] = []
    func look(_ number: Int) async throws {
      guard number <= 5 else { return }
      try await runRoot(device, configuration: configuration) { root in
        found.append(root.value)
        try await look(number + 1)
      }
    }
    try await look(1)
    // The first is in use; of the others the second and the third were the last to end.
    #expect(found == ["1", "2", "3", "", ""])
  }

  @Test func `the state of the first process is given however long it was closed, and no other`() async throws {
    let device = try await SimulatedDevice()
    var configuration = RestorationConfiguration()
    try await runRoot(device, configuration: configuration) { one in
      one.value = "one"
      try await runRoot(device, configuration: configuration) { $0.value = "two" }
    }
    device.reboot()
    let later = Date(timeIntervalSinceNow: 90 * 24 * 3600)
    configuration.now = { later }
    try await runRoot(device, configuration: configuration) { one in
      #expect(one.value == "one")
      try await runRoot(device, configuration: configuration) { #expect($0.value == "") }
    }
  }

  // MARK: - Real processes

  nonisolated private static func makeFolder() -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: "instances-\(UUID())").path
    try? FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return folder
  }

  /// What another process of the program does when it has its state.
  enum Errand: String, Codable, Sendable {
    /// Says “second” and is killed.
    case typeAndDie
    /// Finds “second”.
    case find
    /// Finds nothing.
    case findNothing
    /// Is refused, and told who has the state.
    case isRefused
  }

  /// Runs another process of a program with windows to its end; it says by its exit code whether it was as it should be.
  private func runWindowsElsewhere(in folder: String, _ errand: Errand) async {
    let expected: ExitTest.Condition = errand == .typeAndDie ? .signal(SIGKILL) : .exitCode(7)
    await #expect(processExitsWith: expected) {
      @MainActor [folder = folder as String, errand = errand as Errand, parent = getpid() as Int32] in
      do {
        try await RestorationSession.run(
          at: .directory(folder), windows: { _ in StoredValue("text", "") },
          instances: errand == .isRefused ? .one : .several
        ) { windows in
          switch errand {
          case .typeAndDie:
            do throws(RestorationError) {
              try await windows.open("a")
              return
            } catch {
              let owner = (error.cause as? ProtectionError)?.processIdentifier
              guard owner == parent, windows.roots.isEmpty else { return }
            }
            try await windows.openNew().value = "second"
            try await windows.preserve()
            kill(getpid(), SIGKILL)
          case .find: if windows.roots.map(\.value) == ["second"] { exit(7) }
          case .findNothing: if windows.roots.isEmpty { exit(7) }
          case .isRefused: return
          }
        }
      } catch let error as RestorationError where error.code == .inUse && error.processIdentifier == parent {
        if errand == .isRefused { exit(7) }
      }
      exit(1)
    }
  }

  /// Runs another process of a program with one root to its end.
  private func runRootElsewhere(in folder: String, _ errand: Errand) async {
    let expected: ExitTest.Condition = errand == .typeAndDie ? .signal(SIGKILL) : .exitCode(7)
    await #expect(processExitsWith: expected) {
      @MainActor [folder = folder as String, errand = errand as Errand, parent = getpid() as Int32] in
      let root = StoredValue("text", "")
      do {
        try await RestorationSession.run(
          at: .directory(folder), root: root, instances: errand == .isRefused ? .one : .several
        ) { session in
          switch errand {
          case .typeAndDie:
            root.value = "second"
            try await session.preserve()
            kill(getpid(), SIGKILL)
          case .find: if root.value == "second" { exit(7) }
          case .findNothing: if root.value.isEmpty { exit(7) }
          case .isRefused: return
          }
        }
      } catch let error as RestorationError where error.code == .inUse && error.processIdentifier == parent {
        if errand == .isRefused { exit(7) }
      }
      exit(1)
    }
  }

  @Test func `the window of a killed process comes back to the next one, and the running one keeps its own`()
    async throws
  {
    let folder = Self.makeFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    func run(_ body: @MainActor (Windows) async throws -> Void) async throws {
      try await RestorationSession.run(
        at: .directory(folder), windows: { _ in StoredValue("text", "") }, instances: .several, answering: [], body)
    }
    try await run { windows in
      try await windows.open("a").value = "first"
      await runWindowsElsewhere(in: folder, .findNothing)
      await runWindowsElsewhere(in: folder, .typeAndDie)
      await runWindowsElsewhere(in: folder, .find)
      #expect(windows.roots.map(\.value) == ["first"])
      try await windows.close("a")
    }
    try await run { #expect($0.roots.map(\.value) == ["second"]) }
  }

  @Test func `what a killed process had comes back to the next process, and the running one keeps its own`()
    async throws
  {
    let folder = Self.makeFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for expected in ["", "first"] {
      let root = StoredValue("text", "")
      try await RestorationSession.run(at: .directory(folder), root: root, instances: .several, answering: []) { _ in
        #expect(root.value == expected)
        root.value = "first"
        await runRootElsewhere(in: folder, expected.isEmpty ? .findNothing : .find)
        await runRootElsewhere(in: folder, .typeAndDie)
        await runRootElsewhere(in: folder, .find)
      }
    }
  }

  @Test(arguments: [false, true])
  func `the second process of a program that runs once is told which process has the state`(hasWindows: Bool)
    async throws
  {
    let folder = Self.makeFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    if hasWindows {
      try await RestorationSession.run(
        at: .directory(folder), windows: { _ in StoredValue("text", "") }, answering: []
      ) { _ in await runWindowsElsewhere(in: folder, .isRefused) }
    } else {
      try await RestorationSession.run(at: .directory(folder), root: StoredValue("text", ""), answering: []) { _ in
        await runRootElsewhere(in: folder, .isRefused)
      }
    }
  }
}
