import ApplicationLifecycle
import FoundationEssentials
import StateRestorationTesting
import Synchronization
import TestTraits
import Testing

@testable import StateRestoration

/// The snapshot goes with the state that it shows.
@MainActor @Suite(.tags(.threads)) struct DroppedSnapshotTests {
  /// A program of one value, whose picture shows the value.
  @MainActor final class Program: RestorableApplicationDelegate, RestorationCoordinatorDelegate {
    let value = StoredValue("value", "none")
    private(set) var shown: String?
    private var application: RestorableApplication?

    var rootController: (any RestorableController)? { value }
    func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
    func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }
    func makeSnapshot() -> Data? { Data("picture of \(value.value)".utf8) }
    func showSnapshot(_ snapshot: Data) { shown = String(decoding: snapshot, as: UTF8.self) }

    /// Launches the program in a new process.
    func launch(
      on device: SimulatedDevice, _ options: Lifecycle.LaunchOptions = .icon
    ) async throws -> (application: RestorableApplication, coordinator: RestorationCoordinator) {
      device.reboot()
      let process = try await device.startProcess()
      let coordinator = try RestorationCoordinator(device: process.device, delegate: self)
      let application = try RestorableApplication(device: process.device, coordinator: coordinator, delegate: self)
      self.application = application
      try await application.launch(options)
      return (application, coordinator)
    }
  }

  /// A device with a state and its snapshot.
  private func deviceWithSnapshot() async throws -> SimulatedDevice {
    let device = try await SimulatedDevice()
    let program = Program()
    let (application, _) = try await program.launch(on: device)
    program.value.value = "secret"
    try await application.lifecycle.enterBackground()
    return device
  }

  /// What the next launch shows before it restores.
  private func shown(on device: SimulatedDevice) async throws -> String? {
    let program = Program()
    _ = try await program.launch(on: device)
    return program.shown
  }

  @Test func `a state that comes back is announced by its snapshot`() async throws {
    #expect(try await shown(on: deviceWithSnapshot()) == "picture of secret")
  }

  @Test func `without a limit a snapshot of any age is shown`() async throws {
    let snapshots = FakeSnapshots()
    snapshots.snapshot = Data("old".utf8)
    snapshots.takenAt.withLock { $0 = .distantPast }
    #expect(await SnapshotKeeper(store: snapshots).open() == Data("old".utf8))
  }

  @Test func `a snapshot that a program takes at its end shows the end`() async throws {
    let device = try await deviceWithSnapshot()
    let program = Program()
    let (application, _) = try await program.launch(on: device)
    program.value.value = "edited"
    try await application.lifecycle.terminate()
    #expect(try await shown(on: device) == "picture of edited")
  }

  @Test func `work in the background takes a new snapshot of what it has changed`() async throws {
    let device = try await deviceWithSnapshot()
    let program = Program()
    let (application, _) = try await program.launch(on: device)
    let task = try application.lifecycle.beginBackgroundTask(named: "sync") {}
    try await application.lifecycle.enterBackground()
    program.value.value = "synced"
    try application.lifecycle.endBackgroundTask(task)
    for _ in 0..<100_000 where application.lifecycle.state != .suspended { await Task.yield() }
    try #require(application.lifecycle.state == .suspended)
    #expect(try await shown(on: device) == "picture of synced")
  }

  @Test(arguments: [false, true])
  func `a save that a kill follows leaves no snapshot of an older state`(isInBackground: Bool) async throws {
    let device = try await deviceWithSnapshot()
    let program = Program()
    let (application, _) = try await program.launch(on: device)
    if isInBackground {
      _ = try application.lifecycle.beginBackgroundTask(named: "sync") {}
      try await application.lifecycle.enterBackground()
    }
    program.value.value = "edited"
    _ = try await application.preserve()
    #expect(try await shown(on: device) == nil)
  }

  @Test func `a save that changes nothing leaves the snapshot`() async throws {
    let device = try await deviceWithSnapshot()
    let program = Program()
    let (application, _) = try await program.launch(on: device)
    _ = try await application.preserve()
    #expect(try await shown(on: device) == "picture of secret")
  }

  /// A program that was launched, with its state and its snapshot in memory.
  private func launched() async throws -> (
    store: MemoryStore, snapshots: FakeSnapshots, program: Program, application: RestorableApplication,
    coordinator: RestorationCoordinator
  ) {
    let (store, snapshots, program) = (MemoryStore(), FakeSnapshots(), Program())
    let coordinator = RestorationCoordinator(store: store, delegate: program)
    let application = RestorableApplication(
      engine: coordinator, device: FakeDevice(CallLog()), snapshots: snapshots, lifecycle: Lifecycle(),
      delegate: program)
    try await application.launch()
    return (store, snapshots, program, application, coordinator)
  }

  @Test func `state that changes while its picture is taken leaves no picture`() async throws {
    let (_, snapshots, program, application, coordinator) = try await launched()
    program.value.value = "one"
    try await application.lifecycle.enterBackground()
    #expect(snapshots.snapshot != nil)
    let keeper = try #require(coordinator.snapshots)
    let save = keeper.saveCount
    program.value.value = "two"
    _ = try await coordinator.preserve(program.value)
    #expect(keeper.saveCount == save + 1)
    try await keeper.keep(Data("picture of one".utf8), ofSave: save)
    #expect(snapshots.snapshot == nil)
  }

  @Test func `a snapshot is gone before the state that it doesn't show is written`() async throws {
    let (store, snapshots, program, application, coordinator) = try await launched()
    try await application.lifecycle.enterBackground()
    try #require(snapshots.snapshot != nil)
    program.value.value = "edited"
    store.state.withLock { $0.failures = ["publish": .io, "append": .io] }
    await #expect(throws: RestorationError.self) { try await coordinator.preserve(program.value) }
    #expect(snapshots.snapshot == nil)
  }

  @Test func `the snapshot goes when a window is opened or closed, and the program is killed`() async throws {
    for isOpened in [false, true] {
      let (stores, snapshots) = (SceneSessionsTests.Stores(), FakeSnapshots())
      let scenes = stores.launch()
      _ = try await scenes.open("a").preserve(Screen("window"))
      scenes.snapshots = SnapshotKeeper(store: snapshots)
      snapshots.snapshot = Data("picture".utf8)
      try await scenes.load()
      #expect(snapshots.snapshot != nil)
      if isOpened { _ = try await scenes.open("b") } else { try await scenes.close("a") }
      #expect(snapshots.snapshot == nil)
    }
  }

  @Test func `the snapshot of a state that is discarded goes with it`() async throws {
    let device = try await deviceWithSnapshot()
    let program = Program()
    let (_, coordinator) = try await program.launch(on: device)
    program.value.value = "none"
    try await coordinator.discard()
    #expect(try await shown(on: device) == nil)
  }

  @Test func `the snapshot of a state that a launch declines goes when that is set aside`() async throws {
    let device = try await deviceWithSnapshot()
    var program = Program()
    _ = try await program.launch(on: device, Lifecycle.LaunchOptions(extent: .pristine))
    #expect(try await shown(on: device) == "picture of secret")
    program = Program()
    let (application, _) = try await program.launch(on: device, Lifecycle.LaunchOptions(extent: .pristine))
    program.value.value = "begun anew"
    _ = try await application.preserve()
    #expect(try await shown(on: device) == nil)
  }

  /// A program that has saved its state, and whose snapshot can't be deleted.
  private func programWithUndeletableSnapshot() async throws -> (
    store: MemoryStore, program: Program, application: RestorableApplication, coordinator: RestorationCoordinator
  ) {
    let (store, snapshots, program, application, coordinator) = try await launched()
    _ = try await application.preserve()
    snapshots.isUndeletable.store(true, ordering: .relaxed)
    return (store, program, application, coordinator)
  }

  @Test func `a discard that can't delete the snapshot has deleted the state, and says so`() async throws {
    let (store, program, application, coordinator) = try await programWithUndeletableSnapshot()
    let error = await #expect(throws: RestorationError.self) { try await coordinator.discard() }
    #expect(error?.code == .discardFailed)
    #expect(store.state.withLock { $0.generations.isEmpty })
    program.value.value = "goes on"
    #expect(try await coordinator.preserve(program.value).receipt != nil)
    withExtendedLifetime(application) {}
  }

  @Test func `a force quit that can't delete the snapshot has deleted the state for good`() async throws {
    let (store, program, application, coordinator) = try await programWithUndeletableSnapshot()
    let error = await #expect(throws: RestorationError.self) { try await coordinator.discardAfterForceQuit() }
    #expect(error?.code == .discardFailed)
    program.value.value = "goes on"
    _ = try? await coordinator.preserve(program.value)
    #expect(store.state.withLock { $0.generations.isEmpty })
    withExtendedLifetime(application) {}
  }

  @Test(arguments: [true, false])
  func `the snapshot of a program goes with any of its windows`(isOpenedEarly: Bool) async throws {
    typealias Windows = ScenesOfAnApplicationTests.Program
    let device = try await SimulatedDevice()
    let first = try Windows(try await device.startProcess().device)
    if isOpenedEarly { _ = try await first.scenes.open("secret") }
    try await first.application.launch()
    try await first.open("secret", text: "one")
    first.maker.topVisibleController = first.maker.windows["secret"]
    first.maker.snapshot = Data("picture".utf8)
    try await first.application.lifecycle.enterBackground()
    try await first.application.lifecycle.enterForeground()
    try await first.scenes.discard("secret")
    device.reboot()
    let second = try Windows(try await device.startProcess().device)
    try await second.application.launch()
    #expect(second.maker.shownSnapshot == nil)
  }
  @Test func `the snapshot goes with a discarded scene whose list can't be written`() async throws {
    let (stores, snapshots) = (SceneSessionsTests.Stores(), FakeSnapshots())
    let scenes = stores.launch()
    scenes.snapshots = SnapshotKeeper(store: snapshots)
    for name in ["a", "b"] as [RestoredWindow.ID] { _ = try await scenes.open(name).preserve(Screen("window")) }
    snapshots.snapshot = Data("picture".utf8)
    stores.list.state.withLock { $0.failures = ["publish": .io] }
    await #expect(throws: RestorationError.self) { try await scenes.discard("a") }
    #expect(stores.scenes["a"]?.state.withLock { $0.generations.isEmpty } == true)
    #expect(snapshots.snapshot == nil)
  }
}
