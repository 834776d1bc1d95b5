internal import RestorationArchive

/// What one restoration knows of a node of its plan: its object, and what became of it.
struct NodeProgress {
  /// An object with its conformance, so that nobody has to ask the runtime again.
  enum Holding {
    case nothing
    case controller(any RestorableController)
    case other(any RestorableObject)
    /// Somebody else owns it, or it has died.
    case living(WeakObject)
  }

  /// The object: held while a turn lasts, by the hierarchy afterwards.
  var holding = Holding.nothing
  /// Whether the object was there before.
  var existed = false
  /// What became of the node: without payloads, as it is asked for very often.
  enum Outcome {
    case undecided, restored, notRestored
  }

  private(set) var outcome = Outcome.undecided
  private var origin = NodeReport.Origin.existing
  /// What only some nodes have: a node is copied at each look, and each list would be counted.
  private var rare: Rare?
  /// Whether its object has other values than the record: they were migrated, or were not read whole.
  var isChanged = false
  /// What its object was given of the row's records.
  var gift = Gift.nothing
  /// Whether its state was given, or is gone: nobody is given it in this run.
  var isSpent = false

  /// What an object was given.
  enum Gift {
    /// Nothing.
    case nothing
    /// The record in the row's own node, and there is no other one.
    case own
    /// These.
    indirect case records(CaptureBatch.Gift)
  }

  private final class Rare {
    let reason: NotRestoredReason?
    let remarks: [RestorationRemark]
    let candidates: [RestorePlan.RecordPlace]?

    init(_ reason: NotRestoredReason?, _ remarks: [RestorationRemark], _ candidates: [RestorePlan.RecordPlace]?) {
      (self.reason, self.remarks, self.candidates) = (reason, remarks, candidates)
    }
  }

  /// Why it did not come back; nil when it did, or nothing was decided.
  private(set) var reason: NotRestoredReason? {
    @inline(__always) get { rare?.reason }
    set { note(newValue, remarks, candidates) }
  }

  var remarks: [RestorationRemark] {
    @inline(__always) get { rare?.remarks ?? [] }
    set { note(reason, newValue, candidates) }
  }

  /// The records that its object may be given, the newest first; nil for that in the row's own node alone.
  var candidates: [RestorePlan.RecordPlace]? {
    @inline(__always) get { rare?.candidates }
    set { note(reason, remarks, newValue) }
  }

  private mutating func note(
    _ reason: NotRestoredReason?, _ remarks: [RestorationRemark], _ candidates: [RestorePlan.RecordPlace]?
  ) {
    let isAny = reason != nil || !remarks.isEmpty || candidates != nil
    rare = isAny ? Rare(reason, remarks, candidates) : nil
  }

  @inline(__always) var object: (any RestorableObject)? {
    switch holding {
    case .controller(let controller): controller
    case .other(let object): object
    case .living(let living): living.object
    case .nothing: nil
    }
  }

  /// Whether it has an object: told without counting a reference, as it is asked for very often.
  @inline(__always) var hasObject: Bool {
    switch holding {
    case .controller, .other: true
    case .living(let living): living.object != nil
    case .nothing: false
    }
  }

  /// The object when it is a controller.
  @inline(__always) var controller: (any RestorableController)? {
    if case .controller(let controller) = holding { return controller }
    return object as? any RestorableController
  }

  /// Whether its object exists and, as far as is known, takes its state.
  var isRestored: Bool { outcome == .restored }

  /// What a report says of it; nil when nothing was decided.
  @inline(__always) var result: NodeReport.Result? {
    switch outcome {
    case .undecided: nil
    case .restored: .restored(origin)
    case .notRestored: reason.map { .notRestored($0) }
    }
  }

  /// It got its object.
  mutating func restore(_ origin: NodeReport.Origin) {
    forgetResult()
    (outcome, self.origin) = (.restored, origin)
  }

  /// Its object did not get its state; what else is known stays.
  mutating func reject(_ reason: NotRestoredReason) { (outcome, self.reason) = (.notRestored, reason) }

  /// It got no object.
  mutating func fail(_ reason: NotRestoredReason) {
    holding = .nothing
    forgetResult()
    reject(reason)
  }

  /// Lets go of its object, so that it dies if nobody installed it.
  mutating func letGo() {
    if case .nothing = holding { return }
    holding = .living(WeakObject(object: object))
  }

  /// Forgets what became of it, its object's state and remarks included.
  mutating func forgetResult() {
    guard outcome != .undecided else { return }
    outcome = .undecided
    if rare != nil { note(nil, [], candidates) }
  }
}

/// An object that somebody else owns.
struct WeakObject {
  weak let object: (any RestorableObject)?
}
