import DataProtection
import FoundationEssentials
import SimulatedTime
import StateRestorationTesting
import Synchronization
import Testing

@testable import StateRestoration

/// A delegate that says yes, keeps one app-level value and decides as a test wants.
final class YesDelegate: RestorationCoordinatorDelegate {
  var saves = true
  var restores = true
  var journal: Journal?
  var appValue = ""
  var restoredAppValue: String?
  var make: (RestorationPath, RestorationDecoder) -> (any RestorableController)? = { _, _ in nil }
  var askedContext: RestorationArchive.Context?
  var crashDecision = RestorationCoordinator.CrashDecision.olderGeneration
  var histories: [RestorationCoordinator.CrashHistory] = []
  var retries: Set<RestorationPath> = []
  var late = RestorationCoordinator.LateRestoration.restoreUntouched
  var lateReports: [RestorationReport] = []
  var outcomes: [PreservationOutcome] = []
  var errors: [RestorationError] = []
  var timeouts = 0
  var refusesTag: String?
  var failsDecoding = false
  var waiters: [CheckedContinuation<Void, Never>] = []

  func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool {
    journal?.add("shouldSave")
    coder.encode("2.0", forKey: "interface")
    return saves
  }

  func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool {
    journal?.add("shouldRestore")
    askedContext = coder.context
    if let refusesTag, (try? coder.decode(String.self, forKey: "interface")) == refusesTag { return false }
    return restores
  }

  func willEncodeRestorableState(with coder: RestorationEncoder) {
    journal?.add("willEncode")
    coder.encode(appValue, forKey: "app")
  }

  func didDecodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    journal?.add("didDecode")
    if failsDecoding { throw RestorationError(.invalidState, "as the test wants") }
    restoredAppValue = try coder.decodeIfPresent(String.self, forKey: "app")
  }

  func makeController(at path: RestorationPath, coder: RestorationDecoder) -> (any RestorableController)? {
    make(path, coder)
  }

  func coordinator(
    _ coordinator: RestorationCoordinator, decideAfter history: RestorationCoordinator.CrashHistory
  ) -> RestorationCoordinator.CrashDecision {
    histories.append(history)
    return crashDecision
  }

  func coordinator(_ coordinator: RestorationCoordinator, shouldRetryNodeAt path: RestorationPath) -> Bool {
    retries.contains(path)
  }

  func coordinatorCanRestoreLate(_ coordinator: RestorationCoordinator) -> RestorationCoordinator.LateRestoration {
    late
  }

  func coordinator(_ coordinator: RestorationCoordinator, didRestoreLate report: RestorationReport) {
    lateReports.append(report)
    resume()
  }

  /// Waits for the report of a restoration that the coordinator makes by itself, unless it is there.
  func nextLateReport() async { if lateReports.isEmpty { await nextEvent() } }

  func coordinator(_ coordinator: RestorationCoordinator, didPreserve outcome: PreservationOutcome) {
    outcomes.append(outcome)
    resume()
  }

  func coordinator(_ coordinator: RestorationCoordinator, didFailToPreserve error: RestorationError) {
    errors.append(error)
    resume()
  }

  func coordinatorExtensionDidTimeOut(_ coordinator: RestorationCoordinator) {
    timeouts += 1
    resume()
  }

  private func resume() {
    let waiting = waiters
    waiters = []
    for waiter in waiting { waiter.resume() }
  }

  /// Waits for the next thing that the coordinator does by itself; twenty seconds at most, after which the test has failed.
  func nextEvent() async {
    let limit = Task {
      try await Task.sleep(for: .seconds(20))
      Issue.record("the coordinator has done nothing by itself")
      resume()
    }
    await withCheckedContinuation { waiters.append($0) }
    limit.cancel()
  }
}

/// A time that the tests set.
private final class Wall: Sendable {
  let time = Mutex(Date(timeIntervalSinceReferenceDate: 1_000_000))
}

/// One store with a fresh coordinator per simulated launch.
@MainActor final class Bench {
  let store = MemoryStore()
  let clock = ManualClock()
  let delegate = YesDelegate()
  var configuration = RestorationConfiguration(application: "test", applicationVersion: "1.0")
  /// What all launches take for the time.
  var time: Date {
    get { wall.time.withLock { $0 } }
    set { wall.time.withLock { $0 = newValue } }
  }
  private let wall = Wall()
  /// The device that holds the store, and the process that runs on it; nil when the store is in memory.
  let device: SimulatedDevice?
  var process: SimulatedProcess?

  // Faults are planted here by the thousand: a log of them would hide a failure.
  init() {
    device = nil
    configuration.clock = clock
    configuration.bootClock = nil
    configuration.log = .silent
    // Its sleep would be one more for every test to count; those about asking set it.
    configuration.askingInterval = nil
  }

  init(_ kind: StoreKind) async throws {
    configuration.clock = clock
    configuration.bootClock = nil
    configuration.log = .silent
    // Its sleep would be one more for every test to count; those about asking set it.
    configuration.askingInterval = nil
    switch kind {
    case .memory: device = nil
    case .device:
      let device = try await SimulatedDevice(passcode: "1234", gracePeriod: .zero)
      self.device = device
      process = try await device.startProcess()
    }
  }

  /// Restores into a screen that extends restoring, and lets the time limit pass.
  func restorePastTimeLimit(_ coordinator: RestorationCoordinator, into root: Screen) async throws {
    root.onFinish = { coordinator.extendStateRestoration() }
    _ = try await coordinator.restore(into: root)
    await clock.waitForSleepers()
    clock.advance(by: configuration.extensionTimeLimit)
    await delegate.nextEvent()
  }

  /// A coordinator as a new process would make it; what the old one left on disk is there.
  func launch(
    with other: (any RestorationCoordinatorDelegate)? = nil, _ set: (RestorationRegistry) -> Void = { _ in }
  ) -> RestorationCoordinator {
    let registry = RestorationRegistry()
    set(registry)
    store.run.add(1, ordering: .relaxed)
    let machine = configuration.bootClock
    configuration.now = { [wall] in wall.time.withLock { $0 } }
    configuration.bootClock = machine
    return RestorationCoordinator(
      store: nextPlace, delegate: other ?? delegate, configuration: configuration, registry: registry)
  }

  /// The coordinator of another window, with a store of its own.
  func openWindow(_ scene: RestoredWindow.ID) -> RestorationCoordinator {
    RestorationCoordinator(store: MemoryStore(), delegate: delegate, configuration: configuration, window: scene)
  }

  /// The places of the process's launches on the device; none after the process has ended.
  var places: [ArchiveStore] = []

  /// Has every launch let the slot go, so that another one may have it.
  func closePlaces() { for place in places { place.close() } }

  /// Where the last launch preserves, as one writer has a slot.
  var place: any PreservationStore {
    if device == nil { return store }
    if places.count > 1 { closePlaces() }
    return places.last ?? nextPlace
  }

  /// The place of the next launch; the one before lets its slot go.
  private var nextPlace: any PreservationStore {
    guard let process else { return store }
    do throws(ProtectionError) {
      let slot = ArchiveSlot(application: configuration.application, scene: RestoredWindow.ID.main.rawValue)
      let archives = try process.device.archives(for: slot, protection: configuration.protection)
      closePlaces()
      archives.keepState()
      places.append(archives)
      return archives
    } catch {
      preconditionFailure("the device gives no place: \(error)")
    }
  }

  /// Preserves a hierarchy in a process of its own.
  @discardableResult
  func preserve(_ root: any RestorableController) async throws -> PreservationOutcome {
    try await launch().preserve(root)
  }
}

extension Bench {
  /// Saves, and leaves everything as one whole generation.
  @discardableResult
  func compact(_ coordinator: RestorationCoordinator, _ root: any RestorableController) async throws
    -> PreservationOutcome.Receipt?
  {
    store.state.withLock { $0.isCompactionDue = true }
    let receipt = try await coordinator.preserve(root).receipt
    if device != nil {
      var writer = try RestorationArchive.Writer(continuing: newestReader())
      _ = try place.publish(try writer.makeArchive(), .init())
    }
    return receipt
  }
}
