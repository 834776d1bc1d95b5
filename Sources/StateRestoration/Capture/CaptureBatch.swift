internal import DataProtection
internal import FoundationShim
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
    /// Whether the object's first values are an edit, as the program has set them.
    var isEdit = false
  }

  /// What an object was given in the turn that met it.
  enum Given: Hashable, Sendable {
    /// The record in a row's own node, and there is no other: as nearly always.
    case own(NodeID)
    /// The state of a row.
    indirect case record(Gift)
    /// Nothing: this row fits it, and has only records that can't be given now.
    case unread(NodeID)
    /// Nothing; it is met as it is at the end of the turn.
    case nothing
    /// Nothing, after the turn that restores: this row fits it, but it is met as one that came by itself.
    case late(NodeID)

    /// The record that it was given, or the row that was found for it.
    var node: NodeID? {
      switch self {
      case .own(let row), .unread(let row), .late(let row): row
      case .record(let gift): gift.record ?? gift.row
      case .nothing: nil
      }
    }

    /// What it was given.
    var gift: Gift? {
      switch self {
      case .own(let row): Gift(row: row, record: row)
      case .record(let gift): gift
      case .unread, .nothing, .late: nil
      }
    }
  }

  /// The records of a row that an object was given.
  struct Gift: Hashable, Sendable {
    var row: NodeID
    /// The record that the object has, and that its next difference replaces; nil when the object keeps its own record.
    var record: NodeID?
    /// Older ones that it could have been given, and that wait until the conflict is settled.
    var superseded: [NodeID] = []
    /// Others that were joined with it.
    var joined: [NodeID] = []
    /// *First* ones that it could have been given, and that go.
    var first: [NodeID] = []
    /// Rows with nothing but *first* records, which become one with the row.
    var rows: [NodeID] = []
    /// The row in which the object has written before, below another one, and that becomes one with the row.
    var brought: NodeID?
    /// Whether restoring itself has made the values others than those stored: they were migrated, or were not read whole.
    var isChanged = false
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
    /// The tag of their class, or the name of their type.
    var classTag: RestorationArchive.ClassTag?
    /// Whether that is the name of their type.
    var isNamedByType = false
    /// Whether the launch asks for state of the class.
    var isAskedFor = true
    /// The classes whose state may be given to the objects.
    var acceptedClasses: Set<RestorationArchive.ClassTag> = []
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
    var priority = RestorationArchive.Priority.normal
    var flags = RestorationArchive.NodeFlags(rawValue: 0)
    /// The other values under their keys, in the order of encoding.
    var entries: [RestorationArchive.Entry] = []
    var model: ModelIdentifier?
    /// The object's role in its container; nil when its place says it.
    var role: RestorationArchive.Role?
    /// The protection class of its state, and of that below it; nil for its parent's.
    var protection: ProtectionClass?
  }

  var placements: [Placement] = []
  /// Objects that have left the hierarchy, children before parents.
  var removals: [Key] = []
  /// Objects that are gone without having left: their rows stay as they are, without an object.
  var releases: [Key] = []
  /// Objects that show another model now, or are of another class: their rows become absent.
  var outgrown: [Key] = []
  var orders: [Order] = []
  var records: [Record] = []
  /// The objects that records refer to, by numbers of their own, under the keys of their references.
  var targets: [Key: [String: [Int]]] = [:]
  var kinds: [Kind] = []
  /// What objects were given that were gone before they were ever captured.
  var leftGifts: [Gift] = []
  /// Rows that a scope has forgotten.
  var removedRows: [NodeID] = []
  var findings: [PreservationOutcome.Finding] = []
  /// Whether this is how the objects are when they are met: at the end of the turn that restored, or found the device locked.
  var isMeeting = false
  /// The registered classes, when they have changed since the last capture.
  var classes: ClassTable?
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
      classTag: kind.classTag, version: kind.version, priority: record.priority,
      flags: kind.isNamedByType ? record.flags.union(.namedByType) : record.flags, model: record.model,
      role: record.role)
  }
}
