internal import FoundationEssentials
internal import RestorationArchive

/// The live hierarchy as it was at the last capture, and the walk that brings it up to date.
///
/// Keeps parent links and identifiers instead of paths, so that one change costs one object, however many there are.
@MainActor final class CaptureTree {
  let registry: RestorationRegistry
  let changes: ChangeList
  let now: @Sendable () -> Date
  var context: RestorationContext

  private var bindings = ObjectBindings()
  private var awarenessOfClass: [ObjectIdentifier: TrackedNode.Awareness] = [:]
  private(set) var nodes: [TrackedNode?] = []
  private(set) var byObject: [ObjectIdentifier: TrackedNode] = [:]
  private(set) var roots: [TrackedNode] = []
  private var shared: [TrackedNode] = []
  /// Live objects that restoring gave their state to, until the first capture meets them.
  private var claims: [ObjectIdentifier: Claim] = [:]
  private var batch = CaptureBatch()
  private var pending: [TrackedNode] = []
  private var orphans: [TrackedNode] = []
  private var unresolved: [(node: TrackedNode, record: Int, references: [CapturedReference])] = []
  private var hasMoved = false
  private var sightings = CodingTables()
  /// Objects whose changes can't be noticed without asking them.
  private var unnoticed: [TrackedNode] = []
  /// Objects whose state refers to others.
  private var referrers: [CaptureBatch.Key: TrackedNode] = [:]
  /// Objects whose parents were asked again in this capture.
  private var relinked: Set<CaptureBatch.Key> = []

  /// A restored object and the node it came from.
  struct Claim {
    weak var object: (any RestorableObject)?
    let node: NodeID
    /// Whether the object could not read its state, which is kept until it has newer state.
    var keepsStored = false
    /// What the object had when its stored state was kept.
    var sighted: [UInt8] = []
  }

  init(
    registry: RestorationRegistry, changes: ChangeList, context: RestorationContext, now: @escaping @Sendable () -> Date
  ) {
    self.registry = registry
    self.changes = changes
    self.context = context
    self.now = now
  }

  /// Which objects a capture asks.
  enum Scope {
    /// What is known to have changed.
    case noticed
    /// That, and what can't be noticed without asking.
    case all
  }

  /// Brings the tree up to date and hands over what has changed.
  func capture(
    roots controllers: [any RestorableController], scope: Scope
  ) -> CaptureBatch {
    batch = CaptureBatch()
    hasMoved = false
    relinked = []
    collect(scope)
    adopt(controllers)
    adoptShared()
    while let node = pending.popLast() { read(node) }
    removeOrphans()
    dropClaims()
    resolveReferences()
    removeOrphans()
    // Handed over whole: a copy kept here would keep the values, and make the worker copy them.
    defer { batch = CaptureBatch() }
    return batch
  }

  /// Remembers which nodes restored objects came from.
  func claim(_ restored: [Claim]) {
    claims.reserveCapacity(restored.count)
    for claim in restored {
      guard let object = claim.object else { continue }
      claims[ObjectIdentifier(object)] = claim
      guard claim.keepsStored, let captured = ObjectBinding(object).capture(context: context, observing: false)
      else { continue }
      claims[ObjectIdentifier(object)]?.sighted = fingerprint(captured)
    }
  }

  /// What an object has, in bytes to compare.
  private func fingerprint(_ captured: CapturedState) -> [UInt8] {
    (try? RecordEncoder().encode(captured.values.entries, tables: &sightings)) ?? []
  }

  /// Whether a restored object that no capture has met yet came from a node.
  func isClaimed(_ node: NodeID) -> Bool {
    claims.values.contains { $0.node == node && $0.object != nil }
  }

  /// Forgets everything, as if no object had ever been seen.
  func reset() {
    bindings = ObjectBindings()
    nodes = []
    byObject = [:]
    roots = []
    shared = []
    unnoticed = []
    referrers = [:]
    claims = [:]
    _ = changes.drain()
  }

  /// The tracked node of an object; nil when it is not preserved.
  func node(of object: any RestorableObject) -> TrackedNode? {
    guard let node = byObject[ObjectIdentifier(object)], node.object === object else { return nil }
    return node
  }

  // MARK: - What to read

  private func collect(_ scope: Scope) {
    for key in changes.drain() where key < nodes.count {
      if let node = nodes[key] { mark(node) }
    }
    guard scope == .all else { return }
    unnoticed.removeAll { $0.isRemoved }
    for node in unnoticed { mark(node) }
  }

  private func mark(_ node: TrackedNode) {
    guard !node.isDirty else { return }
    node.isDirty = true
    pending.append(node)
  }

  /// Has an object asked at every capture of everything, as its changes can't be noticed.
  private func distrust(_ node: TrackedNode) {
    guard !node.isUnnoticed else { return }
    node.isUnnoticed = true
    unnoticed.append(node)
  }

  private func adopt(_ controllers: [any RestorableController]) {
    if roots.count == controllers.count, zip(roots, controllers).allSatisfy({ $0.controller === $1 && !$0.isDirty }) {
      return
    }
    roots = link(controllers.map { ($0, $0.restorationIdentifier) }, to: nil, former: roots)
  }

  private func adoptShared() {
    shared.removeAll { $0.isRemoved }
    let living = registry.livingSharedObjects
    guard living.count != shared.count else { return }
    for (identifier, object) in living where node(of: object) == nil {
      let node = TrackedNode(
        key: nodes.count, object: object, binding: bind(object), identifier: identifier, kind: .shared)
      insert(node, parent: nil, section: .shared)
      shared.append(node)
    }
  }

  // MARK: - Reading one object

  private func read(_ node: TrackedNode) {
    guard !node.isRemoved else { return }
    node.isDirty = false
    guard let captured = node.binding.capture(context: context, observing: true) else {
      orphans.append(node)
      return
    }
    if node.kind != .shared, captured.identifier != node.identifier, !node.isShadowed, relink(node) { return }
    if node.kind == .controller {
      readChildren(of: node, captured)
      giveRoles(captured.roles, toChildrenOf: node)
    }
    if !node.isShadowed { record(captured, of: node) }
  }

  /// The identifier has changed: the parent is read first, as it knows what that means for the siblings.
  private func relink(_ node: TrackedNode) -> Bool {
    guard !node.isByHand, relinked.insert(node.key).inserted else { return false }
    node.isDirty = true
    pending.append(node)
    if let parent = node.parent {
      if parent.isDirty { pending.removeAll { $0 === parent } }
      parent.isDirty = true
      pending.append(parent)
    } else {
      let controllers = roots.compactMap { root in root.controller.map { ($0, $0.restorationIdentifier) } }
      roots = link(controllers, to: nil, former: roots)
    }
    return true
  }

  private func readChildren(of node: TrackedNode, _ captured: CapturedState) {
    if captured.children.isEmpty, captured.views.isEmpty, node.children.isEmpty { return }
    let former = node.children
    if captured.views.isEmpty, stand(former, captured.children, below: node) { return }
    var live = link(captured.children.map { ($0, $0.restorationIdentifier) }, to: node, former: former)
    // An excluded child is not observed, so its parent has to be asked again.
    if live.count != captured.children.count { distrust(node) }
    live += linkViews(captured.views, to: node, taken: live)
    let isSame = live.count == former.count && zip(live, former).allSatisfy { $0 === $1 }
    guard !isSame else { return }
    node.children = live
    batch.orders.append(.init(parent: node.key, children: live.map(\.key)))
    let staying = Set(live.map(\.key))
    orphans += former.filter { !staying.contains($0.key) }
  }

  /// Whether the children are those of the last capture, in their places and under their identifiers.
  private func stand(
    _ former: [TrackedNode], _ children: [any RestorableController], below parent: TrackedNode
  ) -> Bool {
    guard former.count == children.count else { return false }
    for index in former.indices {
      let node = former[index]
      // The parent's reference keeps a controller alive, so the same address is the same object while ours is.
      guard node.objectIdentity == ObjectIdentifier(children[index]), node.parent === parent, !node.isShadowed,
        !node.isRemoved, node.object != nil, children[index].restorationIdentifier == node.identifier
      else { return false }
    }
    return true
  }

  /// Tells children their roles; those whose role has changed are recorded again.
  private func giveRoles(_ roles: [RestorationIdentifier: RestorationRole], toChildrenOf node: TrackedNode) {
    guard node.hasRoles || !roles.isEmpty else { return }
    node.hasRoles = !roles.isEmpty
    for child in node.children where child.kind == .controller && child.role != roles[child.identifier] {
      child.role = roles[child.identifier]
      mark(child)
    }
  }

  /// Finds or makes the nodes of a list of siblings; a second owner of an identifier is left out and named.
  private func link(
    _ objects: [(any RestorableController, RestorationIdentifier?)], to parent: TrackedNode?, former: [TrackedNode]
  ) -> [TrackedNode] {
    var result: [TrackedNode] = []
    result.reserveCapacity(objects.count)
    var owners: [RestorationIdentifier: TrackedNode] = [:]
    owners.reserveCapacity(objects.count)
    for (controller, identifier) in objects {
      guard let identifier else { continue }
      guard !identifier.isEmpty else {
        batch.findings.append(.emptyIdentifier(parent: parent?.path ?? [], owner: name(controller)))
        continue
      }
      let known = node(of: controller)
      if let owner = owners[identifier] {
        let path = (parent?.path ?? []).appending(identifier)
        batch.findings.append(
          .duplicateIdentifier(path: path, kept: owner.object.map(name) ?? "an object", refused: name(controller)))
        if let known, known.parent === parent, owners[known.identifier] == nil, known !== owner {
          known.isShadowed = true
          owners[known.identifier] = known
          result.append(known)
        }
        continue
      }
      let node =
        known
        ?? TrackedNode(
          key: nodes.count, controller: controller, binding: bind(controller), identifier: identifier, isByHand: false)
      node.isShadowed = false
      if node.isByHand, known != nil {
        // Preserved by hand until now, a child from now on.
        node.isByHand = false
        mark(node)
      }
      owners[identifier] = node
      if known == nil {
        insert(node, parent: parent, section: .interface)
      } else {
        place(node, identifier: identifier, parent: parent)
      }
      result.append(node)
    }
    if parent == nil { orphans += former.filter { root in !result.contains { $0 === root } } }
    return result
  }

  private func linkViews(
    _ views: [any RestorableView], to parent: TrackedNode, taken: [TrackedNode]
  ) -> [TrackedNode] {
    guard !views.isEmpty else { return [] }
    var owners = Dictionary(taken.map { ($0.identifier, $0) }) { first, _ in first }
    var result: [TrackedNode] = []
    for view in views {
      guard let identifier = view.restorationIdentifier else { continue }
      guard !identifier.isEmpty else {
        batch.findings.append(.emptyIdentifier(parent: parent.path, owner: name(view)))
        continue
      }
      if let owner = owners[identifier] {
        batch.findings.append(
          .duplicateIdentifier(
            path: parent.path.appending(identifier), kept: owner.object.map(name) ?? "an object", refused: name(view)))
        continue
      }
      let known = node(of: view)
      let node =
        known
        ?? TrackedNode(
          key: nodes.count, object: view, binding: bind(view), identifier: identifier, kind: .view)
      owners[identifier] = node
      if known == nil {
        insert(node, parent: parent, section: .interface)
      } else {
        place(node, identifier: identifier, parent: parent)
      }
      result.append(node)
    }
    return result
  }

  private func insert(_ node: TrackedNode, parent: TrackedNode?, section: CaptureBatch.Section) {
    node.parent = parent
    node.isDirty = true
    node.awareness = node.object.map { awareness(of: $0, node.binding) } ?? .nothing
    if node.awareness != .everything { distrust(node) }
    nodes.append(node)
    byObject[node.objectIdentity] = node
    pending.append(node)
    hasMoved = true
    var claim = claims.removeValue(forKey: node.objectIdentity)
    if let other = claim, other.object !== node.object {
      batch.removedNodes.append(other.node)
      claim = nil
    }
    node.keepsStored = claim?.keepsStored == true
    node.sighted = claim?.sighted ?? []
    batch.placements.append(
      .init(
        key: node.key, parent: parent?.key, section: parent == nil ? section : nil, identifier: node.identifier,
        claimed: claim?.node))
  }

  private func place(_ node: TrackedNode, identifier: RestorationIdentifier, parent: TrackedNode?) {
    guard node.parent !== parent || node.identifier != identifier else { return }
    if let parent, parent.isInside(node) { untangle(parent, from: node) }
    if node.parent !== parent {
      node.parent?.children.removeAll { $0 === node }
      node.parent?.byHand.removeAll { $0 === node }
    }
    node.parent = parent
    node.identifier = identifier
    hasMoved = true
    batch.placements.append(
      .init(
        key: node.key, parent: parent?.key, section: parent == nil ? .interface : nil, identifier: identifier,
        claimed: nil))
  }

  /// Takes what lay between two nodes out of the way, when one of them now lies below the other the other way round.
  ///
  /// Whoever lists it as a child now is read in the same capture; else it has left the hierarchy.
  private func untangle(_ parent: TrackedNode, from node: TrackedNode) {
    precondition(
      !isListed(parent, below: node),
      "A cycle of children: \(node.object.map(name) ?? "an object") at \(node.path) is listed as a child of "
        + "\(parent.object.map(name) ?? "an object") at \(parent.path), which lies below it.")
    var between = parent
    while let next = between.parent, next !== node { between = next }
    node.children.removeAll { $0 === between }
    node.byHand.removeAll { $0 === between }
    between.parent = node.parent
    between.identifier = RestorationIdentifier("$moving-\(between.key)")
    orphans.append(between)
    batch.placements.append(
      .init(
        key: between.key, parent: node.parent?.key, section: node.parent == nil ? .interface : nil,
        identifier: between.identifier, claimed: nil))
  }

  /// Whether a controller is among the live descendants of another.
  private func isListed(_ node: TrackedNode, below top: TrackedNode) -> Bool {
    guard let sought = node.controller, let start = top.controller else { return false }
    var seen: Set<ObjectIdentifier> = []
    var stack: [any RestorableController] = [start]
    while let next = stack.popLast() {
      if next === sought { return true }
      if seen.insert(ObjectIdentifier(next)).inserted { stack += next.restorationChildren }
    }
    return false
  }

  // MARK: - State

  private func record(_ captured: CapturedState, of node: TrackedNode) {
    if node.keepsStored {
      guard fingerprint(captured) != node.sighted else { return }
      node.keepsStored = false
      batch.setAside.append(node.key)
    }
    var attributes = captured.attributes
    switch node.kind {
    case .controller: if node.isByHand { attributes.flags.insert(.byHand) }
    case .view: attributes.flags.insert(.view)
    case .shared: attributes.flags.insert(.shared)
    }
    if let tag = attributes.classTag {
      if let object = node.object, case .belongs(_, let registered, let found)? = registry.flaw(of: tag, on: object) {
        batch.findings.append(.inheritedTag(path: node.path, tag: tag, registered: registered, found: found))
      }
      if let limit = registry.registeredClass(tag)?.freshFor {
        attributes.savedAt = Freshness.stamp(now(), limit: limit)
      }
    }
    if captured.references.isEmpty {
      if !referrers.isEmpty { referrers[node.key] = nil }
    } else {
      referrers[node.key] = node
    }
    if !captured.references.isEmpty || !node.byHand.isEmpty {
      unresolved.append((node, batch.records.count, captured.references))
    }
    var values = captured.values
    if let role = node.role {
      attributes.flags.insert(.hasRole)
      values.append(.init(key: ReservedKey.role, value: role))
    }
    batch.records.append(.init(key: node.key, values: values, attributes: attributes))
  }

  // MARK: - References

  private func resolveReferences() {
    if hasMoved { rereadReferrers() }
    while let (node, record, references) = unresolved.popLast() {
      // What has left must not bring anything in.
      guard !node.isRemoved else { continue }
      let former = node.byHand
      node.byHand = []
      for reference in references {
        batch.records[record].values.append([entry(for: reference, from: node)])
      }
      orphans += former.filter { old in !node.byHand.contains { $0 === old } }
      while let node = pending.popLast() { read(node) }
    }
  }

  private func rereadReferrers() {
    guard !referrers.isEmpty else { return }
    let fresh = Set(unresolved.map { $0.node.key })
    for (key, node) in referrers.sorted(by: { $0.key < $1.key }) {
      if node.isRemoved { referrers[key] = nil } else if !fresh.contains(key) { read(node) }
    }
    while let node = pending.popLast() { read(node) }
  }

  /// The places of objects that the app-level state refers to; they must be in the tree or registered as shared.
  func entries(forApplication references: [CapturedReference], _ batch: inout CaptureBatch) -> [RestorationArchive
    .Entry]
  {
    var findings: [PreservationFinding] = []
    func place(_ object: any RestorableObject, _ key: String) -> NodeReference? {
      if let node = node(of: object), !node.isRemoved { return .path(node.path) }
      findings.append(.danglingReference(path: [], key: key))
      return nil
    }
    defer { batch.findings += findings }
    return references.map { reference in
      switch reference.targets {
      case .one(let object): .init(key: reference.key, value: object.flatMap { place($0, reference.key) })
      case .many(let objects): .init(key: reference.key, value: objects.map { place($0, reference.key) })
      }
    }
  }

  private func entry(for reference: CapturedReference, from node: TrackedNode) -> RestorationArchive.Entry {
    switch reference.targets {
    case .one(let object):
      return .init(key: reference.key, value: object.flatMap { place(of: $0, from: node, key: reference.key) })
    case .many(let objects):
      return .init(key: reference.key, value: objects.map { place(of: $0, from: node, key: reference.key) })
    }
  }

  private func place(of object: any RestorableObject, from owner: TrackedNode, key: String) -> NodeReference? {
    if let node = node(of: object), !node.isRemoved {
      if node.isByHand, node.parent === owner, !owner.byHand.contains(where: { $0 === node }) {
        owner.byHand.append(node)
      }
      return .path(node.path)
    }
    if let controller = object as? any RestorableController, controller.restorationClass != nil,
      let identifier = controller.restorationIdentifier, !identifier.isEmpty,
      !(owner.children + owner.byHand).contains(where: { $0.identifier == identifier })
    {
      let node = TrackedNode(
        key: nodes.count, controller: controller, binding: bind(controller), identifier: identifier, isByHand: true)
      owner.byHand.append(node)
      insert(node, parent: owner, section: .interface)
      return .path(node.path)
    }
    batch.findings.append(.danglingReference(path: owner.path, key: key))
    return nil
  }

  // MARK: - Leaving

  private func removeOrphans() {
    guard !orphans.isEmpty else { return }
    // Once for each parent, not for each child: a list may lose many of very many.
    var listed: [CaptureBatch.Key: Set<CaptureBatch.Key>] = [:]
    var bereaved: [CaptureBatch.Key: TrackedNode] = [:]
    for node in orphans where !node.isRemoved && isOrphan(node, &listed) {
      remove(node)
      if let parent = node.parent { bereaved[parent.key] = parent }
    }
    for parent in bereaved.values {
      parent.children.removeAll(where: \.isRemoved)
      parent.byHand.removeAll(where: \.isRemoved)
    }
    orphans = []
  }

  private func isOrphan(_ node: TrackedNode, _ listed: inout [CaptureBatch.Key: Set<CaptureBatch.Key>]) -> Bool {
    guard let parent = node.parent else {
      return node.object == nil || (node.kind != .shared && !roots.contains { $0 === node })
    }
    if parent.isRemoved || node.object == nil { return true }
    if listed[parent.key] == nil { listed[parent.key] = Set((parent.children + parent.byHand).map(\.key)) }
    return listed[parent.key]?.contains(node.key) == false
  }

  private func remove(_ node: TrackedNode) {
    var stack = [node]
    var order: [TrackedNode] = []
    while let next = stack.popLast() {
      order.append(next)
      next.isRemoved = true
      stack += (next.children + next.byHand).filter { $0.parent === next && !$0.isRemoved }
    }
    for node in order.reversed() {
      batch.removals.append(node.key)
      nodes[node.key] = nil
      if let object = node.object { bindings.remove(object) }
      if byObject[node.objectIdentity] === node { byObject[node.objectIdentity] = nil }
    }
    hasMoved = true
  }

  /// Restored objects that the first capture did not meet have left the hierarchy since.
  private func dropClaims() {
    guard !claims.isEmpty else { return }
    batch.removedNodes += claims.values.map(\.node)
    claims = [:]
  }

  // MARK: - Objects

  /// The binding of an object that is about to get the next key.
  private func bind(_ object: any RestorableObject) -> ObjectBinding {
    let key = nodes.count
    return bindings.binding(for: object) { [changes] in changes.mark(key) }
  }

  /// How much of an object's changes is noticed; a fact of its class.
  private func awareness(of object: any RestorableObject, _ binding: ObjectBinding) -> TrackedNode.Awareness {
    let type = ObjectIdentifier(type(of: object))
    if let known = awarenessOfClass[type] { return known }
    let awareness: TrackedNode.Awareness =
      if binding.observesEverything {
        .everything
      } else if object is any StatefulObject || object is any CodingObject {
        .nothing
      } else {
        .state
      }
    awarenessOfClass[type] = awareness
    return awareness
  }

  private func name(_ object: any RestorableObject) -> String { "\(type(of: object))" }
}
