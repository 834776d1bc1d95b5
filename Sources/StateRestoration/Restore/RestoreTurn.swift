internal import FoundationShim
internal import RestorationArchive

/// One main-actor turn of restoring: objects, containers, decoding, finished hooks, in this order.
///
/// Works on a whole plan, or on the subtree of a late object.
@MainActor final class RestoreTurn {
  let plan: RestorePlan
  let request: RestoreRequest

  // What becomes of the nodes.

  /// What is known of the nodes, in the plan's order.
  var progress: [NodeProgress]
  private var objects: NodeObjects
  /// Stands for the app-level state: one more object, at the empty path.
  private let applicationObject = ApplicationObject()
  /// The rows that were found instead of the leading ones of their places, by these.
  var chosen: [Int: Int] = [:]

  /// Objects that no container took, while somebody else owns them.
  var uninstalled: [WeakObject] = []
  /// Nodes that are asked for whatever the launch asks for, as their objects came late.
  var asked: Set<Int> = []
  var lookups = RestoreLookups()
  /// Objects that a row fits which is closed: they are given nothing of it.
  var shutOut: [(object: WeakObject, row: Int)] = []
  /// While a late object is given its state: whether one that is there keeps what it has.
  var keepsLate: ((any RestorableObject) -> Bool)? { didSet { keptLate = [:] } }
  private var keptLate: [ObjectIdentifier: Bool] = [:]
  /// While a late object is given its state: rows of its place that others have, which are called otherwise by now.
  var heldRows: Set<Int> = []
  /// While a late object is given its state: whether an object has a row now.
  var hasRowNow: ((any RestorableObject, NodeID) -> Bool)?
  /// Rows that their objects have left, as they showed another model or were of another class.
  private var outgrown: Set<Int> = []
  /// Rows that have become absent since they were loaded.
  private var absentSince: Set<Int> = []
  /// Rows whose objects were given none of their records: they are absent once these have left.
  private var metUnread: [NodeID: Int] = [:]
  /// The progress of nodes whose objects turned out, after the turn, to be unable to read their records: as it was before that.
  var resultsBeforeRejection: [Int: NodeProgress] = [:]
  /// Late objects that no row of a place fitted, and these places.
  private var refusedLate: [ObjectIdentifier: (object: WeakObject, lead: Int)] = [:]
  private var notedNode: UInt32?
  /// The objects of so many nodes, from the first on, were told that restoring is over.
  private var finishedCount = 0
  /// The nodes by path; made when it is first asked for.
  lazy var paths = Dictionary(
    plan.leads.lazy.filter { [plan] in !plan.nodes[$0].isApplication }.map { [plan] in (plan.paths[$0], $0) }
  ) { first, _ in first }

  /// All records, by their numbers; made when one is first looked for.
  private(set) lazy var recordPlaces = plan.recordPlaces

  init(plan: RestorePlan, _ request: RestoreRequest) {
    self.plan = plan
    self.request = request
    progress = Array(repeating: NodeProgress(), count: plan.nodes.count)
    objects = NodeObjects(count: plan.nodes.count)
  }

  // MARK: - Nodes

  /// Whether an object keeps what it has, as that is newer: it was edited while the device was locked, or before it came late.
  func isEdited(_ object: any RestorableObject) -> Bool {
    if !request.edits.objects.isEmpty, request.edits.objects.contains(ObjectIdentifier(object)) { return true }
    return isKept(object)
  }

  /// Whether an object in a late turn keeps what it has, and the row in which that is: this run has met it before.
  ///
  /// Decided when the object is met: giving others their state changes it.
  func isKept(_ object: any RestorableObject) -> Bool {
    guard let keepsLate else { return false }
    if let isKept = keptLate[ObjectIdentifier(object)] { return isKept }
    let isKept = keepsLate(object)
    keptLate[ObjectIdentifier(object)] = isKept
    return isKept
  }

  /// The live object of a node; nil while there is none.
  func object(at index: Int) -> (any RestorableObject)? { objects[index].object }

  /// The live object of a node when it is a controller.
  func controller(at index: Int) -> (any RestorableController)? { objects[index].controller }

  /// Whether a node has a live object.
  func hasObject(at index: Int) -> Bool { objects.exists(at: index) }

  /// Notes something about a node for the report.
  func note(_ remark: RestorationReport.Remark, at index: Int) { progress[index].remarks.append(remark) }

  /// Gives a node its object, or takes it away.
  func hold(_ object: NodeObject, at index: Int) { objects[index] = object }

  /// Lets go of the objects after a turn, so that those die that nobody has installed.
  func letGo(_ range: Range<Int>? = nil) {
    for index in range ?? plan.nodes.indices { objects.letGo(index) }
  }

  /// The index of the leading row at a path as it was stored; nil when there is none.
  func index(at path: RestorationPath) -> Int? { paths[path] }

  /// The index of a place below what a controller was given; nil when nothing is stored there, or the controller has become
  /// another class's or model's.
  ///
  /// - Parameters:
  ///   - names: The way from the controller on.
  ///   - ancestors: The controllers that are above it now.
  func index(
    below controller: any RestorableController, _ names: some Sequence<RestorationIdentifier>,
    ancestors: [any RestorableController]
  ) -> Int? {
    guard let above = index(of: controller) else { return nil }
    for one in [controller] + ancestors {
      if let given = index(of: one), outgrown.contains(given) || !isOwn(given, one) { return nil }
    }
    guard let index = paths[RestorationPath(plan.paths[above].components + names)],
      (above..<plan.nodes[above].end).contains(index)
    else { return nil }
    return index
  }

  /// Notes that a controller has left the row that it was given, as it shows another model or is of another class: nothing is looked
  /// for below that any more.
  func noteOutgrown(by controller: any RestorableController) {
    if let index = index(of: controller) { outgrown.insert(index) }
  }

  /// Whether the controller that was given a row has left it, as it shows another model or is of another class.
  func isOutgrown(_ row: Int) -> Bool { outgrown.contains(row) }

  /// Whether a row waits for an object: its own one left, or shows another model, before the launch or since.
  func isAbsent(_ row: Int) -> Bool { plan.nodes[row].isAbsent || absentSince.contains(row) }

  /// The facts about a row that *Find* needs.
  func findRow(at row: Int, canBeGiven: Bool) -> Find.Row {
    var facts = plan.findRow(at: row, canBeGiven: canBeGiven)
    facts.isAbsent = isAbsent(row)
    return facts
  }

  /// Notes that an object has met a row none of whose records it was given.
  func noteUnread(_ row: Int) { metUnread[plan.nodes[row].id] = row }

  /// Notes that objects have left that were given records, or have met rows none of whose records they were given.
  func noteLeft(_ nodes: [NodeID]) {
    guard !metUnread.isEmpty else { return }
    for node in nodes {
      if let row = metUnread.removeValue(forKey: node) { absentSince.insert(row) }
    }
  }

  /// Notes that a live object shows a model in a place: rows of other models there are absent from now on.
  func noteModel(of object: any RestorableObject, ledBy lead: Int) {
    let asker = request.registry.asker(object)
    for row in plan.rows(ledBy: lead) where !isAbsent(row) {
      if asker.mismatch(with: plan.identity(of: row)) == .otherModel { absentSince.insert(row) }
    }
  }

  /// Whether nobody is given the state of a place any more, or not an object whose own rows in it were given.
  func isSpent(_ lead: Int, for object: (any RestorableObject)? = nil) -> Bool {
    let rows = plan.rows(ledBy: lead)
    let own = rows.filter { isOwn($0, object) }
    return (own.isEmpty ? rows : own).allSatisfy { progress[$0].isSpent }
  }

  /// Whether a row fits an object; without an object every one counts.
  func isOwn(_ row: Int, _ object: (any RestorableObject)?) -> Bool {
    object.map { request.registry.asker($0).mismatch(with: plan.identity(of: row)) == nil } ?? true
  }

  /// Whether there is state that nobody was given, for late objects.
  private(set) lazy var hasUnclaimed = plan.nodes.indices.contains {
    !hasObject(at: $0) && !plan.nodes[$0].isApplication && !plan.nodes[$0].isHole
  }

  /// Lets go of the states that objects have, or that nobody is given any more; late objects still get theirs.
  func releaseState() { plan.releaseRecords { !progress[$0].isSpent } }

  /// Says that nobody is given the state of a place, or of anything below it, any more.
  func spend(_ lead: Int) {
    for row in plan.rows(ledBy: lead) { spend(row..<plan.nodes[row].end) }
  }

  /// Says that nobody is given the state of a range of nodes any more.
  func spend(_ range: Range<Int>) {
    for index in range { progress[index].isSpent = true }
  }

  /// Forgets the objects of a range of nodes and what became of them, before they are met again.
  private func forgetProgress(in range: Range<Int>) {
    for index in range {
      let isSpent = progress[index].isSpent
      progress[index] = NodeProgress()
      objects[index] = .none
      progress[index].isSpent = isSpent
      chosen[index] = nil
    }
  }

  /// A node has no object, for a reason.
  func fail(_ index: Int, _ reason: RestorationReport.NotRestoredReason) {
    objects[index] = .none
    progress[index].fail(reason)
  }

  // MARK: - The turn

  /// Finds the row of the app-level state.
  func selectApplication() {
    if let lead = plan.application { select(applicationObject, ledBy: lead, origin: .existing) }
  }

  /// The row of the app-level state; nil when there is none.
  var application: Int? { plan.application.flatMap { hasObject(at: $0) ? $0 : nil } }

  /// Finds or makes every object below the root.
  func makeObjects(root: any RestorableController) {
    lookups.takenPlaces = [:]
    meetAll(in: plan.nodes.indices) { index in
      if plan.nodes[index].isApplication { return }
      if plan.nodes[index].parent == nil, plan.nodes[index].kind == .controller {
        meetRoot(index, root)
      } else {
        meet(index)
      }
    }
    for (lead, rows) in plan.others where !plan.nodes[lead].isApplication {
      for row in [lead] + rows where progress[row].outcome == .undecided { reportWaiting(row) }
    }
  }

  /// Says of a row, with all that is below it, that no object has it.
  private func reportWaiting(_ top: Int) {
    fail(top, .absent)
    for index in top + 1..<plan.nodes[top].end where progress[index].outcome == .undecided {
      fail(index, .parentNotRestored)
    }
  }

  /// Finds or makes the objects of a subtree whose top is a late object.
  ///
  /// - Returns: Its row; nil when none fits it.
  func makeObjects(for object: any RestorableObject, at top: Int) -> Int? {
    let rows = plan.rows(ledBy: top)
    // One that had the place has left it in this turn, or before.
    noteLeft(rows.map { plan.nodes[$0].id })
    // Others have those that are given, wherever they are now.
    for row in rows where !progress[row].isSpent && !heldRows.contains(row) {
      forgetProgress(in: row..<plan.nodes[row].end)
    }
    select(object, ledBy: top, origin: .registration)
    return rows.first { self.object(at: $0) === object }
  }

  /// Meets the places of a range, parents first; those below a row that doesn't lead only when an object gets it.
  func meetAll(in range: Range<Int>, _ meet: (Int) -> Void) {
    guard !plan.isPlain else {
      for index in range { meet(index) }
      return
    }
    var next = range.lowerBound
    while next < range.upperBound {
      if plan.nodes[next].leads {
        meet(next)
        next += 1
      } else {
        next = plan.nodes[next].end
      }
    }
  }

  /// Notes that no row of a place fits a late object: it is not asked again.
  func noteRefused(_ object: any RestorableObject, at lead: Int) {
    refusedLate[ObjectIdentifier(object)] = (WeakObject(object: object), lead)
  }

  /// Whether no row of a place fitted a late object.
  func wasRefused(_ object: any RestorableObject, at lead: Int) -> Bool {
    guard let refused = refusedLate[ObjectIdentifier(object)] else { return false }
    return refused.object.object === object && refused.lead == lead
  }

  /// Tells every restored object that restoring is over.
  func finish() {
    while finishedCount < plan.nodes.count {
      finishedCount += 1
      finish(finishedCount - 1)
    }
    lookups.unseenDecoder = nil
  }

  /// Tells late objects that restoring is over; those whose turn is still to come are told then.
  func finishLate(_ range: Range<Int>) {
    for index in range where index < finishedCount { finish(index) }
    lookups.unseenDecoder = nil
  }

  private func finish(_ index: Int) {
    guard progress[index].isRestored, let object = object(at: index), object !== applicationObject else { return }
    guard classPlan(of: object).isTold, let object = object as? any FinishingObject else { return }
    noteBeginning(of: index)
    object.applicationFinishedRestoringState()
  }

  /// The reports of all nodes met, in the plan's order.
  func reports(in range: Range<Int>? = nil) -> [NodeReport] {
    (range ?? plan.nodes.indices).compactMap { index in
      guard !plan.nodes[index].isApplication, var result = progress[index].result else { return nil }
      // One that had its state while others were locked has kept it.
      if result == .notRestored(.touchedMeanwhile), object(at: index).map(request.edits.isReadable) == true {
        result = .restored(.existing)
      }
      return NodeReport(
        path: plan.paths[index], kind: plan.nodes[index].kind, result: result,
        byteCount: plan.nodes[index].byteCount, remarks: progress[index].remarks)
    }
  }

  // MARK: - The note

  /// Marks the node whose own code runs next, so that a crash in it is put down to it.
  ///
  /// Scopes have no code of the program's: a death there is no node's fault, but more likely a kill.
  ///
  /// - Parameters:
  ///   - record: The record that it is given; nil for what makes or installs its object.
  ///   - object: The object, where it is known before the row has it.
  func noteBeginning(
    of index: Int, _ record: RestorePlan.RecordPlace? = nil, object: (any RestorableObject)? = nil
  ) {
    if let object = object ?? self.object(at: index), RestorationScope.isScope(object) {
      if notedNode != nil { noteEnd() }
      return
    }
    let next = (record ?? progress[index].candidates?.first).map { plan.id(of: $0) }
    let node = (next ?? plan.nodes[index].id).rawValue
    guard notedNode != node else { return }
    notedNode = node
    request.note(node)
  }

  /// A death from here on is no node's fault.
  func noteEnd() {
    notedNode = nil
    request.note(nil)
  }

  /// Runs what notes nodes of its own, in the middle of another's code perhaps, which goes on afterwards.
  func interruptingNotes<Result>(_ body: () -> Result) -> Result {
    let before = notedNode
    let result = body()
    notedNode = before
    request.note(before)
    return result
  }

  /// Notes that the app-level state is being read.
  func noteApplication() {
    notedNode = nil
    request.note(application.flatMap { progress[$0].isRestored ? plan.nodes[$0].id.rawValue : nil })
  }

  // MARK: - Decoders

  /// A decoder of a record.
  func makeDecoder(
    of record: RestorePlan.RecordPlace, resolve: RestorationDecoder.Resolver? = nil
  ) -> RestorationDecoder {
    RestorationDecoder(plan.stored(record), context: plan.context, resolve: resolve)
  }

  /// Lends code of the program a decoder of the state that a row's object will be given.
  func withDecoder<Value>(for index: Int, _ body: (RestorationDecoder) -> Value) -> Value {
    let decoder = makeDecoder(of: progress[index].candidates?.first ?? RestorePlan.RecordPlace(row: index))
    defer { decoder.finish() }
    return body(decoder)
  }

  /// A decoder that no code of the program will see; to be kept for the next record in ``RestoreLookups/unseenDecoder`` afterwards.
  ///
  /// Taken out, as a value that is assigned may have the program give another object its state meanwhile. One that the
  /// program has seen is never used again, as it may have kept it.
  func takeUnseenDecoder(of record: RestorePlan.RecordPlace) -> RestorationDecoder {
    guard let decoder = lookups.unseenDecoder else { return makeDecoder(of: record) }
    lookups.unseenDecoder = nil
    decoder.begin(plan.stored(record))
    return decoder
  }
}

/// The app-level state as an object that asks for state; the delegate encodes and decodes it.
final class ApplicationObject: RestorableObject {}
