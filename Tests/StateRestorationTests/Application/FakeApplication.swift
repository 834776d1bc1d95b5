import ApplicationLifecycle
import DataProtection
import FoundationEssentials
import RestorationArchive
import SimulatedTime
import Synchronization

@testable import StateRestoration

/// One order of events for everything an application talks to.
final class CallLog: Sendable {
  private let entries = Mutex<[String]>([])

  func add(_ entry: String) { entries.withLock { $0.append(entry) } }

  var all: [String] { entries.withLock { $0 } }

  func clear() { entries.withLock { $0 = [] } }
}

/// An engine that answers as told.
@MainActor final class FakeEngine: ApplicationEngine {
  let log: CallLog
  var extent = Lifecycle.LaunchOptions.Extent.restore {
    didSet { if extent != oldValue { log.add("extent \(extent)") } }
  }
  var outcome: Result<PreservationOutcome, RestorationError> = .success(.unchanged(nil))
  var restoreError: RestorationError?
  var roots: [any RestorableController] = []
  let messages = MemoryLog()
  var configuration = RestorationConfiguration()
  var snapshots: SnapshotKeeper?
  var onRestore: @MainActor () async -> Void = {}

  init(_ log: CallLog) {
    self.log = log
    configuration.log = messages.log
  }

  func restoreState(into root: (any RestorableController)?) async throws(RestorationError) -> RestorationReport? {
    if root == nil { return nil }
    log.add("restore")
    await onRestore()
    if let restoreError { throw restoreError }
    lastReport = RestorationReport(outcome: .restored)
    return RestorationReport(outcome: .restored)
  }

  func declineRestoring(into root: (any RestorableController)?) async { log.add("declineRestoring") }

  func preserveState(of root: (any RestorableController)?) async throws(RestorationError) -> PreservationOutcome? {
    if root == nil { return nil }
    log.add("preserve")
    return try outcome.get()
  }

  func beginGuard() { log.add("beginGuard") }
  func endGuard() { log.add("endGuard") }
  func announceEnd() {}
  func finishLateRestoration() async -> RestorationReport? { lastReport }
  func freeMemory() { freeCount += 1 }
  var freeCount = 0
  func deleteState() async throws(RestorationError) {
    log.add("deleteState")
    if let deletionError { throw deletionError }
  }
  var deletionError: RestorationError?
  func suspend() { isSuspended = true }
  func wake() { isSuspended = false }
  var isSuspended = false
  var lastReport: RestorationReport?
}

/// A snapshot in memory.
final class FakeSnapshots: SnapshotStore {
  private let content = Mutex<Data?>(nil)
  let isFailing = Atomic<Bool>(false)
  let isUndeletable = Atomic<Bool>(false)

  var snapshot: Data? {
    get { content.withLock { $0 } }
    set { content.withLock { $0 = newValue } }
  }

  func open() throws(ProtectionError) -> (picture: Data, takenAt: Date)? {
    snapshot.map { ($0, takenAt.withLock { $0 }) }
  }

  /// When the snapshot was taken.
  let takenAt = Mutex(Date())

  func keep(_ snapshot: Data, takenAt: Date) throws(ProtectionError) {
    self.takenAt.withLock { $0 = takenAt }
    if isFailing.load(ordering: .relaxed) { throw ProtectionError(.locked, "The device is locked.") }
    self.snapshot = snapshot
  }

  func delete() throws(ProtectionError) {
    if isUndeletable.load(ordering: .relaxed) { throw ProtectionError(.io, "The disk can't be written.") }
    snapshot = nil
  }
}

/// A device that locks when told and says so.
final class FakeDevice: ApplicationDevice {
  let log: CallLog
  private let observer = Mutex<(@Sendable (Bool) -> Void)?>(nil)

  init(_ log: CallLog) { self.log = log }

  func lock() {
    log.add("lock")
    announce(false)
  }

  func announce(_ isAvailable: Bool) { observer.withLock { $0 }?(isAvailable) }

  func observeAvailability(_ body: @escaping @Sendable (Bool) -> Void) -> any Sendable {
    observer.withLock { $0 = body }
    return true
  }
}

/// A controller with children, secrets and caches.
@MainActor
final class FakeController: RestorationParent, SensitiveContent, Lifecycle.MemoryWarningResponder, RestorationViewOwner
{
  let restoration: RestorationIdentity
  var restorationChildren: [any RestorableController] = []
  var restorationViews: [any RestorableView] = []
  let log: CallLog

  init(_ identifier: RestorationIdentifier?, _ log: CallLog) {
    restoration = RestorationIdentity(identifier)
    self.log = log
  }

  private var name: String { restoration.identifier?.description ?? "nameless" }

  func hideSensitiveContent() { log.add("hide \(name)") }
  func revealSensitiveContent() { log.add("reveal \(name)") }
  func didReceiveMemoryWarning() { log.add("free \(name)") }
}

/// A view with secrets and caches.
@MainActor final class FakeView: RestorableView, SensitiveContent, Lifecycle.MemoryWarningResponder {
  let restoration: RestorationIdentity
  let log: CallLog

  init(_ identifier: RestorationIdentifier, _ log: CallLog) {
    restoration = RestorationIdentity(identifier)
    self.log = log
  }

  func hideSensitiveContent() { log.add("hide view") }
  func revealSensitiveContent() { log.add("reveal view") }
  func didReceiveMemoryWarning() { log.add("free view") }
}

/// A program that writes down what it is told.
@MainActor final class FakeDelegate: RestorableApplicationDelegate {
  let log: CallLog
  var root: FakeController?
  var top: FakeController?
  var snapshot: Data? = Data("picture".utf8)
  var response: Lifecycle.LaunchResponse = .proceed
  var onDidFinishLaunching: @MainActor () -> Void = {}
  var onMakeSnapshot: @MainActor () -> Void = {}
  var restoreErrors: [RestorationError.Code] = []
  var preservations: [Result<PreservationOutcome, RestorationError>] = []

  init(_ log: CallLog) {
    self.log = log
    root = FakeController("root", log)
  }

  var rootController: (any RestorableController)? { root }
  var topVisibleController: (any RestorableController)? { top ?? root }

  func willFinishLaunching(with options: Lifecycle.LaunchOptions) -> Lifecycle.LaunchResponse {
    log.add("willFinishLaunching")
    return response
  }
  func didFinishLaunching(with options: Lifecycle.LaunchOptions) -> Lifecycle.LaunchResponse {
    log.add("didFinishLaunching")
    onDidFinishLaunching()
    return .proceed
  }
  func didBecomeActive() { log.add("didBecomeActive") }
  func willResignActive() { log.add("willResignActive") }
  func didEnterBackground() { log.add("didEnterBackground") }
  func willTerminate() { log.add("willTerminate") }
  func didReceiveMemoryWarning() { log.add("memoryWarning") }
  func protectedDataWillBecomeUnavailable() { log.add("willBecomeUnavailable") }
  func protectedDataDidBecomeAvailable() { log.add("didBecomeAvailable") }
  func makeSnapshot() -> Data? {
    log.add("makeSnapshot")
    onMakeSnapshot()
    return snapshot
  }
  func showSnapshot(_ snapshot: Data) { log.add("show \(String(decoding: snapshot, as: UTF8.self))") }
  func removeSnapshot() { log.add("removeSnapshot") }
  func didRestore(_ report: RestorationReport) { log.add("didRestore \(report.outcome.rawValue)") }
  func didFailToRestore(_ error: RestorationError) { restoreErrors.append(error.code) }
  func didPreserve(_ result: Result<PreservationOutcome, RestorationError>) {
    log.add("didPreserve")
    preservations.append(result)
  }
}

/// A handle that can be refused.
@MainActor final class FakeHandle: ReopenableHandle {
  let protection: ProtectionClass
  let log: CallLog
  var refusal: ProtectionError.Code?
  /// Where opening waits.
  var gate: OpeningGate?

  init(_ protection: ProtectionClass, _ log: CallLog) {
    self.protection = protection
    self.log = log
  }

  func suspend() { log.add("close \(protection)") }

  func reopen() async throws(ProtectionError) {
    // As it is when the opening begins, like the lock state.
    let refusal = refusal
    await gate?.pass()
    if let refusal { throw ProtectionError(refusal, "Refused by the test.") }
    log.add("reopen \(protection)")
  }
}

/// Stops whoever comes until it is opened, and tells that somebody has come.
@MainActor final class OpeningGate {
  private var isOpen = false
  private var hasArrived = false
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var watching: [CheckedContinuation<Void, Never>] = []

  func pass() async {
    hasArrived = true
    for watcher in watching { watcher.resume() }
    watching = []
    if !isOpen { await withCheckedContinuation { waiting.append($0) } }
  }

  func waitForArrival() async {
    if !hasArrived { await withCheckedContinuation { watching.append($0) } }
  }

  func open() {
    isOpen = true
    for continuation in waiting { continuation.resume() }
    waiting = []
  }
}

/// All of them, joined.
@MainActor struct FakeApplication {
  let log = CallLog()
  let clock = ManualClock()
  let engine: FakeEngine
  let device: FakeDevice
  let snapshots: FakeSnapshots
  let delegate: FakeDelegate
  let application: RestorableApplication

  init(snapshots: FakeSnapshots = FakeSnapshots(), enforcement: Lifecycle.Budgets.Enforcement = .kills) {
    engine = FakeEngine(log)
    device = FakeDevice(log)
    self.snapshots = snapshots
    delegate = FakeDelegate(log)
    application = RestorableApplication(
      engine: engine, device: device, snapshots: snapshots,
      lifecycle: Lifecycle(budgets: Lifecycle.Budgets(enforcement: enforcement), clock: clock), delegate: delegate)
  }

  var lifecycle: Lifecycle { application.lifecycle }
}
