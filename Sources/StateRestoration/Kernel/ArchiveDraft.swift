internal import FoundationEssentials
internal import RestorationArchive

/// The archive as the next save writes it: live objects' variants, and those carried over for objects that are away.
///
/// A pure value: it knows no disk, no clock and no objects, only the keys by which captures name them.
struct ArchiveDraft: Sendable {
  let limits: RestorationArchive.Limits
  let nodeBudget: Int
  /// The nodes; what no binding owns is carried over.
  var writer: RestorationArchive.Writer
  /// Whether the stored state can't be read now, so that every object is blank until the unlock.
  private(set) var isBlind = false
  /// The registered classes, for comparing tags.
  var tags = TagTable()
  /// What live objects have to do with the nodes, by key.
  var bindings: [Binding?] = []
  /// The owners of nodes.
  var ownerOf: [NodeID: CaptureBatch.Key] = [:]
  /// The dormant variants, oldest first.
  var dormants: [DormantVariant] = []
  /// Live objects for which the archive has no place, and of the topmost why: the tree would be too deep, or too large.
  var unplaced: [CaptureBatch.Key: (path: RestorationPath, message: String)?] = [:]
  /// Live objects whose records have changed since the last save, and since they were met.
  var changed: Set<CaptureBatch.Key> = []
  /// Live objects whose values could not be encoded when they were captured last.
  var unencoded: Set<CaptureBatch.Key> = []
  /// The sizes of live objects' states that are over the budget for one node.
  var overBudget: [CaptureBatch.Key: Int] = [:]
  /// Findings since the last save, for its receipt.
  var owedFindings: [PreservationFinding] = []
  var digests: DigestMaker
  /// What objects came with that have a node and were not edited, while the stored state can't be read.
  var firstValues: [CaptureBatch.Key: Baseline] = [:]
  /// Nodes that this launch doesn't ask for: no object takes them over.
  var withheld: Set<NodeID> = []
  /// Whether nodes wait for the records that are merged into them, so that they only look empty.
  var isMerging = false
  /// Whether what no live object owns is marked as left over from an earlier run.
  private var hasMarkedCarriedOver = true

  /// Begins an empty archive.
  ///
  /// - Parameter isBlind: Whether there may be stored state that can't be read now.
  init(context: RestorationContext, limits: RestorationArchive.Limits, nodeBudget: Int, isBlind: Bool = false) {
    self.limits = limits
    self.nodeBudget = nodeBudget
    self.isBlind = isBlind
    digests = DigestMaker(depthLimit: limits.valueDepth)
    writer = RestorationArchive.Writer(context: context, limits: limits)
  }

  /// Goes on from an archive; its nodes are carried over until live objects are bound to them.
  ///
  /// - Parameter dormants: The dormant variants in it.
  init(
    continuing reader: RestorationArchive.Reader, dormants: [DormantVariant], limits: RestorationArchive.Limits,
    nodeBudget: Int
  ) throws(ArchiveError) {
    self.limits = limits
    self.nodeBudget = nodeBudget
    self.dormants = dormants
    digests = DigestMaker(depthLimit: limits.valueDepth)
    writer = try RestorationArchive.Writer(continuing: reader, limits: limits)
    hasMarkedCarriedOver = false
  }

  /// Gives up which live object has which node, so that the next capture of everything binds them anew.
  mutating func unbindAll() {
    bindings = []
    ownerOf = [:]
    unplaced = [:]
    changed = []
    unencoded = []
    overBudget = [:]
    firstValues = [:]
  }

  // MARK: - Bindings

  /// The binding of a live object; nil while it has none.
  func binding(_ key: CaptureBatch.Key) -> Binding? {
    guard key < bindings.count, let binding = bindings[key] else { return nil }
    // What the object was over may be gone; numbers of nodes are not used again.
    if case .blank(var blank) = binding, let over = blank.over, ((try? writer.node(over)) ?? nil) == nil {
      blank.over = nil
      return .blank(blank)
    }
    return binding
  }

  /// Makes a node a live object's.
  mutating func own(_ node: NodeID, _ key: CaptureBatch.Key) {
    unbind(key)
    bind(.owner(node), key)
    ownerOf[node] = key
  }

  /// Binds a live object that owns nothing.
  mutating func bind(_ binding: Binding, _ key: CaptureBatch.Key) {
    while bindings.count <= key { bindings.append(nil) }
    bindings[key] = binding
  }

  /// Gives a live object's binding, and all that depends on it, to the key that it has from now on.
  mutating func rebind(_ former: CaptureBatch.Key, as key: CaptureBatch.Key) {
    guard binding(key) == nil, let binding = binding(former) else { return }
    bindings[former] = nil
    bind(binding, key)
    if case .owner(let node) = binding { ownerOf[node] = key }
    firstValues[key] = firstValues.removeValue(forKey: former)
    overBudget[key] = overBudget.removeValue(forKey: former)
    if unencoded.remove(former) != nil { unencoded.insert(key) }
  }

  /// Ends a live object's binding: what it owned is carried over.
  mutating func unbind(_ key: CaptureBatch.Key) {
    guard case .owner(let node)? = binding(key) else {
      if key < bindings.count { bindings[key] = nil }
      return
    }
    bindings[key] = nil
    ownerOf[node] = nil
    if !overBudget.isEmpty { overBudget[key] = nil }
  }

  // MARK: - Carried over

  /// Number of nodes that no live object owns or is over.
  var carriedOverCount: Int {
    let count = unownedCount
    return count > 0 ? max(count - overs.count, 0) : 0
  }

  private var unownedCount: Int {
    let shared = ((try? writer.child(of: nil, identifier: ReservedNode.shared)) ?? nil) == nil ? 0 : 1
    return writer.nodeCount - ownerOf.count - shared
  }

  /// The nodes that live objects are over.
  private var overs: Set<NodeID> {
    Set(bindings.indices.compactMap { key in if case .blank(let blank)? = binding(key) { blank.over } else { nil } })
  }

  /// Marks what no live object owns or is over as left over from an earlier run, once, with the time of the last save that had
  /// it.
  mutating func markCarriedOver() throws(ArchiveError) {
    guard !hasMarkedCarriedOver else { return }
    hasMarkedCarriedOver = true
    guard unownedCount > 0 else { return }
    let overs = overs
    var stack = try writer.roots
    while let id = stack.popLast() {
      stack += try writer.children(of: id)
      guard ownerOf[id] == nil, var attributes = try writer.node(id)?.attributes,
        attributes.flags.isDisjoint(with: [.reserved, .dormant])
      else { continue }
      let isThere = overs.contains(id)
      guard attributes.flags.contains(.carriedOver) == isThere else { continue }
      if isThere { attributes.flags.remove(.carriedOver) } else { attributes.flags.insert(.carriedOver) }
      attributes.savedAt = isThere ? nil : writer.context.timeSaved
      try writer.setAttributes(attributes, of: id)
    }
  }

  /// Removes the variants of a place in which no live object owns anything; false when there is none.
  mutating func forget(_ path: RestorationPath) throws(ArchiveError) -> Bool {
    guard let (parent, identifier) = try place(at: path) else { return false }
    let read = Set(bindings.compactMap { if case .blank(let blank)? = $0, blank.hasRead { blank.over } else { nil } })
    var isAny = false
    for variant in try variants(of: parent, identifier) where try !hasOwner(inside: variant, or: read) {
      try giveUp(variant)
      isAny = true
    }
    return isAny
  }

  /// Removes all variants of a place; their objects have left.
  mutating func removeAll(at path: RestorationPath) throws(ArchiveError) {
    guard let (parent, identifier) = try place(at: path) else { return }
    for variant in try variants(of: parent, identifier) { try giveUp(variant) }
  }

  /// Removes a variant with its subtree: what live objects own there is nobody's.
  mutating func giveUp(_ variant: NodeID) throws(ArchiveError) {
    var stack = [variant]
    while let next = stack.popLast() {
      if let key = ownerOf[next] { unbind(key) }
      stack += try writer.children(of: next)
    }
    try remove(variant)
  }

  /// Removes nodes whose own rules say that they are of no use any more.
  mutating func drop(_ nodes: [NodeID]) throws(ArchiveError) {
    for node in nodes where ownerOf[node] == nil { try remove(node) }
  }

  /// Sets or clears the mark of nodes that restoring died at.
  mutating func mark(_ nodes: [NodeID], leftOut: Bool) throws(ArchiveError) {
    for node in nodes {
      guard var attributes = try writer.node(node)?.attributes else { continue }
      if leftOut { attributes.flags.insert(.leftOut) } else { attributes.flags.remove(.leftOut) }
      try writer.setAttributes(attributes, of: node)
    }
  }

  // MARK: - Nodes

  /// Where a node is, from the root, as the interface calls it.
  func path(of node: NodeID) -> RestorationPath {
    var components: [RestorationIdentifier] = []
    var next: NodeID? = node
    while let id = next, let node = try? writer.node(id) {
      let identifier = node.placeIdentifier
      if identifier == ReservedNode.application { return [] }
      // A replaced variant has the path of the edit that has replaced it.
      if !node.attributes.flags.contains(.replaced) {
        components.append(node.parent == nil ? ReservedNode.original(identifier) : identifier)
      }
      next = node.parent
    }
    return RestorationPath(components.reversed())
  }

  /// Where a place is, from the root, as the interface calls it.
  func path(of place: CaptureBatch.Placement) -> RestorationPath {
    var components = place.section == .application ? [] : [place.identifier]
    var next = place.parent
    while let key = next {
      switch binding(key) {
      case .owner(let node)?: return RestorationPath(path(of: node).components + components.reversed())
      case .blank(let blank)?:
        components.append(blank.place.identifier)
        next = blank.place.parent
      case nil: next = nil
      }
    }
    return RestorationPath(components.reversed())
  }

  /// The place at a path: the node above it and its stored identifier; nil when the nodes above it are not there.
  private func place(
    at path: RestorationPath
  ) throws(ArchiveError) -> (parent: NodeID?, identifier: RestorationIdentifier)? {
    guard let top = path.components.first, let last = path.last else { return (nil, ReservedNode.application) }
    let isShared = top == ReservedNode.shared && path.components.count > 1
    let first = isShared ? top : ReservedNode.stored(top)
    guard path.components.count > 1 else { return (nil, first) }
    var node: NodeID?
    for identifier in [first] + path.components.dropFirst().dropLast() {
      guard let next = try writer.child(of: node, identifier: identifier) else { return nil }
      node = next
    }
    return (node, last)
  }

  /// Whether a live object owns a node or something below it.
  func hasOwner(inside top: NodeID, or others: Set<NodeID> = []) throws(ArchiveError) -> Bool {
    guard !ownerOf.isEmpty || !others.isEmpty else { return false }
    var stack = [top]
    while let next = stack.popLast() {
      if ownerOf[next] != nil || others.contains(next) { return true }
      stack += try writer.children(of: next)
    }
    return false
  }

  /// Removes a node with all that is below it.
  mutating func remove(_ node: NodeID) throws(ArchiveError) {
    guard try writer.node(node) != nil else { return }
    try writer.remove(node)
    if !dormants.isEmpty { dormants = dormants.filter { (try? writer.node($0.node)) ?? nil != nil } }
  }

  /// Gives a node an identifier that no object has.
  mutating func renameFreely(_ node: NodeID) throws(ArchiveError) {
    try writer.rename(node, to: ReservedNode.temporary("free", Int(node.rawValue)))
  }

  /// A node of the framework's own, made when there is none.
  mutating func reserved(_ identifier: RestorationIdentifier) throws(ArchiveError) -> NodeID {
    if let node = try writer.child(of: nil, identifier: identifier) { return node }
    return try writer.insert(identifier, parent: nil, attributes: .init(priority: .required, flags: .reserved))
  }
}
