internal import RestorationArchive

/// What one restoration knows of a node of its plan: what became of it.
///
/// There may be very many, and each is looked at very often: what only some have lies in a box.
struct NodeProgress {
  /// Whether the object was there before.
  var existed = false
  /// What became of the node.
  enum Outcome {
    case undecided, restored, notRestored
  }

  private(set) var outcome = Outcome.undecided
  /// The version that its object has named, where it was asked for.
  var version: StateVersion?
  private var origin = NodeReport.Origin.existing
  /// Whether its object has other values than the record: they were migrated, or were not read whole.
  var isChanged = false
  /// Whether its state was given, or is gone: nobody is given it in this run.
  var isSpent = false
  /// Whether its object was given the record in the row's own node, and there is no other one.
  private var hasOwnRecord = false
  private var rare: Box?

  /// What an object was given.
  enum Gift {
    /// Nothing.
    case nothing
    /// The record in the row's own node, and there is no other one.
    case own
    /// These.
    case records(CaptureBatch.Gift)
  }

  /// What only some nodes have.
  private struct Rare {
    var reason: RestorationReport.NotRestoredReason?
    var remarks: [RestorationReport.Remark] = []
    var candidates: [RestorePlan.RecordPlace]?
    var gift: CaptureBatch.Gift?

    var isEmpty: Bool { reason == nil && remarks.isEmpty && candidates == nil && gift == nil }
  }

  private final class Box {
    let content: Rare
    init(_ content: Rare) { self.content = content }
  }

  private var content: Rare {
    get { rare?.content ?? Rare() }
    set { rare = newValue.isEmpty ? nil : Box(newValue) }
  }

  /// What its object was given of the row's records.
  var gift: Gift {
    get {
      if hasOwnRecord { return .own }
      return rare?.content.gift.map { .records($0) } ?? .nothing
    }
    set {
      hasOwnRecord = false
      switch newValue {
      case .records(let gift): content.gift = gift
      case .own: hasOwnRecord = true
      case .nothing: break
      }
      if case .records = newValue { return }
      if rare?.content.gift != nil { content.gift = nil }
    }
  }

  /// Why it did not come back; nil when it did, or nothing was decided.
  private(set) var reason: RestorationReport.NotRestoredReason? {
    @inline(__always) get { rare?.content.reason }
    set { content.reason = newValue }
  }

  var remarks: [RestorationReport.Remark] {
    @inline(__always) get { rare?.content.remarks ?? [] }
    set { content.remarks = newValue }
  }

  /// The records that its object may be given, the newest first; nil for that in the row's own node alone.
  var candidates: [RestorePlan.RecordPlace]? {
    @inline(__always) get { rare?.content.candidates }
    set { content.candidates = newValue }
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
  mutating func reject(_ reason: RestorationReport.NotRestoredReason) {
    (outcome, self.reason) = (.notRestored, reason)
  }

  /// Takes back the outcome, the reason and the remarks of an earlier time.
  mutating func takeResult(of other: Self) {
    (outcome, reason, remarks) = (other.outcome, other.reason, other.remarks)
  }

  /// It got no object.
  mutating func fail(_ reason: RestorationReport.NotRestoredReason) {
    forgetResult()
    reject(reason)
  }

  /// Forgets what became of it, its object's state and remarks included.
  mutating func forgetResult() {
    guard outcome != .undecided else { return }
    outcome = .undecided
    if let rare { content = Rare(candidates: rare.content.candidates, gift: rare.content.gift) }
  }
}

/// The object of a node, with its conformance, so that nobody has to ask the runtime again.
enum NodeObject {
  case none
  case controller(any RestorableController)
  case other(any RestorableObject)
  /// Somebody else owns it, or it has died.
  case living(WeakObject)

  @inline(__always) var object: (any RestorableObject)? {
    switch self {
    case .controller(let controller): controller
    case .other(let object): object
    case .living(let living): living.object
    case .none: nil
    }
  }

  /// The object when it is a controller.
  @inline(__always) var controller: (any RestorableController)? {
    if case .controller(let controller) = self { return controller }
    return object as? any RestorableController
  }
}

/// The objects of all nodes: held while a turn lasts, by the hierarchy afterwards.
struct NodeObjects {
  private var objects: [NodeObject]
  /// Whether nodes have objects that the turn holds: told without counting a reference, as it is asked for very often.
  private var areHeld: [Bool]

  /// Begins without any.
  init(count: Int) {
    objects = Array(repeating: .none, count: count)
    areHeld = Array(repeating: false, count: count)
  }

  subscript(index: Int) -> NodeObject {
    get { objects[index] }
    set {
      objects[index] = newValue
      switch newValue {
      case .controller, .other: areHeld[index] = true
      case .living, .none: areHeld[index] = false
      }
    }
  }

  /// Whether a node has an object.
  func exists(at index: Int) -> Bool { areHeld[index] || objects[index].object != nil }

  /// Lets go of a node's object, so that it dies if nobody has installed it.
  mutating func letGo(_ index: Int) {
    guard areHeld[index] else { return }
    self[index] = .living(WeakObject(object: objects[index].object))
  }
}

/// An object that somebody else owns.
struct WeakObject {
  weak let object: (any RestorableObject)?
}
