internal import FoundationEssentials
internal import RestorationArchive

/// What one capture on the main actor found: copies of values and changes of the tree, ready to leave the actor.
struct CaptureBatch: Sendable {
  /// Names a live object for as long as it is tracked; dense, so that the worker looks it up in an array.
  typealias Key = Int

  /// The key of the app-level state, which is one more object, at the empty path.
  static let application: Key = 0

  /// Where a live object ends up that is new, has another parent or another identifier: once each, those above it first.
  struct Placement: Sendable {
    var key: Key
    /// The key that the object had before, whose binding it goes on with; nil for a new one.
    var former: Key?
    /// The parent's key; nil for a root.
    var parent: Key?
    /// Where roots that belong to the framework go; nil for everything below another live object.
    var section: Section?
    var identifier: RestorationIdentifier
    /// What the object was given in the turn that meets it; nil for one that has moved, or that comes by itself.
    var given: Given?
    /// Whether the object's values are an edit if it is given nothing: the program has set it, or it owned state before the
    /// state was restored once more.
    var isEdit = false
  }

  /// What restoring gave to an object: the outcome of the table *Select*.
  enum Given: Hashable, Sendable {
    /// The state of a node, which is the object's.
    case owner(NodeID)
    /// The state of a node, which refers to state that was not restored: the object is its owner once it is edited.
    case referrer(NodeID)
    /// Nothing of a node that is its own, and that it could not read: only the places of its children.
    case over(NodeID)
    /// Nothing: it is blank where something is stored.
    case nothing

    /// The node whose state the object has.
    var node: NodeID? {
      switch self {
      case .owner(let node), .referrer(let node): node
      case .over, .nothing: nil
      }
    }
  }

  /// The places at the top of an archive.
  enum Section: Sendable, Hashable {
    /// The app-level state.
    case application
    /// The roots of the interface.
    case interface
    /// Registered shared objects.
    case shared
  }

  /// The order of an object's live children.
  struct Order: Sendable {
    var parent: Key
    var children: [Key]

    /// Replaces a child by another, which mostly stands at the given place.
    mutating func replace(_ child: Key, near place: Int, by other: Key) {
      let isThere = children.indices.contains(place) && children[place] == child
      if let place = isThere ? place : children.lastIndex(of: child) { children[place] = other }
    }
  }

  /// What records of many objects have in common, of one class and with one tag.
  struct Kind: Sendable {
    var version: StateVersion
    var classTag: RestorationClass?
    /// The tags whose state may be given to the objects.
    var acceptedTags: Set<RestorationClass> = []
    /// The objects' one values; nil when the class has none.
    var column: (any StateColumn)?
  }

  /// One object's values; small, as there are as many as objects.
  struct Record: Sendable {
    var key: Key
    /// The number of its kind.
    var kind: Int
    /// The row of its one value in the kind's column; nil when it has none.
    var row: Int?
    var priority = PreservationPriority.normal
    var flags: RestorationArchive.NodeFlags = []
    /// The other values under their keys, in the order of encoding.
    var entries: [RestorationArchive.Entry] = []
    var model: ModelIdentifier?
    /// The object's role in its container; nil when its place says it.
    var role: RestorationRole?
  }

  var placements: [Placement] = []
  /// Objects that have left the hierarchy, children before parents.
  var removals: [Key] = []
  /// Objects whose state is nobody's from now on, without being removed.
  var releases: [Key] = []
  /// Those of them that are another class's or model's from now on, with their new keys.
  var successions: [(former: Key, key: Key)] = []
  var orders: [Order] = []
  var records: [Record] = []
  /// The objects that records refer to, by numbers of their own, under the keys of their references.
  var targets: [Key: [String: [Int]]] = [:]
  var kinds: [Kind] = []
  /// Nodes of restored objects that were gone before they were ever captured.
  var removedNodes: [NodeID] = []
  var findings: [PreservationFinding] = []
  /// Whether this is how the objects are when they are met: at the end of the turn that restored, or found the device locked.
  var isMeeting = false
  /// The registered classes, when they have changed since the last capture.
  var tags: TagTable?
  /// Objects that have come by themselves, not having been given state.
  var newcomers: [Key] = []
  /// Objects whose change was noticed before they were asked.
  var announced: Set<Key> = []
  /// Number of records that were copied once more, as the objects that they refer to have moved.
  var repetitions = 0
  /// Number of objects whose values were copied, the app-level state not counted.
  var capturedCount: Int { records.count { $0.key != Self.application } - repetitions }
}

extension CaptureBatch {
  /// The values of a record under their keys, in the order of encoding.
  func entries(of record: Record) -> [RestorationArchive.Entry] {
    guard let row = record.row, let column = kinds[record.kind].column else { return record.entries }
    return [column.entry(at: row)] + record.entries
  }

  /// The values by which an edit is told: the object that a reference leads to counts, and not its place.
  func comparedEntries(of record: Record) -> [RestorationArchive.Entry] {
    let entries = entries(of: record)
    guard let targets = targets[record.key] else { return entries }
    return entries.map { entry in
      targets[entry.key].map { RestorationArchive.Entry(key: entry.key, value: $0) } ?? entry
    }
  }

  /// What a writer is told of a record's object.
  func attributes(of record: Record) -> RestorationArchive.Attributes {
    let kind = kinds[record.kind]
    return .init(
      classTag: kind.classTag, version: kind.version, priority: record.priority, flags: record.flags,
      model: record.model, role: record.role)
  }
}
