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

  var bindings = ObjectBindings()
  private var awarenessOfClass: [ObjectIdentifier: TrackedNode.Awareness] = [:]
  var nodes: [TrackedNode?] = []
  var byObject: [ObjectIdentifier: TrackedNode] = [:]
  var roots: [TrackedNode] = []
  private var shared: [TrackedNode] = []
  /// Live objects that restoring gave their state to, until the first capture meets them.
  var claims: [ObjectIdentifier: Claim] = [:]
  var batch = CaptureBatch()
  var pending: [TrackedNode] = []
  var orphans: [TrackedNode] = []
  /// Parents that children have left, whose lists still have them.
  var bereaved: [CaptureBatch.Key: TrackedNode] = [:]
  var unresolved: [(node: TrackedNode, record: Int, references: [CapturedReference])] = []
  var hasMoved = false
  private var sightings = CodingTables()
  /// Objects whose changes can't be noticed without asking them.
  private var unnoticed: [TrackedNode] = []
  /// Objects whose state refers to others.
  var referrers: [CaptureBatch.Key: TrackedNode] = [:]
  /// Objects whose parents were asked again in this capture.
  var relinked: Set<CaptureBatch.Key> = []

  /// A restored object and the node it came from.
  struct Claim {
    weak var object: (any RestorableObject)?
    let node: NodeID
    /// Whether the object could not read its state, which is kept until it has newer state.
    var keepsStored = false
    /// What the object had when its stored state was kept.
    var sighted: [UInt8] = []
    /// Whether the object turned up after restoring, and may not be in the hierarchy yet.
    var isLate = false
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
    readPending()
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
  func fingerprint(_ captured: CapturedState) -> [UInt8] {
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

  func mark(_ node: TrackedNode) {
    guard !node.isDirty else { return }
    node.isDirty = true
    pending.append(node)
  }

  /// Has an object asked at every capture of everything, as its changes can't be noticed.
  func distrust(_ node: TrackedNode) {
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
    // One that has died has to be seen to leave before its place is another's.
    for node in shared where node.object == nil { orphans.append(node) }
    shared.removeAll { $0.isRemoved || $0.object == nil }
    let living = registry.livingSharedObjects
    guard living.count != shared.count else { return }
    for (identifier, object) in living where node(of: object) == nil {
      let node = TrackedNode(
        key: nodes.count, object: object, binding: bind(object), identifier: identifier, kind: .shared)
      insert(node, parent: nil, section: .shared)
      shared.append(node)
    }
  }

  // MARK: - Objects

  /// The binding of an object that is about to get the next key.
  func bind(_ object: any RestorableObject) -> ObjectBinding {
    let key = nodes.count
    return bindings.binding(for: object) { [changes] in changes.mark(key) }
  }

  /// How much of an object's changes is noticed; a fact of its class.
  func awareness(of object: any RestorableObject, _ binding: ObjectBinding) -> TrackedNode.Awareness {
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

  func name(_ object: any RestorableObject) -> String { "\(type(of: object))" }
}
