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
  var touched: [RestorationPath: Living] = [:]
  /// Says whether the node that failed before is tried again.
  var retries: (RestorationPath) -> Bool = { _ in false }
  /// Whether objects decode last first, for tests of code that must not depend on the order.
  var decodesInReverse = false
  /// Nodes left out for this run, by index.
  var leftOut: Set<Int> = []

  /// The live objects of the nodes while the turn lasts.
  private var objects: [(any RestorableObject)?]
  /// The same after the turn: whoever installed them owns them.
  private var living: [Living] = []
  /// The object at the top of the hierarchy.
  private(set) weak var root: (any RestorableController)?
  /// What the program has given up, by index.
  private lazy var forgotten = Array(repeating: false, count: plan.nodes.count)
  var outcomes: [NodeReport?]
  /// What came back from where it was kept.
  var reinstated: [Int: RestorationPlan.Kept] = [:]
  private var existing: [Bool]
  /// The children that existed before, of parents that have many.
  private var childTables: [Int: ChildTable<any RestorableController>] = [:]
  /// The views of owners, until their containers get children, which may bring views.
  private var viewTables: [Int: ChildTable<any RestorableView>] = [:]
  /// For parents, the place after the child that was last found to be installed.
  private var nextInstalled: [Int: Int] = [:]
  private var notedNode: UInt32?
  private var asksDelegate = true
  /// The nodes by path; made when the first reference is resolved.
  private(set) lazy var paths = Dictionary(plan.nodes.lazy.enumerated().map { ($1.path, $0) }) { first, _ in first }
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
    objects = Array(repeating: nil, count: plan.nodes.count)
    outcomes = Array(repeating: nil, count: plan.nodes.count)
    existing = Array(repeating: false, count: plan.nodes.count)
  }

  // MARK: - Objects

  /// A live object that somebody else owns.
  struct Living {
    weak var object: (any RestorableObject)?
  }

  /// The live object of a node; nil while there is none.
  func object(at index: Int) -> (any RestorableObject)? {
    objects[index] ?? (living.isEmpty ? nil : living[index].object)
  }

  /// Lets go of the objects after a turn, so that what nobody installed dies, and what leaves the hierarchy later.
  func letGo(_ range: Range<Int>? = nil) {
    if living.isEmpty { living = Array(repeating: Living(), count: objects.count) }
    for index in range ?? objects.indices {
      guard let object = objects[index] else { continue }
      living[index].object = object
      objects[index] = nil
    }
  }

  /// Whether the program has given up the node's state, or that of a node above it.
  func isForgotten(_ index: Int) -> Bool { forgotten[index] }

  /// Gives up a node's state and everything below it.
  func forget(_ index: Int) {
    for index in index..<plan.nodes[index].end { forgotten[index] = true }
  }

  /// The index of the node at a path; nil when there is none.
  func index(at path: RestorationPath) -> Int? { paths[path] }

  // MARK: - The turn

  /// Finds or makes every object, below the roots that are given.
  func makeObjects(root: any RestorableController) {
    for index in plan.nodes.indices where object(at: index) == nil && outcomes[index] == nil {
      if plan.nodes[index].parent == nil, plan.nodes[index].kind == .controller {
        meetRoot(index, root)
      } else {
        meet(index)
      }
    }
  }

  /// Makes the objects of one subtree whose top exists already.
  func makeObjects(at top: Int, object: any RestorableController, origin: NodeReport.Origin) {
    guard admit(object, at: top, origin: origin) else { return }
    for index in plan.nodes.indices[(top + 1)..<plan.nodes[top].end] { meet(index) }
  }

  /// Finds or makes the objects of one subtree that has turned up.
  func makeObjects(in range: Range<Int>) {
    for index in range { meet(index) }
  }

  /// Gives containers their children, parents first, in the range of nodes.
  func installChildren(in range: Range<Int>? = nil) {
    for index in range ?? plan.nodes.indices {
      guard let container = object(at: index) as? any RestorationContainer else { continue }
      let children = plan.children[index].filter {
        plan.nodes[$0].kind == .controller && !plan.nodes[$0].attributes.flags.contains(.byHand)
      }
      guard !children.isEmpty else { continue }
      noteBeginning(of: index)
      container.installRestoredChildren(
        children.map { child in
          let node = plan.nodes[child]
          let hasRole = node.attributes.flags.contains(.hasRole)
          return RestoredChild(
            path: node.path, role: hasRole ? withDecoder(for: child) { try? $0.role() } : nil,
            controller: object(at: child) as? any RestorableController, existed: existing[child])
        })
      findViews(of: index)
    }
    rejectUninstalled(in: range ?? plan.nodes.indices)
  }

  /// Tells every restored object that restoring is over.
  func finish(in range: Range<Int>? = nil) {
    for index in range ?? plan.nodes.indices where outcomes[index]?.isRestored == true {
      guard let object = object(at: index) else { continue }
      FinishedHook.call(on: object) { noteBeginning(of: index) }
    }
  }

  /// The reports of all nodes met, in the plan's order.
  func reports(in range: Range<Int>? = nil) -> [NodeReport] {
    (range ?? plan.nodes.indices).compactMap { outcomes[$0] }
  }

  // MARK: - Finding or making one object

  private func meetRoot(_ index: Int, _ root: any RestorableController) {
    self.root = root
    if let reason = obstacle(at: index) { return fail(index, reason) }
    if root.restorationIdentifier == plan.nodes[index].path.last {
      _ = admit(root, at: index, origin: .existing)
    } else {
      fail(index, .noObject)
    }
  }

  private func meet(_ index: Int) {
    let node = plan.nodes[index]
    if let reason = obstacle(at: index) { return fail(index, reason) }
    switch node.kind {
    case .shared:
      guard let object = node.path.last.flatMap({ registry.sharedObject($0) }) else {
        return fail(index, .noObject)
      }
      _ = admit(object, at: index, origin: .existing)
    case .view:
      guard let view = view(at: index) else { return }
      _ = admit(view, at: index, origin: .existing)
    case .controller: meetController(index)
    }
  }

  /// What stands against a node before anybody is asked for its object.
  private func obstacle(at index: Int) -> NotRestoredReason? {
    let node = plan.nodes[index]
    if let parent = node.parent, outcomes[parent]?.isRestored != true, node.kind != .view {
      return .parentNotRestored
    }
    if leftOut.contains(index) || (node.attributes.flags.contains(.leftOut) && !retries(node.path)) {
      return .leftOutAfterCrash
    }
    if let tag = node.attributes.classTag, let registered = registry.registeredClass(tag) {
      if let limit = registered.freshFor,
        let reason = Freshness.expiry(of: node.attributes.savedAt ?? plan.context.timeSaved, limit: limit, now: now)
      {
        return reason
      }
      if let model = node.attributes.model, registered.onlyIf?(model) == false { return .modelGone(model) }
    }
    return nil
  }

  private func meetController(_ index: Int) {
    let node = plan.nodes[index]
    let tag = node.attributes.classTag
    let start = clock.now
    var object: (any RestorableController)?
    var origin = NodeReport.Origin.restorationClass
    if let tag, let make = registry.registeredClass(tag)?.make {
      noteBeginning(of: index)
      object = withDecoder(for: index) { make(node.path, $0) }
      guard object != nil else { return fail(index, .refusedByClass(tag)) }
    }
    if object == nil, !node.attributes.flags.contains(.byHand) {
      origin = .delegate
      object = askDelegate(index)
      if object == nil {
        origin = .existing
        object = existingChild(at: index)
      }
      if object == nil {
        origin = .blueprint
        if let make = node.path.last.flatMap({ registry.blueprint($0) }) {
          noteBeginning(of: index)
          object = withDecoder(for: index) { make(node.path, $0) }
        }
      }
    }
    guard let object else {
      return fail(index, tag.map { registry.registeredClass($0) == nil ? .unknownClass($0) : .noObject } ?? .noObject)
    }
    if origin == .existing || existingChild(at: index) === object { existing[index] = true }
    guard admit(object, at: index, origin: origin) else { return }
    outcomes[index]?.duration = clock.now - start
  }

  /// Marks the node whose own code runs next, so that a crash in it is put down to it.
  func noteBeginning(of index: Int) {
    let node = plan.nodes[index].id.rawValue
    guard notedNode != node else { return }
    notedNode = node
    note(node)
  }

  /// The third rung of the ladder, left out once the delegate turns out to make no controllers at all.
  private func askDelegate(_ index: Int) -> (any RestorableController)? {
    guard asksDelegate, let delegate else { return nil }
    noteBeginning(of: index)
    return withDecoder(for: index) { coder in
      defer { asksDelegate = coder.unaskedDelegate != ObjectIdentifier(delegate) }
      return delegate.makeController(at: plan.nodes[index].path, coder: coder)
    }
  }

  private func withDecoder<Value>(for index: Int, _ body: (RestorationDecoder) -> Value) -> Value {
    let node = plan.nodes[index]
    let decoder = RestorationDecoder(
      record: node.record, path: node.path, context: plan.context, storedVersion: node.attributes.version,
      modelIdentifier: node.attributes.model)
    defer { decoder.finish() }
    return body(decoder)
  }

  /// Checks class and model of an object for a node, and accepts it.
  private func admit(_ object: any RestorableObject, at index: Int, origin: NodeReport.Origin) -> Bool {
    let node = plan.nodes[index]
    let controller = object as? any RestorableController
    var findings: [NodeReport.Finding] = []
    if let tag = node.attributes.classTag {
      guard registry.accepts(object, recorded: tag) else {
        fail(index, .classMismatch(recorded: tag, found: "\(type(of: object))"))
        return false
      }
      if registry.registeredClass(tag) == nil { findings.append(.unregisteredClass(tag)) }
    }
    if let recorded = node.attributes.model, let found = controller?.restorationModelIdentifier, recorded != found {
      fail(index, .modelMismatch(recorded: recorded, found: found))
      return false
    }
    if let identifier = controller?.restorationIdentifier, identifier != node.path.last {
      findings.append(.identifierDiffers(found: identifier.rawValue))
    }
    objects[index] = object
    outcomes[index] = NodeReport(
      path: node.path, kind: node.kind, result: .restored(origin), restorationClass: node.attributes.classTag,
      byteCount: node.byteCount, findings: findings)
    return true
  }

  private func existingChild(at index: Int) -> (any RestorableController)? {
    guard let parent = plan.nodes[index].parent, let container = object(at: parent) as? any RestorableController,
      let identifier = plan.nodes[index].path.last
    else { return nil }
    if childTables[parent] != nil { return childTables[parent]?.child(identifier) }
    noteBeginning(of: parent)
    guard plan.children[parent].count > 8 else {
      return container.restorationChildren.first { $0.restorationIdentifier == identifier }
    }
    childTables[parent] = ChildTable(childrenOf: container)
    return childTables[parent]?.child(identifier)
  }

  private func view(at index: Int) -> (any RestorableView)? {
    let node = plan.nodes[index]
    guard let parent = node.parent, let owner = object(at: parent) as? any RestorableController else {
      if let parent = node.parent, outcomes[parent]?.isRestored != true { fail(index, .parentNotRestored) }
      return nil
    }
    if viewTables[parent] == nil {
      viewTables[parent] = ChildTable(owner.restorationViews) { $0.restorationIdentifier }
    }
    let view = node.path.last.flatMap { viewTables[parent]?.child($0) }
    if view == nil { fail(index, .noObject) }
    return view
  }

  /// Views that a container made only when its children came.
  private func findViews(of index: Int) {
    viewTables[index] = nil
    for child in plan.children[index] where plan.nodes[child].kind == .view && object(at: child) == nil {
      outcomes[child] = nil
      meet(child)
    }
  }

  func clear(_ index: Int) {
    objects[index] = nil
    if !living.isEmpty { living[index] = Living() }
    outcomes[index] = nil
    existing[index] = false
  }

  /// Notes that the app-level state is being read.
  func noteApplication() {
    notedNode = nil
    note(plan.applicationNode?.rawValue ?? .max)
  }

  /// Whether the app-level state was left out of this run, because restoring died there.
  func leavesOutApplication(_ culprit: UInt32?) -> Bool {
    guard let node = plan.applicationNode else { return false }
    return (culprit == node.rawValue || plan.isApplicationLeftOut) && !retries([])
  }

  private func fail(_ index: Int, _ reason: NotRestoredReason) {
    let node = plan.nodes[index]
    objects[index] = nil
    outcomes[index] = NodeReport(
      path: node.path, kind: node.kind, result: .notRestored(reason), restorationClass: node.attributes.classTag,
      byteCount: node.byteCount)
    log.log(.warning, "\(node.path) was not restored: \(reason)")
  }

  // MARK: - After all exist

  /// A made object that no container took dies after restoring: its state is not given away.
  private func rejectUninstalled(in range: Range<Int>) {
    childTables = [:]
    viewTables = [:]
    var positions: [Int: [ObjectIdentifier: Int]] = [:]
    var children: [Int: [any RestorableController]] = [:]
    for index in range where outcomes[index]?.isRestored == true && !existing[index] {
      let node = plan.nodes[index]
      guard node.kind == .controller, !node.attributes.flags.contains(.byHand), let parent = node.parent,
        let made = object(at: index), let owner = object(at: parent) as? any RestorableController
      else {
        if let parent = node.parent, outcomes[parent]?.isRestored != true, node.kind == .controller {
          fail(index, .parentNotRestored)
        }
        continue
      }
      let siblings = children[parent] ?? owner.restorationChildren
      children[parent] = siblings
      // Mostly the one after the last that was looked for, also when they turn up one by one.
      if let next = nextInstalled[parent], next < siblings.count, siblings[next] === made {
        nextInstalled[parent] = next + 1
        continue
      }
      if positions[parent] == nil {
        positions[parent] = Dictionary(
          siblings.enumerated().map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: { first, _ in first })
      }
      if let position = positions[parent]?[ObjectIdentifier(made)] {
        nextInstalled[parent] = position + 1
      } else {
        fail(index, .notInstalled)
      }
    }
  }
}
