internal import DataProtection
internal import FoundationShim
internal import RestorationArchive

/// The live hierarchy as it was at the last capture, and the walk that brings it up to date.
///
/// Keeps parent links and identifiers instead of paths, so that one change costs one object, however many there are.
@MainActor final class LiveTree {
  let registry: RestorationRegistry
  let changes: ChangeList

  var oneTimeFindings = OneTimeFindings()
  private var classes: [ObjectIdentifier: LiveClass] = [:]
  /// The capture in progress, or the last one without its batch.
  var walk: CaptureWalk
  /// The nodes that restoring has given to objects in this turn.
  var given = GivenState()
  /// How much the launch asks for.
  var extent = Lifecycle.LaunchOptions.Extent.restore
  /// Told whose values are read next, by their record or row, in the capture that ends a restoring turn.
  var noteReading: ((NodeID?) -> Void)?
  /// Whether a capture is in progress: it runs code of the program.
  var isCapturing = false
  /// How often everything was forgotten, which gives objects other keys.
  private(set) var revision = 0
  /// The protection class of the app-level state; nil for that of the archive.
  var applicationProtection: ProtectionClass?
  /// Whether the app-level state has its place.
  private(set) var hasApplication = false
  /// The revision of the registry that the worker knows.
  private var sentRevision: Int?

  /// What scopes are told of the stored state.
  var access: CoordinatorAccess?

  // The hierarchy.

  /// The live objects by key; the first key is the app-level state's, which is no object.
  var nodes: [LiveNode?] = [nil]
  var byObject: [ObjectIdentifier: LiveNode] = [:]
  var roots: [LiveNode] = []
  var shared: [LiveNode] = []
  /// The names of all shared objects that were met: what one had outlives it, and is newer than what was restored.
  private(set) var metShared: Set<RestorationIdentifier> = []

  // What to ask.

  /// Objects to ask in this capture or the next.
  var pending: [LiveNode] = []
  /// Objects that the last capture met and whose values it left to the next one.
  var unread: [LiveNode] = []
  /// Objects whose changes can't be noticed without asking them.
  var polled: [LiveNode] = []
  /// Called when the first of them comes.
  var hasSomeoneToAsk: () -> Void = {}
  /// Objects that came by themselves and have left since: what was stored for them has gone with them.
  var leftByThemselves: [LeftObject] = []
  /// Objects that were met before, and were given state since.
  var givenLate: [LiveNode] = []
  /// Objects that came by themselves and have said since that they changed: only the table knows whether that was an edit.
  var touched: [LiveNode] = []
  /// Objects for which the last save had no place: each capture asks for one.
  var unplaced: Set<CaptureBatch.Key> = []
  /// Objects whose state refers to others.
  var referrers: [CaptureBatch.Key: LiveNode] = [:]
  /// The numbers of objects that references lead to, which they keep while they live.
  var targets: [ObjectIdentifier: (object: WeakObject, number: Int)] = [:]
  var targetCount = 0

  init(registry: RestorationRegistry, changes: ChangeList, context: RestorationArchive.Context) {
    self.registry = registry
    self.changes = changes
    walk = CaptureWalk(context: context, number: 0, firstNewKey: 0)
    Self.trees = Self.trees.filter { $0.tree != nil } + [WeakTree(tree: self)]
  }

  /// An object that came by itself and has left, where it was.
  struct LeftObject {
    let isTop: Bool
    weak var parent: (any RestorableController)?
    let path: RestorationPath
    let identity: Identity
  }

  private struct WeakTree { weak let tree: LiveTree? }

  /// All trees, so that an object can say that it changed without knowing its coordinators.
  private static var trees: [WeakTree] = []

  /// The trees of other windows.
  private var othersOfProgram: [LiveTree] {
    guard Self.trees.count > 1, let window = access?.coordinator?.window else { return [] }
    return Self.trees.compactMap(\.tree).filter { other in
      guard other !== self, let coordinator = other.access?.coordinator else { return false }
      return coordinator.standing != .discarded && coordinator.window != window
    }
  }

  /// Whether an object is in the hierarchy of another window as well.
  func isElsewhere(_ object: any RestorableObject) -> Bool {
    walk.others.contains { other in other.node(of: object).map { $0.kind != .shared } ?? false }
  }

  /// Notes that an object has changed, wherever it is preserved.
  static func invalidate(_ object: any RestorableObject) {
    for entry in trees { entry.tree?.node(of: object)?.flag.invalidate() }
  }

  /// Which objects a capture asks.
  enum Scope {
    /// Those known to have changed.
    case noticed
    /// Those, and all whose changes nobody notices.
    case all
  }

  /// Brings the tree up to date and hands over the changes.
  ///
  /// - Parameters:
  ///   - controllers: The roots of the hierarchy.
  ///   - scope: Which objects are asked.
  ///   - context: What coder methods may ask for.
  ///   - application: The app-level state; nil when it was not asked for.
  ///   - isMeeting: Whether objects that are new are met as they are at the end of this turn, and not by the user's doing.
  func capture(
    roots controllers: [any RestorableController], scope: Scope, context: RestorationArchive.Context,
    application: ApplicationState? = nil, isMeeting: Bool = false
  ) -> CaptureBatch {
    precondition(!isCapturing, "A capture begins while another one walks through the hierarchy.")
    isCapturing = true
    defer { isCapturing = false }
    let givenCount = given.count
    walk = CaptureWalk(context: context, number: walk.number + 1, firstNewKey: nodes.count)
    walk.batch.isMeeting = isMeeting
    walk.others = othersOfProgram
    defer { walk.others = [] }
    if isMeeting { makeRoom(for: givenCount) }
    sendClasses()
    collect(scope)
    adopt(controllers)
    adoptShared()
    if scope == .all { readUnnoticed() }
    // An object that has left may still be referred to, or be registered as shared: it is preserved so from now on. Each pass
    // may find other children, so that the number of passes is bounded.
    for _ in 0..<Self.passesAtMost {
      readPending()
      removeOrphans()
      resolveReferences()
      removeOrphans()
      adoptShared()
      if !walk.hasMoved { break }
    }
    removeLeftBelowMoved()
    walk.removed = []
    recordReferences()
    orderPlacements()
    add(application)
    // Those below an object that came anew were found once more below that.
    walk.batch.findings += walk.duplicates.filter { $0.parent?.isRemoved != true }.map(\.finding)
    walk.duplicates = []
    walk.batch.leftGifts += given.takeUnmet(givenCount)
    walk.batch.removedRows = given.takeForgotten()
    for subject in walk.openClasses { subject.close() }
    // Handed over whole: a copy here would keep the values, and make the worker copy the lists.
    defer { walk.batch = CaptureBatch() }
    return walk.batch
  }

  private static var passesAtMost: Int { 4 }

  /// The findings of all captures that a save says once.
  func takeOneTimeFindings() -> [PreservationOutcome.Finding] {
    oneTimeFindings.take(isPreserved: { classes[$0] != nil }, path: { node(of: $0)?.currentPath })
  }

  /// Notes that objects which only references name have died with the turn that restored them: nobody has kept them, and their
  /// state is carried over.
  func noteUnheld() {
    for case let node? in nodes where node.isByHand && node.object == nil { node.leavesState = true }
  }

  /// Adds the app-level state to the capture, and its place before that.
  private func add(_ application: ApplicationState?) {
    var captured: [RestorationArchive.Entry]?
    if let application {
      captured = application.entries + application.references.map { entry(for: $0, from: []) }
      for reference in application.references { noteTargets(of: reference, from: CaptureBatch.application) }
    }
    let given = given.takeApplication()
    if !hasApplication, given != nil || captured?.isEmpty == false {
      hasApplication = true
      walk.batch.placements.append(
        .init(
          key: CaptureBatch.application, section: .application, identifier: ReservedNode.application,
          given: given?.given, isEdit: given?.isEdit ?? false))
    }
    if let captured, hasApplication { append(application: captured) }
  }

  /// Adds the values of the app-level state to the batch in progress.
  func append(application entries: [RestorationArchive.Entry]) {
    walk.batch.records.append(
      .init(
        key: CaptureBatch.application, kind: walk.batch.kinds.count, priority: .required, flags: .reserved,
        entries: entries, protection: applicationProtection))
    walk.batch.kinds.append(.init(version: 1))
  }

  private func sendClasses() {
    guard sentRevision != registry.revision else { return }
    sentRevision = registry.revision
    walk.batch.classes = registry.classTable
  }

  /// Forgets everything, as if no object had ever been seen.
  func reset() {
    revision += 1
    nodes = [nil]
    byObject = [:]
    roots = []
    (shared, metShared) = ([], [])
    (pending, unread, polled, givenLate, touched, unplaced) = ([], [], [], [], [], [])
    leftByThemselves = []
    referrers = [:]
    given.reset()
    hasApplication = false
    sentRevision = nil
    _ = changes.drain()
  }

  /// Makes room for objects that are about to be met, as there may be very many.
  private func makeRoom(for count: Int) {
    nodes.reserveCapacity(nodes.count + count)
    byObject.reserveCapacity(byObject.count + count)
    polled.reserveCapacity(polled.count + count)
    walk.batch.placements.reserveCapacity(count)
  }

  /// The tracked node with a key; nil when it has left, or for the app-level state.
  func node(_ key: CaptureBatch.Key) -> LiveNode? { key < nodes.count ? nodes[key] : nil }

  /// The tracked node of an object; nil when it is not preserved.
  func node(of object: any RestorableObject) -> LiveNode? {
    guard let node = byObject[ObjectIdentifier(object)], node.object === object else { return nil }
    return node
  }

  /// Whether an object that was met may still be given state: it came by itself, and nothing tells of an edit.
  ///
  /// A ``MergingObject`` keeps its own state in any case, and joins the stored one with it.
  func mayBeGiven(_ node: LiveNode) -> Bool {
    node.isNewcomer && !node.subject.joins && node.subject.awareness != .nothing
      && (node.lastRead == 0 || !node.flag.isRaised)
  }

  // MARK: - What to read

  private func collect(_ scope: Scope) {
    for key in changes.drain() {
      guard let node = node(key) else { continue }
      walk.batch.announced.insert(key)
      if node.isNewcomer, node.lastRead > 0 { touched.append(node) }
      node.isFlagUp = true
      mark(node)
    }
    for node in unread { mark(node) }
    unread = []
    for node in givenLate where !node.isRemoved {
      let given = given.take(node)
      node.givenNode = given?.node ?? node.givenNode
      put(node, given: given)
      node.cameByItself = false
      mark(node)
    }
    givenLate = []
    for node in unplaced.compactMap(node) {
      put(node)
      mark(node)
    }
    unplaced = []
    guard scope == .all else { return }
    for root in roots where root.isPolled { mark(root) }
    walk.batch.records.reserveCapacity(polled.count + pending.count)
  }

  func mark(_ node: LiveNode) {
    guard !node.isDirty else { return }
    node.isDirty = true
    pending.append(node)
  }

  /// Has an object asked at every capture of everything, as its changes can't be noticed.
  func poll(_ node: LiveNode) {
    guard !node.isPolled else { return }
    node.isPolled = true
    polled.append(node)
    if polled.count == 1 { hasSomeoneToAsk() }
  }

  private func adopt(_ controllers: [any RestorableController]) {
    if roots.count == controllers.count, zip(roots, controllers).allSatisfy({ $0.object === $1 && !$0.isDirty }) {
      return
    }
    roots = link(controllers.map { ($0, $0.restoration.identifier) }, as: .controller, to: nil, former: roots)
  }

  /// Meets the shared objects that are not in the hierarchy.
  private func adoptShared() {
    // One that has died has to be seen to leave before its place is another's.
    for node in shared where node.object == nil { walk.orphans.append(node) }
    // An object in the hierarchy is preserved there.
    shared.removeAll { $0.isRemoved || $0.object == nil || $0.kind != .shared }
    for (identifier, object) in registry.livingSharedObjects {
      if let node = node(of: object) {
        guard node.kind == .shared else { continue }
        place(node, identifier: identifier, parent: nil)
      } else {
        let node = track(object, identifier, .shared)
        insert(node, parent: nil)
        shared.append(node)
      }
      metShared.insert(identifier)
    }
  }

  // MARK: - Objects

  /// A node for an object that is not tracked yet, with the next key.
  func track(
    _ object: any RestorableObject, _ identifier: RestorationIdentifier, _ kind: NodeReport.Kind, byHand: Bool = false
  ) -> LiveNode {
    let key = nodes.count
    let type = ObjectIdentifier(type(of: object))
    let subject = subject(of: type, object)
    let node = LiveNode(key: key, object: object, subject: subject, identifier: identifier) { [changes] in
      changes.mark(key)
    }
    (node.kind, node.isByHand) = (kind, byHand)
    if subject.isScope, let access { (object as? RestorationScope)?.join(access) }
    if !walk.left.isEmpty, let former = walk.left.removeValue(forKey: node.objectIdentity), former.object === object {
      (node.former, node.identity, node.lastRead) = (former.key, former.identity, former.lastRead)
    }
    return node
  }

  private func subject(of type: ObjectIdentifier, _ object: any RestorableObject) -> LiveClass {
    if let known = classes[type] { return known }
    let subject = LiveClass(object, ClassPlan.plan(for: Swift.type(of: object)))
    classes[type] = subject
    oneTimeFindings.noteFirst(object)
    return subject
  }

  /// Has the values of a class's instances copied into the current batch.
  func open(_ subject: LiveClass) {
    subject.open()
    walk.openClasses.append(subject)
  }
}
