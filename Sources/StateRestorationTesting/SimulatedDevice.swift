import ApplicationLifecycle
public import DataProtection
package import FaultyFileSystem
package import FoundationShim
package import SimulatedTime

/// A device for tests: a passcode, a lock, a disk of its own, and time that only the test moves.
///
/// ```swift
/// let device = try await SimulatedDevice(passcode: "1234")
/// let harness = RestorationHarness<HierarchyApplication<SearchController>>(on: device)
/// try await harness.launch { HierarchyApplication(SearchController()) }.root.query = "swift"
/// try await harness.enterBackground()
/// try await device.lock()
/// #expect(try await harness.relaunch().root.query == "")
/// try await device.unlock()
/// #expect(try await harness.relaunch().root.query == "swift")
/// ```
///
/// Several programs can run on one device, each in a process of its own that can be killed without the others. The
/// class keys belong to the device: a program launched on an unlocked device is unlocked. Nothing is shared between two
/// devices, so tests can run in parallel.
@MainActor public final class SimulatedDevice {
  /// The clock of the device: lock grace, budgets, delays after wrong passcodes.
  ///
  /// Move it with ``advance(by:)``; ``lock()`` moves it by the grace period.
  package let clock = ManualClock()

  /// The date on the device: the beginning of 2001 (UTC), and from there on the time that has passed on ``clock``.
  package var now: Date { Self.date(at: clock.now) }

  /// The date at a moment of a device's clock.
  nonisolated static func date(at moment: ManualClock.Instant) -> Date {
    Date(timeIntervalSinceReferenceDate: moment.offset / .seconds(1))
  }

  /// The passcode as the test last set it.
  package private(set) var passcode: String?

  private struct Installation {
    weak let program: (any SimulatedProgram)?
  }

  /// Programs hold their device; it doesn't hold them, so that both go with their test.
  private var installations: [Installation] = []

  /// The programs that are installed, for memory pressure.
  private var programs: [any SimulatedProgram] { installations.compactMap(\.program) }

  /// Installs a program, for as long as it lives.
  func install(_ program: any SimulatedProgram) {
    installations.removeAll { $0.program == nil }
    installations.append(Installation(program: program))
  }

  private let gracePeriod: Duration
  private let custody = SimulatedCustody()
  private let volume: SimulatedVolume
  private var processes: [SimulatedProcess] = []
  private var bootClock: SimulatedBootClock
  private var bootCount: UInt64 = 1
  /// Counts suspensions, for the order of purging.
  var suspensions: UInt64 = 0

  /// Makes a new device: started, unlocked, and empty.
  ///
  /// - Parameters:
  ///   - passcode: The passcode; without one nothing ever locks.
  ///   - gracePeriod: How long `complete` files stay available after ``beginLock()``.
  ///   - storage: Where the files are kept.
  /// - Throws: What keeps the device from being made.
  public init(
    passcode: String? = nil, gracePeriod: Duration = .seconds(10), storage: SimulatedDevice.Storage = .memory
  ) async throws(ProtectionError) {
    self.gracePeriod = gracePeriod
    volume = SimulatedVolume(storage)
    bootClock = SimulatedBootClock(clock: clock, number: bootCount)
    if let passcode { try await setPasscode(passcode) }
  }

  // MARK: - Lock

  /// Whether protected data is available to a program that runs now.
  public var isProtectedDataAvailable: Bool {
    get async throws(ProtectionError) {
      try await withSystem { (device) throws(ProtectionError) in device.isProtectedDataAvailable }
    }
  }

  /// Sets the passcode, or another one; `nil` removes it.
  public func setPasscode(_ new: String?) async throws(ProtectionError) {
    let old = passcode
    try await withSystem { (device) async throws(ProtectionError) in
      switch (old, new) {
      case (nil, nil): break
      case (nil, let new?): try await device.setPasscode(try ProtectedDevice.Passcode(new))
      case (let old?, let new?):
        try await device.changePasscode(from: try ProtectedDevice.Passcode(old), to: try ProtectedDevice.Passcode(new))
      case (let old?, nil): try await device.removePasscode(try ProtectedDevice.Passcode(old))
      }
    }
    passcode = new
  }

  /// Begins to lock: the grace period runs on the test's clock.
  public func beginLock() async throws(ProtectionError) {
    let sleepers = clock.sleeperCount
    try await withSystem { (device) throws(ProtectionError) in device.lock() }
    for process in processes where process.isAlive { process.device.lock() }
    await waitForGraceTimers(sleepersBefore: sleepers)
  }

  /// Waits until the grace periods that have begun are timed; the timers start on threads of their own.
  func waitForGraceTimers(sleepersBefore count: Int) async {
    guard gracePeriod > .zero else { return }
    let locking = processes.count { $0.isAlive && $0.device.lockState == .locking }
    // Bounded, because other sleepers may wake meanwhile.
    for _ in 0..<100_000 where clock.sleeperCount < count + locking { await Task.yield() }
  }

  /// Locks and lets the grace period pass: the keys are gone when this returns.
  public func lock() async throws(ProtectionError) {
    try await beginLock()
    await advance(by: gracePeriod)
    for process in processes where process.isAlive {
      for _ in 0..<1_000 where process.device.lockState == .locking {
        await settle()
        // A timer that began too late to see the time pass.
        clock.advance(by: gracePeriod)
      }
    }
    if passcode != nil { custody.forgetLocked() }
  }

  /// Unlocks with the right passcode, or with one of the test's choice.
  ///
  /// Without an argument and without a passcode nothing happens.
  ///
  /// - Parameter attempt: The passcode to try; nil for the right one.
  /// - Throws: `wrongPasscode`, with the delay before the next one is checked; `passcodeDelayed` when that delay has not yet
  ///   passed; `io` and `busy` when the disk was made to fail.
  public func unlock(passcode attempt: String? = nil) async throws(ProtectionError) {
    guard let attempt = attempt ?? passcode else { return }
    try await withSystem { (device) async throws(ProtectionError) in
      try await device.unlock(passcode: ProtectedDevice.Passcode(attempt))
    }
    for process in processes where process.isAlive {
      try await process.device.unlock(passcode: ProtectedDevice.Passcode(attempt))
    }
    await settle()
  }

  // MARK: - Time and ends

  /// Lets time pass, and lets everything run that is due.
  public func advance(by duration: Duration) async {
    await settle()
    clock.advance(by: duration)
    await settle()
  }

  /// Restarts the device: all programs end without notice, and every class key but that of `none` is forgotten.
  public func reboot() {
    endProcesses(.reboot)
    start()
  }

  /// Cuts the power, and starts the device again with the rest of the disk.
  ///
  /// - Precondition: The device is simulated in memory, or nothing is to be lost.
  public func cutPower(losing loss: SimulatedDevice.PowerCutLoss = .everythingUnsynchronized) {
    endProcesses(.reboot)
    volume.cutPower(losing: loss)
    start()
  }

  /// How many changes were not synchronised yet: what a power cut could take.
  public var unsynchronizedChanges: Int { volume.unsynchronizedChanges }

  /// Erases all content: nothing sealed before can be read again.
  ///
  /// The passcode is gone too.
  public func erase() async throws(ProtectionError) {
    try await withSystem { (device) async throws(ProtectionError) in try await device.eraseAllContent() }
    endProcesses(.reboot)
    passcode = nil
    start()
  }

  /// Lets the disk go wrong until ``healDisk()``.
  public func failDisk(_ fault: SimulatedDevice.DiskFault) {
    volume.faults.fail(from: volume.faults.callCount + 1, fault.plan.operations, .error(fault.plan.code))
  }

  /// Lets one call go wrong, whatever it does, by its number from the next one.
  package func failDisk(atCall number: Int, _ fault: SimulatedDevice.DiskFault) {
    volume.faults.fail(call: volume.faults.callCount + number, .error(fault.plan.code))
  }

  /// How many calls went wrong since it went well last.
  package var diskFailureCount: Int { volume.faults.hits.count }

  /// Lets the disk go well again.
  public func healDisk() { volume.faults.heal() }

  /// The disk itself, until the next restart, with its count of calls; `nil` for a folder.
  package var memory: MemoryFileSystem? { volume.memory }

  /// The contents of the disk now; setting them ends every program first.
  package var contents: SimulatedDevice.Disk {
    get { volume.contents }
    set {
      endProcesses(.killed)
      volume.contents = newValue
    }
  }

  /// The device's directory, when it is kept in a temporary folder; `nil` in memory.
  ///
  /// The folder goes when the device does.
  package var folder: String? { volume.realPath }

  /// Warns running programs, then ends suspended ones, the largest first, until so many bytes are free.
  ///
  /// A program is as large as the footprint that its harness was made with, in bytes.
  package func applyMemoryPressure(toFree bytes: Int = .max) {
    for program in programs { program.receiveMemoryWarning() }
    let chosen = PurgeOrderCandidates(programs).purging(toFree: bytes)
    for program in chosen { program.end(.memoryPressure) }
  }

  // MARK: - Processes

  /// Starts a process of a program.
  package func startProcess() async throws(ProtectionError) -> SimulatedProcess {
    let fileSystem = ProcessFileSystem(volume.faults)
    let process = SimulatedProcess(fileSystem: fileSystem, device: try await open(fileSystem))
    processes.removeAll { !$0.isAlive }
    processes.append(process)
    return process
  }

  /// How often tasks that are ready get a turn where they have to run on.
  package var settlingTurns = 100

  /// Lets tasks run that are ready; time stands still meanwhile.
  func settle() async {
    for _ in 0..<settlingTurns { await Task.yield() }
  }

  /// Opens the device for a moment, in a process of the system's own.
  private func withSystem<Result>(
    _ body: @MainActor (ProtectedDevice) async throws(ProtectionError) -> Result
  ) async throws(ProtectionError) -> Result {
    let fileSystem = ProcessFileSystem(volume.faults)
    defer { fileSystem.die() }
    return try await body(try await open(fileSystem))
  }

  private func open(_ fileSystem: ProcessFileSystem) async throws(ProtectionError) -> ProtectedDevice {
    var options = ProtectedDevice.Options()
    options.gracePeriod = gracePeriod
    options.custody = custody
    return try await ProtectedDevice.open(
      at: .directory(volume.path), options: options,
      environment: DeviceEnvironment(
        fileSystem: fileSystem, clock: clock, bootClock: bootClock, scrypt: .test, variables: { _ in nil }))
  }

  private func endProcesses(_ reason: TerminationReason) {
    for program in programs { program.end(reason) }
    for process in processes { process.fileSystem.die() }
    processes = []
  }

  private func start() {
    custody.forgetAll()
    bootCount += 1
    bootClock = SimulatedBootClock(clock: clock, number: bootCount)
  }
}
