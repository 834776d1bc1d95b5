internal import FoundationEssentials
internal import RestorationArchive

/// One main-actor turn of restoring: objects, containers, decoding, finished hooks, in this order (R3.2).
///
/// Works on a whole plan, or on the subtree of an object that turned up later.
@MainActor final class RestorationRun {
  let plan: RestorationPlan
  let registry: RestorationRegistry
  let log: any RestorationLog
  let note: (UInt32) -> Void
  let now: Date
  weak var delegate: (any RestorationCoordinatorDelegate)?
  /// The objects that keep the user's newer state, by path; another object at the path is given it like any state.
  var touched: [RestorationPath: LiveObjects.Living] = [:]
  /// Says whether the node that failed before is tried again.
  var retries: (RestorationPath) -> Bool = { _ in false }
  /// Whether objects decode last first, for tests of code that must not depend on the order.
  var decodesInReverse = false
  /// Nodes left out for this run, by index.
  var leftOut: Set<Int> = []
  /// What restoring died at the last time, and what requests for an older generation died at before.
  var culprits: Set<NodeID> = []
  /// Whether what is kept is given to anybody: not right after a death, so that this run can end and leave its culprit out
  /// durably, before the next of them has its turn.
  var givesKept: Bool { culprits.isEmpty }

  /// The live objects of the nodes.
  var objects: LiveObjects
  /// The object at the top of the hierarchy.
  weak var root: (any RestorableController)?
  /// What the program has given up, by index.
  private lazy var forgotten = Array(repeating: false, count: plan.nodes.count)
  var outcomes: NodeOutcomes
  /// What came back from where it was kept.
  var reinstated: [Int: RestorationPlan.Kept] = [:]
  /// What was brought back, by the index of the node that has the place.
  var standIns: [Int: Int] = [:]
  /// The nodes whose places are taken by what was brought back.
  var superseded: Set<Int> = []
  /// Which objects existed before.
  var existing: [Bool]
  /// Objects that no container took, and those below them, while somebody else owns them; by index.
  var uninstalled: [Int: LiveObjects.Living] = [:]
  /// The children that existed before, of parents that have many; by the parent's index.
  var childTables: [Int: ChildTable<any RestorableController>] = [:]
  /// The views of owners, until their containers get children, which may bring views.
  var viewTables: [Int: ChildTable<any RestorableView>] = [:]
  /// For parents, the place after the child that was last found to be installed.
  var nextInstalled: [Int: Int] = [:]
  /// The nodes whose objects are found or made now.
  private(set) var meeting = 0..<0
  /// The places of the objects that were met, once one of them was made.
  var takenPlaces: [ObjectIdentifier: Int] = [:]
  var asksDelegate = true
  /// The plan of the class whose instance was decoded last.
  var lastClassPlan: ClassPlan?
  /// The nodes whose objects refer to what is stored and was not restored.
  var awaitingTargets: Set<Int> = []
  /// Whether the object that decodes now is one of these.
  var missesTarget = false
  private var notedNode: UInt32?
  /// The decoder of what no code of the program sees: one for all nodes.
  var unseenDecoder: RestorationDecoder?
  /// Nodes whose objects turned up later, in a finished hook perhaps, and were told that restoring is over.
  private var late: Set<Int> = []
  /// Those that turned up before everybody was told.
  private var unfinished: [Range<Int>] = []
  private var isFinished = false
  /// The nodes that objects took over by coming to their places, without being given their state.
  var takenOver: Set<NodeID> = []
  /// How many captures had been made when the nodes' objects were given their state.
  private var captureNumber = 0
  /// The same for objects that turned up later, by index.
  private var laterCaptureNumbers: [Int: Int] = [:]
  /// The nodes by path, without those that are kept; made when the first reference is resolved.
  lazy var paths = Dictionary(plan.placed.lazy.map { [plan] in (plan.paths[$0], $0) }) { first, _ in first }
  /// The nodes by number; made when the first reference by number is resolved.
  private(set) lazy var numbers = Dictionary(plan.nodes.lazy.enumerated().map { ($1.id, $0) }) { first, _ in first }
  let clock = ContinuousClock()

  init(
    plan: RestorationPlan, registry: RestorationRegistry, delegate: (any RestorationCoordinatorDelegate)?,
    log: any RestorationLog, now: Date, note: @escaping (UInt32) -> Void
  ) {
    self.plan = plan
    self.registry = registry
    self.delegate = delegate
    self.log = log
    self.now = now
    self.note = note
    objects = LiveObjects(count: plan.nodes.count)
    outcomes = NodeOutcomes(count: plan.nodes.count)
    existing = Array(repeating: false, count: plan.nodes.count)
  }

  // MARK: - Nodes

  /// The live object of a node; nil while there is none.
  func object(at index: Int) -> (any RestorableObject)? { objects[index] }

  /// Lets go of the objects after a turn.
  func letGo(_ range: Range<Int>? = nil) { objects.letGo(range ?? plan.nodes.indices) }

  /// The live object above a node; nil while there is none.
  func parent(of index: Int) -> (any RestorableObject)? { plan.nodes[index].parent.flatMap { object(at: $0) } }

  /// Whether the program has given up the node's state, or that of a node above it.
  func isForgotten(_ index: Int) -> Bool { forgotten[index] }

  /// Gives up a node's state and everything below it.
  func forget(_ index: Int) {
    for index in index..<plan.nodes[index].end { forgotten[index] = true }
  }

  /// Remembers after which capture nodes' objects were given their state: all of them, or those of a range.
  func noteTaking(in range: Range<Int>? = nil, after captureNumber: Int) {
    guard let range else { return self.captureNumber = captureNumber }
    for index in range { laterCaptureNumbers[index] = captureNumber }
  }

  /// Whether a node's state was given to an object that is gone, and that a capture has met: newer state has taken its
  /// place, or it has left with the object.
  ///
  /// So has that of an object that was given nothing and came to the place by itself.
  ///
  /// The first capture after restoring meets every restored object, or has its state leave. One that turned up later may
  /// have died unmet: then its state is carried over, and the next object's.
  func isSpent(_ index: Int, in tree: CaptureTree) -> Bool {
    if takenOver.contains(plan.nodes[index].id) { return object(at: index) == nil }
    guard outcomes.isRestored(index), object(at: index) == nil else { return false }
    guard tree.captureNumber > laterCaptureNumbers[index] ?? captureNumber else { return false }
    return !tree.unmet.contains(plan.nodes[index].id)
  }

  /// Whether a node's object turned up later.
  func isLate(_ index: Int) -> Bool { late.contains(index) }

  /// The index of the node at a path; nil when there is none.
  func index(at path: RestorationPath) -> Int? { paths[path] }

  /// Forgets what became of a range of nodes, before they are met again.
  func forgetOutcomes(in range: Range<Int>) {
    for index in range { clear(index) }
  }

  /// Forgets a node's object and what became of it.
  func clear(_ index: Int) {
    objects.clear(index)
    outcomes.clear(index)
    awaitingTargets.remove(index)
    existing[index] = false
    if !uninstalled.isEmpty { uninstalled[index] = nil }
  }

  // MARK: - The turn

  /// Finds or makes every object below the root.
  func makeObjects(root: any RestorableController) {
    beginMeeting(plan.placed)
    for index in plan.placed where object(at: index) == nil && !outcomes.isMet(index) {
      if plan.nodes[index].parent == nil, plan.nodes[index].kind == .controller {
        meetRoot(index, root)
      } else {
        meet(index)
      }
    }
  }

  /// Makes the objects of one subtree whose top exists already.
  func makeObjects(at top: Int, object: any RestorableController, origin: NodeReport.Origin) {
    beginMeeting(top..<plan.nodes[top].end)
    guard admit(object, at: top, origin: origin) else { return }
    for index in plan.nodes.indices[(top + 1)..<plan.nodes[top].end] { meet(index) }
  }

  /// Finds or makes the objects of one subtree that has turned up.
  func makeObjects(in range: Range<Int>) {
    beginMeeting(range)
    for index in range { meet(index) }
  }

  /// Forgets who has places from an earlier turn: an object may have the address of one that is gone.
  private func beginMeeting(_ range: Range<Int>) {
    meeting = range
    takenPlaces = [:]
  }

  /// Tells every restored object that restoring is over; those that turned up meanwhile come last.
  func finish() {
    finish(plan.nodes.indices.lazy.filter { [self] in !late.contains($0) })
    isFinished = true
    for range in unfinished { finish(range) }
    unfinished = []
    unseenDecoder = nil
  }

  /// Tells objects that have turned up that restoring is over, at once or when it is.
  func finishLate(_ range: Range<Int>) {
    late.formUnion(range)
    guard isFinished else { return unfinished.append(range) }
    finish(range)
    unseenDecoder = nil
  }

  private func finish(_ indices: some Sequence<Int>) {
    for index in indices where outcomes.isRestored(index) {
      guard let object = object(at: index) else { continue }
      FinishedHook.call(on: object) { noteBeginning(of: index) }
    }
  }

  /// The reports of all nodes met, in the plan's order; what was brought back stands in its place, before what goes.
  func reports(in range: Range<Int>? = nil) -> [NodeReport] {
    let range = range ?? plan.placed
    guard !standIns.isEmpty else { return outcomes.reports(range, of: plan) }
    return range.lazy.filter { [self] in !superseded.contains($0) || standIns[$0] != nil }.flatMap { [self] index in
      let returned = standIns[index].map { outcomes.reports($0..<plan.nodes[$0].end, of: plan) } ?? []
      let own = returned.isEmpty || outcomes.reason(index) != nil ? outcomes.report(index, of: plan) : nil
      return returned + [own].compactMap(\.self)
    }
  }

  // MARK: - The note

  /// Marks the node whose own code runs next, so that a crash in it is put down to it: to what is kept for the place, where
  /// that is given instead of what is stored there.
  func noteBeginning(of index: Int) {
    let kept = reinstated.isEmpty ? nil : reinstated[index]?.id
    let node = (kept ?? plan.nodes[index].id).rawValue
    guard notedNode != node else { return }
    notedNode = node
    note(node)
  }

  /// Whatever happens from here on is no node's fault.
  func noteEnd() {
    notedNode = nil
    note(.max)
  }

  /// Runs what notes nodes of its own, in the middle of another's code perhaps, which goes on afterwards.
  func interruptingNotes<Result>(_ body: () -> Result) -> Result {
    let before = notedNode
    let result = body()
    guard let before else {
      noteEnd()
      return result
    }
    notedNode = before
    note(before)
    return result
  }

  /// Notes that the app-level state is being read.
  func noteApplication(_ source: ApplicationSource) {
    notedNode = nil
    let node = if case .kept(let kept) = source { kept.id } else { plan.applicationNode }
    note(node?.rawValue ?? .max)
  }

  /// Which app-level state the delegate is given.
  enum ApplicationSource {
    /// What is stored, or nothing if nothing is.
    case stored
    /// Nothing, because restoring died there.
    case leftOut
    /// What nobody could read before and is kept, as the program asks for it.
    case kept(RestorationPlan.Kept)
  }

  /// Chooses the app-level state for this run.
  func applicationSource() -> ApplicationSource {
    let diedThere = plan.applicationNode.map { culprits.contains($0) || plan.isApplicationLeftOut } ?? false
    let kept = givesKept ? plan.keptApplication : nil
    guard diedThere || kept != nil else { return .stored }
    // In the launch right after nobody is asked.
    if let node = plan.applicationNode, culprits.contains(node) { return .leftOut }
    guard retries([]) else { return diedThere ? .leftOut : .stored }
    return kept.map { .kept($0) } ?? .stored
  }

  /// The record of an app-level state.
  func record(of source: ApplicationSource) -> any StateRecord {
    switch source {
    case .stored: plan.application
    case .leftOut: EmptyRecord()
    case .kept(let kept): kept.record
    }
  }

  // MARK: - Decoders

  /// Lends code of the program a decoder of a node's state.
  func withDecoder<Value>(for index: Int, _ body: (RestorationDecoder) -> Value) -> Value {
    let decoder = RestorationDecoder(
      record: plan.record(of: index), path: plan.paths[index], context: plan.context,
      storedVersion: plan.nodes[index].version, modelIdentifier: plan.details(of: index).model)
    defer { decoder.finish() }
    return body(decoder)
  }

  /// A decoder that no code of the program will see; to be kept for the next node in ``unseenDecoder`` afterwards.
  ///
  /// Taken out, as a value that is assigned may have the program give another object its state meanwhile. One that the
  /// program has seen is never used again, as it may have kept it.
  func takeUnseenDecoder(
    of record: any StateRecord, at index: Int, version: StateVersion, model: ModelIdentifier?
  ) -> RestorationDecoder {
    guard let decoder = unseenDecoder else {
      return RestorationDecoder(
        record: record, path: plan.paths[index], context: plan.context, storedVersion: version, modelIdentifier: model)
    }
    unseenDecoder = nil
    decoder.begin(record: record, path: plan.paths[index], storedVersion: version, modelIdentifier: model)
    return decoder
  }
}
