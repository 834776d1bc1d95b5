internal import DataProtection
internal import FoundationShim
internal import RestorationArchive

/// Preserves a hierarchy of controllers and gives it back at the next launch: the front door of the framework.
///
/// ```swift
/// let restorer = try RestorationCoordinator(device: device, delegate: appDelegate)
/// restorer.registry.register(EditorController.self, as: "editor")
/// let report = try await restorer.restore(into: window)
/// let outcome = try await restorer.preserve(window)
/// ```
///
/// Lives on the main actor, which only captures values and calls the program's own code; encoding, sealing, writing,
/// reading and checking happen elsewhere. It owns no controllers. Six of its variables are its face; the others outlive an
/// operation, and what lasts for one stands in values of their own.
@MainActor public final class RestorationCoordinator {
  /// What the coordinator knows of the program, and its limits.
  public let configuration: RestorationConfiguration
  /// The scene whose state it keeps.
  public let window: RestoredWindow.ID
  /// Says whether to preserve and restore, and makes controllers; without one nothing is preserved or restored.
  public weak var delegate: (any RestorationCoordinatorDelegate)? {
    // Without one nothing was looked at, so that no change would be noticed.
    didSet { if oldValue == nil, delegate != nil { armAutomaticPreservation() } }
  }
  /// The restoration classes, blueprints and shared objects that are known.
  public let registry: RestorationRegistry

  /// Why the state is as it is at this launch; `.normal` until ``prepare()`` or a restoration has looked.
  public internal(set) var reason = RestorationReport.Reason.normal
  /// The report of the last restoration; nil before the first.
  public internal(set) var lastReport: RestorationReport? {
    get {
      // Put together when somebody reads it, not for each of many late objects.
      if hasNewOutcomes, let restored, report?.nodes.isEmpty == false { report?.nodes = restored.reports() }
      hasNewOutcomes = false
      return report
    }
    set {
      report = newValue
      hasNewOutcomes = false
      access.phase = accessPhase
    }
  }

  /// The report as it was when somebody last read it.
  private var report: RestorationReport?
  /// Whether late objects were given state since.
  var hasNewOutcomes = false

  /// The receipt of the last save; nil before the first.
  public internal(set) var lastReceipt: PreservationOutcome.Receipt?

  /// When the coordinator preserves by itself; never, unless told otherwise.
  public var preservesAutomatically = RestorationCoordinator.AutomaticPreservation.never {
    didSet { if preservesAutomatically != oldValue { automaticPolicyChanged() } }
  }

  /// How much restoring brings back: everything, unless told otherwise.
  ///
  /// ``RestorableApplication`` sets what its launch asks for. State that is not asked for stays stored, and the report calls it
  /// ``RestorationReport/NotRestoredReason/beyondExtent(_:)``. Nobody is made for it. An object that is there keeps what it has: its first edit
  /// stands in front of the stored state, which goes dormant. The next launch that asks for more gets everything in
  /// front of which nothing has come. Restoring again with a greater extent brings it back in the same run, and so does
  /// ``RestorationCoordinator/restore(_:at:)`` for a single object. A state that is asked for by name comes back whole.
  ///
  /// With `pristine` the outcome is ``RestorationReport/Outcome/declined``, and the first save sets the state aside.
  public var extent = Lifecycle.LaunchOptions.Extent.restore

  /// What the next save does.
  enum Standing {
    /// Nothing has been restored or saved in this run: it looks at the disk first.
    case new
    /// It writes the hierarchy as it is.
    case live
    /// The device was locked at launch: it writes the edits alone, and the unlock restores.
    case locked
    /// Everything was deleted for good: it writes nothing until something is restored.
    case discarded
  }

  /// Whether part of the state has no key: what its objects edit is saved beside it, and the unlock restores it.
  var isPartlyLocked = false
  /// What the last attempt called the node that it died at, while that can't be read.
  var lockedCrashNode: UInt32?

  let store: any PreservationStore
  let worker: PreservationWorker<PreservationSession>
  let tree: LiveTree
  let turns: MainTurns
  let operations = ExclusiveOperations()
  /// What scopes are told of the stored state.
  let access = CoordinatorAccess()
  var standing = Standing.new { didSet { access.phase = accessPhase } }
  weak var root: (any RestorableController)?
  /// The state loaded by `prepare()` until a restoration uses it.
  var prepared: Result<LoadedState, LoadFailure>?
  /// The last restored state, for late objects.
  var restored: RestoreTurn? { didSet { access.phase = accessPhase } }
  /// The late objects that came in the turn that restores; nil outside of it.
  var lateObjects: [LateObject]?
  var attempt: (any RestorationAttempting)?
  /// What that calls the nodes that the disk has elsewhere.
  var attemptNames = NodeNames()
  /// Whether the program has said that it ends.
  var hasAnnouncedEnd = false
  var extensions = ExtensionCount()
  var waitingSave: WaitingSave?
  /// The save whose values are copied, and of which nobody has taken note yet.
  var handedSave: HandedSave?
  var automatic = AutomaticState()
  /// Whether the delegate has state of the whole program, whose changes can't be noticed.
  var encodesApplicationState = false
  /// Has objects asked whose changes can't be noticed; nil while nobody is.
  var repetition: Repetition?
  /// Whether the log has named them.
  var hasNamedAsked = false
  /// How far asking them has come; nil while nobody is asked.
  var askingRound: AskingRound?
  var unlock = UnlockState()
  /// The snapshot that shows the state, and goes with it; nil without an application.
  package var snapshots: SnapshotKeeper? {
    didSet {
      let snapshots = snapshots
      worker.post { $0.willWrite = { snapshots?.stateWillChange() } }
    }
  }
  /// Which objects have come that are looked at when this turn ends; nil when none.
  var dueLook: (scope: LiveTree.Scope, standing: Standing)?

  /// Creates a coordinator on any store; for tests of the engine.
  init(
    store: any PreservationStore, delegate: (any RestorationCoordinatorDelegate)?,
    configuration: RestorationConfiguration = .init(), window: RestoredWindow.ID = .main,
    registry: RestorationRegistry = RestorationRegistry()
  ) {
    self.store = store
    self.delegate = delegate
    self.configuration = configuration
    self.window = window
    self.registry = registry
    let context = configuration.context
    worker = PreservationWorker(
      label: "state-restoration.\(configuration.application)",
      state: PreservationSession(
        store: store, context: context, protection: configuration.protection, limits: configuration.limits,
        nodeBudget: configuration.nodeByteBudget))
    let awakener = Awakener(MainTurns(configuration.mainLoop))
    turns = awakener.turns
    tree = LiveTree(registry: registry, changes: ChangeList { awakener.wake() }, context: context)
    tree.applicationProtection = configuration.applicationStateProtection
    awakener.coordinator = self
    turns.mayBegin = { [weak self] in self?.isAsking != true }
    tree.access = access
    tree.hasSomeoneToAsk = { [weak self] in self?.beginAsking() }
    access.coordinator = self
    registry.tell(self)
    becomeFindable()
  }

  isolated deinit {
    unlock.observation?.cancel()
    // A program that let it go by mistake hears nothing else. One that ends lets the hierarchy go as well.
    guard preservesAutomatically != .never, standing != .discarded, let root else { return }
    let (window, log) = (window, log)
    // A job of the main actor alone would never run in a program that keeps its main thread.
    turns.perform { [weak root] in
      guard root != nil else { return }
      log.log(
        .warning,
        "nothing is preserved any more: the coordinator of “\(window)” is gone; "
          + "keep the session, windows or coordinator")
    }
  }

  /// Whether the program is asked for its objects or their values in this moment, by a call that has not returned.
  var isAsking: Bool { tree.isCapturing || lateObjects != nil }

  /// What a scope answers who asks for something that is not there.
  var accessPhase: CoordinatorAccess.Phase {
    if standing == .locked { return .locked }
    return restored == nil && report?.outcome == .unavailable ? .unavailable : .open
  }

  var log: RestorationLog { configuration.log }
  var changes: ChangeList { tree.changes }
}

/// Brings the first change of a burst from any thread to the coordinator's main actor.
final class Awakener: Sendable {
  /// Set once, before any change can be noticed, and read on the main actor only.
  @MainActor weak var coordinator: RestorationCoordinator?

  let turns: MainTurns

  init(_ turns: MainTurns) { self.turns = turns }

  func wake() { turns.perform { self.coordinator?.changesWereNoticed() } }
}

extension RestorationConfiguration {
  /// The context of an archive that is saved now.
  var context: RestorationArchive.Context {
    var context = RestorationArchive.Context(
      applicationVersion: applicationVersion, schemaVersion: schemaVersion, systemVersion: systemVersion,
      timeSaved: now(), interfaceIdiom: interfaceIdiom, versionTag: interfaceVersion)
    if let bootClock {
      context.boot = boot
      context.bootSeconds = UInt32(clamping: bootClock.elapsed.components.seconds)
    }
    return context
  }

  /// The limits of its archives.
  var limits: RestorationArchive.Limits {
    var limits = RestorationArchive.Limits.default
    limits.bytesPerArchive = archiveByteBudget
    limits.valueDepth = valueDepthLimit
    // One node may be as large as the archive: the budget of nodes warns and leaves nothing out.
    limits.bytesPerNode = max(limits.bytesPerNode, archiveByteBudget)
    return limits
  }
}

/// The save that was asked for last and waits for another operation; requests for the same hierarchy join it.
struct WaitingSave {
  weak let root: (any RestorableController)?
  let outcome: Task<Result<PreservationOutcome, RestorationError>, Never>
}

/// What the coordinator knows of unlocks.
struct UnlockState {
  var observation: ProtectedDataObservation?
  /// Told of locks, and of unlocks once the hierarchy has its state.
  var notify: (@MainActor (ProtectedDevice.Notification) -> Void)?
  /// How often the device was unlocked, to notice an unlock during loading.
  var count = 0
  /// Whether a whole state was saved while locked, so that the marker is of the one before until the unlock.
  var attemptLags = false
  /// Whether the program is suspended: an unlock waits.
  var isSuspended = false
  /// Whether the device was unlocked while it was.
  var wasMissed = false
  /// Whether what was locked waits for a save, as the one before has failed.
  var isOwed = false
}
