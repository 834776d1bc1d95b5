import SimulatedTime
public import StateRestoration

/// Launches a program on a simulated device, ends it in every way there is, and launches it again.
///
/// ```swift
/// let harness = RestorationHarness<NotesApp>(on: try await SimulatedDevice(passcode: "1234"))
/// try await harness.launch { NotesApp() }
/// harness.application?.root.editor.draft = "hello"
/// try await harness.restartAndRestore()
/// #expect(harness.application?.root.editor.draft == "hello")
/// ```
///
/// Each launch makes a new program in a new process. A process that was killed can't change the disk any more, although
/// its objects are still in the test's memory. Budgets are enforced: an overrun is a watchdog kill. What launches a program
/// throws the errors of its device, of its life cycle and of its coordinator: a test ends at any of them.
@MainActor public final class RestorationHarness<Application: HarnessApplication> {
  /// The device the program is installed on.
  public let device: SimulatedDevice

  /// The program of the last launch, also after its end; `nil` before the first.
  public private(set) var application: Application?

  /// The program's joined life cycle; `nil` before the first launch.
  package private(set) var restorable: RestorableApplication?

  /// The program's coordinator; `nil` before the first launch.
  public private(set) var coordinator: RestorationCoordinator?

  /// What the program says about itself; the version changes with ``relaunchAfterUpdate(to:_:)``.
  public var configuration: RestorationConfiguration

  /// How much memory the program holds, in bytes: the largest suspended program is purged first.
  package var footprint: Int

  private(set) var process: SimulatedProcess?
  private let budgets: Lifecycle.Budgets
  private var make: (@MainActor () -> Application)?
  private var observation: Lifecycle.Observation?
  private var suspendedAt: UInt64 = 0

  /// Installs a program on a device, whose time it gets: intervals, limits and ages run only when the test says so.
  ///
  /// - Parameters:
  ///   - device: The device.
  ///   - configuration: What the program says about itself. Its `clock` and `now` are replaced by the device's.
  ///   - budgets: The time for each phase of the life cycle.
  ///   - footprint: How much memory the program holds, in bytes.
  public init(
    on device: SimulatedDevice, configuration: RestorationConfiguration = RestorationConfiguration(),
    budgets: Lifecycle.Budgets = Lifecycle.Budgets(enforcement: .kills), footprint: Int = 1_000_000
  ) {
    self.device = device
    self.configuration = configuration
    self.budgets = budgets
    self.footprint = footprint
    let clock = device.clock
    self.configuration.clock = clock
    self.configuration.now = { SimulatedDevice.date(at: clock.now) }
    device.install(self)
  }

  // MARK: - Launching

  /// Launches the program; the function makes it anew, now and at every relaunch.
  @discardableResult
  public func launch(
    _ options: Lifecycle.LaunchOptions = .icon, _ make: @escaping @MainActor () -> Application
  ) async throws -> Application {
    self.make = make
    return try await start(options)
  }

  /// Launches the program again, after ending the last process without notice if it still runs.
  @discardableResult
  public func relaunch(_ options: Lifecycle.LaunchOptions = .icon) async throws -> Application {
    killWithoutNotice()
    return try await start(options)
  }

  /// Launches another version of the program on what this one preserved.
  @discardableResult
  public func relaunchAfterUpdate(
    to version: RestorationArchive.ApplicationVersion, _ make: (@MainActor () -> Application)? = nil
  ) async throws -> Application {
    configuration.applicationVersion = version
    if let make { self.make = make }
    return try await relaunch()
  }

  /// Preserves by entering the background, ends the process there, and launches the program again.
  @discardableResult
  package func restartAndRestore() async throws -> Application {
    try await enterBackground()
    return try await relaunch()
  }

  /// The report of the last launch's restoring.
  public var report: RestorationReport? { restorable?.report }

  /// The program's life cycle; `nil` before the first launch.
  public var lifecycle: Lifecycle? { restorable?.lifecycle }

  /// Whether the process of the last launch still lives.
  package var isRunning: Bool { process?.isAlive ?? false }

  /// Waits for the restoration that follows the unlock after a launch on a locked device.
  ///
  /// It comes by itself when the device says that its data is available, in real time: a moment after the unlock.
  ///
  /// - Returns: Its report, or that of a restoration that was not locked out; nil when none has come after ten seconds.
  public func lateReport() async -> RestorationReport? {
    let deadline = ContinuousClock.now.advanced(by: .seconds(10))
    while true {
      if let report, report.outcome != .locked { return report }
      guard ContinuousClock.now < deadline, isRunning else { return nil }
      try? await Task.sleep(for: .milliseconds(1))
    }
  }

  // MARK: - Leaving and ending

  /// Leaves the foreground, from `active` or `inactive`, up to `suspended` unless background tasks are open.
  public func enterBackground() async throws(Lifecycle.RequestError) { try await lifecycle?.enterBackground() }

  /// Comes back to the foreground.
  public func enterForeground() async throws(Lifecycle.RequestError) { try await lifecycle?.enterForeground() }

  /// The device goes to sleep: the program leaves the foreground, and the device locks.
  public func sleep() async throws(Lifecycle.RequestError) {
    let sleepers = device.clock.sleeperCount
    try await lifecycle?.sleep()
    await device.waitForGraceTimers(sleepersBefore: sleepers)
  }

  /// Ends the program with notice.
  public func terminate() async throws(Lifecycle.RequestError) {
    try await lifecycle?.terminate()
    process?.fileSystem.die()
  }

  /// Ends the process at once, in the middle of whatever it does; nothing is preserved or deleted.
  public func killWithoutNotice() { end(.killed) }

  /// The user ends the program by force: its state is deleted.
  public func forceQuit() async throws(RestorationError) {
    try await restorable?.forceQuit()
    process?.fileSystem.die()
  }

  /// Memory is short: a running program is warned, a suspended one ends.
  package func memoryPressure() {
    if lifecycle?.state == .suspended { end(.memoryPressure) } else { receiveMemoryWarning() }
  }

  // MARK: - The disk

  /// The contents of the device's disk now.
  public func snapshot() -> SimulatedDevice.Disk { device.contents }

  /// Puts the disk back to what it was; every program on the device ends.
  public func restore(from disk: SimulatedDevice.Disk) { device.contents = disk }

  private func start(_ options: Lifecycle.LaunchOptions) async throws -> Application {
    guard let make else { preconditionFailure("Nothing was launched on this harness: call launch(_:_:) first.") }
    let process = try await device.startProcess()
    self.process = process
    let application = make()
    let coordinator = try RestorationCoordinator(
      device: process.device, delegate: application, configuration: configuration)
    application.register(with: coordinator)
    let lifecycle = Lifecycle(budgets: budgets, clock: device.clock)
    let restorable = try RestorableApplication(
      device: process.device, coordinator: coordinator, lifecycle: lifecycle, delegate: application)
    self.application = application
    self.coordinator = coordinator
    self.restorable = restorable
    observation = lifecycle.observe { [weak self] event in self?.note(event) }
    try await restorable.launch(options)
    return application
  }

  private func note(_ event: LifecycleEvent) {
    switch event {
    case .step(.enter(.suspended), _):
      device.suspensions += 1
      suspendedAt = device.suspensions
    case .ended(let reason) where reason != .requested && reason != .forceQuit:
      // The watchdog's kill ends the process too, wherever it is.
      process?.fileSystem.die()
    default: break
    }
  }
}

extension RestorationHarness: SimulatedProgram {
  var purgeCandidate: PurgeOrder.Candidate {
    PurgeOrder.Candidate(
      name: "\(ObjectIdentifier(self))", state: lifecycle?.state ?? .notRunning, footprint: footprint,
      suspendedAt: suspendedAt)
  }

  func receiveMemoryWarning() { lifecycle?.receiveMemoryWarning() }

  func end(_ reason: TerminationReason) {
    process?.fileSystem.die()
    try? lifecycle?.kill(reason)
  }
}
