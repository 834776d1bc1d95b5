internal import FoundationEssentials
internal import RestorationArchive

/// The live hierarchy as it was at the last capture, and the walk that brings it up to date.
///
/// Keeps parent links and identifiers instead of paths, so that one change costs one object, however many there are.
@MainActor final class LiveTree {
  let registry: RestorationRegistry
  let changes: ChangeList
  let now: @Sendable () -> Date
  var context: RestorationContext

  var oneTimeFindings = OneTimeFindings()
  private var classes: [ObjectIdentifier: LiveClass] = [:]
  /// The classes whose instances the current capture has met.
  private var openClasses: [LiveClass] = []
  /// The number of the current or last capture.
  private(set) var captureNumber = 0
  /// The objects with this key or a higher one have come with the current capture.
  private(set) var firstNewKey = 0
  /// The live objects by key; the first key is the app-level state's, which is no object.
  var nodes: [LiveNode?] = [nil]
  var byObject: [ObjectIdentifier: LiveNode] = [:]
  var roots: [LiveNode] = []
  var shared: [LiveNode] = []
  /// Live objects that were given something in this turn, until its capture meets them.
  private var restored: [RestoredObject] = []
  /// Where they stand there; one that has died may have left its address to another.
  private var restoredIndex: [ObjectIdentifier: Int] = [:]
  /// Objects that were refused their state and that no capture has met since.
  private var refused: [ObjectIdentifier: WeakObject] = [:]
  /// Those, and the objects below them, as the capture has met them.
  private var refusedKeys: Set<CaptureBatch.Key> = []
  /// What the app-level state was given in this turn, nil for nothing; outside of such a turn there is nothing.
  private var metApplication: CaptureBatch.Given?
  /// What owns state while the state is restored once more.
  var formerOwners = Edits()
  /// Whether the app-level state has its place.
  private var hasApplication = false
  var batch = CaptureBatch()
  var pending: [LiveNode] = []
  /// Objects that the last capture met and whose values it left to the next one.
  var unread: [LiveNode] = []
  var orphans: [LiveNode] = []
  /// Parents that children have left, whose lists still have them.
  var parentsThatLostChildren: [CaptureBatch.Key: LiveNode] = [:]
  var unresolved: [(node: LiveNode, record: Int, references: [CapturedReference])] = []
  var hasMoved = false
  /// Objects whose changes can't be noticed without asking them.
  private(set) var polled: [LiveNode] = []
  /// Whether some of them have left the tree.
  var hasLostPolled = false
  /// Objects whose state refers to others.
  var referrers: [CaptureBatch.Key: LiveNode] = [:]
  /// Objects whose parents were asked again in this capture.
  var relinked: Set<CaptureBatch.Key> = []
  /// The revision of the registry that the worker knows.
  private var sentRevision: Int?

  /// An object that restoring gave something.
  private struct RestoredObject {
    weak var object: (any RestorableObject)?
    let given: CaptureBatch.Given
    /// Whether the state outlives it: it is a shared object, or one that only references name.
    let outlives: Bool
    /// Whether the capture has met it.
    var isMet = false
    /// Whether a sibling has its identifier.
    var isDuplicate = false
  }

  init(
    registry: RestorationRegistry, changes: ChangeList, context: RestorationContext, now: @escaping @Sendable () -> Date
  ) {
    self.registry = registry
    self.changes = changes
    self.context = context
    self.now = now
    Self.trees = Self.trees.filter { $0.tree != nil } + [WeakTree(tree: self)]
  }

  private struct WeakTree { weak let tree: LiveTree? }

  /// All trees, so that an object can say that it changed without knowing its coordinators.
  private static var trees: [WeakTree] = []

  /// Notes that an object has changed, wherever it is preserved.
  static func invalidate(_ object: any RestorableObject) {
    for entry in trees { entry.tree?.node(of: object)?.flag.fire() }
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
  ///   - application: The app-level state; nil when it was not asked for.
  ///   - isMeeting: Whether objects that are new are met as they are at the end of this turn, and not by the user's doing.
  func capture(
    roots controllers: [any RestorableController], scope: Scope, application: ApplicationState? = nil,
    isMeeting: Bool = false
  ) -> CaptureBatch {
    batch = CaptureBatch()
    batch.isMeeting = isMeeting
    captureNumber += 1
    firstNewKey = nodes.count
    hasMoved = false
    relinked = []
    sendTags()
    collect(scope)
    adopt(controllers)
    _ = adoptShared()
    if scope == .all { readUnnoticed() }
    readPending()
    removeOrphans()
    resolveReferences()
    removeOrphans()
    if adoptShared() {
      // An object that has left the hierarchy and is registered as shared is preserved so from now on.
      readPending()
      resolveReferences()
      removeOrphans()
    }
    add(application)
    removeUnmet()
    // Handed over whole: a copy here would keep the values, and make the worker copy the lists.
    for subject in openClasses { subject.close() }
    openClasses.removeAll(keepingCapacity: true)
    defer { batch = CaptureBatch() }
    return batch
  }

  /// The findings of all captures that a save says once.
  func takeOneTimeFindings() -> [PreservationFinding] { oneTimeFindings.take { classes[$0] != nil } }

  /// Remembers, until the capture at the end of this turn, what an object was given.
  func noteRestored(_ object: any RestorableObject, _ given: CaptureBatch.Given, outlives: Bool = false) {
    restoredIndex[ObjectIdentifier(object)] = restored.count
    restored.append(RestoredObject(object: object, given: given, outlives: outlives))
  }

  /// Remembers the same of the app-level state.
  func noteApplication(_ given: CaptureBatch.Given) { metApplication = given }

  /// Makes room for the objects that a restoration is about to name.
  func reserveRestored(_ count: Int) {
    restored.reserveCapacity(restored.count + count)
    restoredIndex.reserveCapacity(restored.count + count)
  }

  /// What an object was given in this turn.
  func takeRestored(_ object: any RestorableObject, _ identity: ObjectIdentifier) -> CaptureBatch.Given? {
    guard !restored.isEmpty, let index = restoredIndex[identity], restored[index].object === object else { return nil }
    restored[index].isMet = true
    return restored[index].given
  }

  /// Remembers, until a capture meets it, that an object was refused its state.
  func noteRefused(_ object: any RestorableObject) { refused[ObjectIdentifier(object)] = .init(object: object) }

  /// Whether an object that the capture meets was refused its state in this turn, or lies below one that was.
  func takeRefused(_ node: LiveNode) -> Bool {
    guard !refused.isEmpty || !refusedKeys.isEmpty else { return false }
    let isRefused = refused.removeValue(forKey: node.objectIdentity).map { $0.object === node.object } ?? false
    guard isRefused || refusedKeys.contains(node.parentKey) else { return false }
    refusedKeys.insert(node.key)
    return true
  }

  /// Notes that objects which only references name have died with the turn that restored them: nobody has kept them, and their
  /// state is carried over.
  func noteUnheld() {
    for case let node? in nodes where node.isByHand && node.object == nil { node.isUnheld = true }
  }

  /// Notes that a sibling has an object's identifier.
  func noteDuplicate(_ object: any RestorableObject) {
    if let index = restoredIndex[ObjectIdentifier(object)] { restored[index].isDuplicate = true }
  }

  /// Restored objects that the capture did not meet have left the hierarchy in the same turn, and their state with them.
  private func removeUnmet() {
    refusedKeys = []
    refused = refused.filter { $0.value.object != nil }
    guard !restored.isEmpty else { return }
    for one in restored where !one.isMet && !one.outlives && !one.isDuplicate {
      if case .owner(let node) = one.given { batch.removedNodes.append(node) }
    }
    (restored, restoredIndex) = ([], [:])
  }

  /// Adds the app-level state to the capture, and its place before that.
  private func add(_ application: ApplicationState?) {
    var captured: [RestorationArchive.Entry]?
    if let application { captured = application.entries + entries(forApplication: application.references) }
    let given = metApplication
    metApplication = nil
    if !hasApplication, given != nil || captured?.isEmpty == false {
      hasApplication = true
      batch.placements.append(
        .init(
          key: CaptureBatch.application, section: .application, identifier: ReservedNode.application,
          given: given, wasOwner: formerOwners.hasApplication))
    }
    guard let captured, hasApplication else { return }
    batch.records.append(
      .init(
        key: CaptureBatch.application, kind: batch.kinds.count, priority: .required, flags: .reserved,
        entries: captured))
    batch.kinds.append(.init(version: 1))
  }

  private func sendTags() {
    guard sentRevision != registry.revision else { return }
    sentRevision = registry.revision
    (batch.tags, batch.ageLimit) = (registry.tagTable, registry.shortestAgeLimit)
  }

  /// Forgets everything, as if no object had ever been seen.
  func reset() {
    nodes = [nil]
    byObject = [:]
    roots = []
    shared = []
    (polled, unread) = ([], [])
    referrers = [:]
    (restored, restoredIndex) = ([], [:])
    refusedKeys = []
    metApplication = nil
    hasApplication = false
    sentRevision = nil
    _ = changes.drain()
  }

  /// The tracked node with a key; nil when it has left, or for the app-level state.
  func node(_ key: CaptureBatch.Key) -> LiveNode? { key < nodes.count ? nodes[key] : nil }

  /// The tracked node of an object; nil when it is not preserved.
  func node(of object: any RestorableObject) -> LiveNode? {
    guard let node = byObject[ObjectIdentifier(object)], node.object === object else { return nil }
    return node
  }

  // MARK: - What to read

  private func collect(_ scope: Scope) {
    for key in changes.drain() {
      guard let node = node(key) else { continue }
      batch.announced.insert(key)
      node.isFlagUp = true
      mark(node)
    }
    for node in unread { mark(node) }
    unread = []
    guard scope == .all else { return }
    if hasLostPolled { polled.removeAll { $0.isRemoved } }
    hasLostPolled = false
    for root in roots where root.isPolled { mark(root) }
    batch.records.reserveCapacity(polled.count + pending.count)
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
  }

  private func adopt(_ controllers: [any RestorableController]) {
    if roots.count == controllers.count, zip(roots, controllers).allSatisfy({ $0.object === $1 && !$0.isDirty }) {
      return
    }
    roots = link(controllers.map { ($0, $0.restorationIdentifier) }, as: .controller, to: nil, former: roots)
  }

  /// Meets the shared objects that are not in the hierarchy; returns whether there are new ones among them.
  private func adoptShared() -> Bool {
    var isNew = false
    // One that has died has to be seen to leave before its place is another's.
    for node in shared where node.object == nil { orphans.append(node) }
    // An object in the hierarchy is preserved there.
    shared.removeAll { $0.isRemoved || $0.object == nil || $0.kind != .shared }
    for (identifier, object) in registry.livingSharedObjects {
      if let node = node(of: object) {
        if node.kind == .shared { place(node, identifier: identifier, parent: nil) }
      } else {
        let node = track(object, identifier, .shared)
        insert(node, parent: nil)
        shared.append(node)
        isNew = true
      }
    }
    return isNew
  }

  // MARK: - Objects

  /// A node for an object that is not tracked yet, with the next key.
  func track(
    _ object: any RestorableObject, _ identifier: RestorationIdentifier, _ kind: NodeReport.Kind, byHand: Bool = false
  ) -> LiveNode {
    let key = nodes.count
    let type = ObjectIdentifier(type(of: object))
    let subject = classes[type] ?? LiveClass(object, ClassPlan.plan(for: Swift.type(of: object)))
    classes[type] = subject
    let node = LiveNode(key: key, object: object, subject: subject, identifier: identifier) { [changes] in
      changes.mark(key)
    }
    (node.kind, node.isByHand) = (kind, byHand)
    return node
  }

  /// Has the values of a class's instances copied into the current batch.
  func open(_ subject: LiveClass) {
    subject.open()
    openClasses.append(subject)
  }
}
