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
  private var classes: [ObjectIdentifier: TrackedClass] = [:]
  /// The classes whose instances the current capture has met.
  private var openClasses: [TrackedClass] = []
  /// The number of the current or last capture.
  private(set) var captureNumber = 0
  var nodes: [TrackedNode?] = []
  var byObject: [ObjectIdentifier: TrackedNode] = [:]
  var roots: [TrackedNode] = []
  private var shared: [TrackedNode] = []
  /// Live objects that restoring gave their state to, until the first capture meets them.
  var claims: [ObjectIdentifier: Claim] = [:]
  /// Claims of objects that died before a capture met them, and whose address is another's now.
  var displaced: [Claim] = []
  /// Nodes whose state was given to objects that turned up late, and that no capture has met: dead or alive.
  var unmet: Set<NodeID> = []
  /// Whether an object of another class or model than its stored state was claimed.
  private(set) var hasStrangers = false
  /// Whether an object was claimed whose stored state restoring died at.
  private(set) var hasLeftOut = false
  /// The objects whose state grows too old while they are not there.
  var ages = StateAges()
  var batch = CaptureBatch()
  var pending: [TrackedNode] = []
  /// Objects that have given back their places, with another above them, in this capture.
  var displacedBorrowers: [TrackedNode] = []
  var orphans: [TrackedNode] = []
  /// Parents that children have left, whose lists still have them.
  var parentsThatLostChildren: [CaptureBatch.Key: TrackedNode] = [:]
  var unresolved: [(node: TrackedNode, record: Int, references: [CapturedReference])] = []
  var hasMoved = false
  var fingerprintTables = CodingTables()
  /// What no claim names below objects of another class or model than their stored state, until the first capture meets it.
  var refusedBelow: [ObjectIdentifier: Refused] = [:]
  /// What was known before the state was restored once more, until the next capture.
  var acquaintances = Acquaintances()
  /// Objects whose changes can't be noticed without asking them.
  private(set) var polled: [TrackedNode] = []
  /// Whether some of them have left the tree.
  var hasLostPolled = false
  /// Objects whose state refers to others.
  var referrers: [CaptureBatch.Key: TrackedNode] = [:]
  /// Objects whose parents were asked again in this capture.
  var relinked: Set<CaptureBatch.Key> = []

  /// A restored object and the node it came from.
  struct Claim {
    weak var object: (any RestorableObject)?
    let node: NodeID
    /// What the object was called when the node was saved.
    let identifier: RestorationIdentifier?
    /// The node above it; nil for a root.
    let parent: NodeID?
    /// Whether the object could not read its state, which is kept until it has newer state.
    var keepsStored = false
    /// Whether it is a shared object, whose state outlives it.
    var isShared = false
    /// Whether the stored state is of another class or model than the object, and what is below it, too.
    var isStranger = false
    /// What the object had when its stored state was kept.
    var fingerprintWhenRefused: [UInt8]?
    /// Whether the object turned up after restoring, and may not be in the hierarchy yet.
    var isLate = false
    /// Whether the object has the node for its path only, as the state is not its own, or is not all there is.
    var isByPath = false
    /// Whether restoring died at the node, which is offered again whatever becomes of the object.
    var isLeftOut = false
    /// Whether it did so again, after something newer below it had ended the leaving out: then that ends it no more.
    var staysLeftOut = false
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
    captureNumber += 1
    hasMoved = false
    relinked = []
    collect(scope)
    adopt(controllers)
    _ = adoptShared()
    if scope == .all { readUnnoticed() }
    readPending()
    removeOrphans()
    resolveReferences()
    dropClaims()
    acquaintances = Acquaintances()
    removeOrphans()
    if adoptShared() {
      // Who has left the hierarchy and is registered as shared is preserved so from now on.
      readPending()
      resolveReferences()
      removeOrphans()
    }
    putDisplacedBorrowers()
    // Handed over whole: what is kept here would keep the values, and make the worker copy the lists.
    for subject in openClasses { subject.close() }
    openClasses.removeAll(keepingCapacity: true)
    defer { batch = CaptureBatch() }
    return batch
  }

  /// Remembers which nodes restored objects came from.
  func claim(_ restored: [Claim]) {
    claims.reserveCapacity(restored.count)
    for claim in restored {
      guard let object = claim.object else { continue }
      if claim.isStranger { hasStrangers = true }
      if claim.isLeftOut { hasLeftOut = true }
      if claim.isLate, !claim.keepsStored {
        // The next capture meets it wherever it was met before.
        guard node(of: object) == nil else { continue }
        unmet.insert(claim.node)
      }
      if let other = claims.updateValue(claim, forKey: ObjectIdentifier(object)), other.object !== object {
        displaced.append(other)
      }
      guard claim.keepsStored else { continue }
      // First the object's own code, which may have another one claimed.
      let fingerprint = fingerprintWhenFirstRefused(object)
      claims[ObjectIdentifier(object)]?.fingerprintWhenRefused = fingerprint
    }
  }

  /// Whether a restored object that no capture has met yet came from a node.
  func isClaimed(_ node: NodeID) -> Bool {
    claims.values.contains { $0.node == node && $0.object != nil }
  }

  /// Takes back what was claimed for objects that have died: their nodes are carried over.
  func disclaim(_ nodes: Set<NodeID>) {
    claims = claims.filter { !nodes.contains($0.value.node) || $0.value.object != nil }
    displaced.removeAll { nodes.contains($0.node) && $0.object == nil }
  }

  /// Forgets everything, as if no object had ever been seen.
  func reset() {
    bindings = ObjectBindings()
    nodes = []
    byObject = [:]
    roots = []
    shared = []
    polled = []
    referrers = [:]
    claims = [:]
    refusedBelow = [:]
    displaced = []
    unmet = []
    hasStrangers = false
    hasLeftOut = false
    ages = StateAges()
    _ = changes.drain()
  }

  /// The tracked node of an object; nil when it is not preserved.
  func node(of object: any RestorableObject) -> TrackedNode? {
    guard let node = byObject[ObjectIdentifier(object)], node.object === object else { return nil }
    return node
  }

  /// Whether a capture has met an object in a place to which it has come by itself: what it had replaces what was stored there.
  func hasTakenPlace(_ object: any RestorableObject, at path: RestorationPath) -> Bool {
    guard let node = node(of: object) else { return false }
    return node.origin == nil && node.identifier == path.last
  }

  // MARK: - What to read

  private func collect(_ scope: Scope) {
    for key in changes.drain() where key < nodes.count {
      guard let node = nodes[key] else { continue }
      node.isFlagUp = true
      mark(node)
    }
    for key in ages.due(at: now, isThere: { nodes[$0] != nil }) { nodes[key].map(mark) }
    guard scope == .all else { return }
    if hasLostPolled { polled.removeAll { $0.isRemoved } }
    hasLostPolled = false
    for root in roots where root.isPolled { mark(root) }
    batch.records.reserveCapacity(polled.count + pending.count)
  }

  func mark(_ node: TrackedNode) {
    guard !node.isDirty else { return }
    node.isDirty = true
    pending.append(node)
  }

  /// Has an object asked at every capture of everything, as its changes can't be noticed.
  func poll(_ node: TrackedNode) {
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
    // Who is in the hierarchy by now is preserved there.
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
  ) -> TrackedNode {
    let key = nodes.count
    let binding = bindings.binding(for: object) { [changes] in changes.mark(key) }
    let type = ObjectIdentifier(type(of: object))
    let subject = classes[type] ?? TrackedClass(object, binding.plan)
    classes[type] = subject
    return TrackedNode(
      key: key, object: object, binding: binding, subject: subject, identifier: identifier, kind: kind,
      isByHand: byHand)
  }

  /// Has the values of a class's instances copied into the current batch.
  func open(_ subject: TrackedClass) {
    subject.open()
    openClasses.append(subject)
  }
}
