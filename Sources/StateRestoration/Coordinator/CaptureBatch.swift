internal import FoundationEssentials
internal import RestorationArchive

/// What one capture on the main actor found: copies of values and changes of the tree, ready to leave the actor.
struct CaptureBatch: Sendable {
  /// Names a live object for as long as it is tracked; dense, so that the worker looks it up in an array.
  typealias Key = Int

  /// A live object that is new, has another parent or another identifier.
  ///
  /// Parents come before children.
  struct Placement: Sendable {
    var key: Key
    /// The parent's key; nil for a root.
    var parent: Key?
    /// Where roots that belong to the framework go; nil for everything below another live object.
    var section: Section?
    var identifier: RestorationIdentifier
    /// The node that the object was restored from, if it was.
    var claimed: NodeID?
  }

  /// The places at the top of an archive.
  enum Section: Sendable, Hashable {
    /// The roots of the interface.
    case interface
    /// Registered shared objects.
    case shared
  }

  /// The order of an object's live children.
  struct Order: Sendable {
    var parent: Key
    var children: [Key]
  }

  /// What records of many objects have in common, of one class and with one tag.
  struct Kind: Sendable {
    var version: StateVersion
    var classTag: RestorationClass?
    var savedAt: Date?
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
    /// Whether the stored state could not be read and goes aside, because this is newer.
    var setsStoredAside = false
    /// The other values under their keys, in the order of encoding.
    var entries: [RestorationArchive.Entry] = []
    var model: ModelIdentifier?
  }

  var placements: [Placement] = []
  /// Objects that left the hierarchy, children before parents.
  var removals: [Key] = []
  /// Objects that died and whose state is nobody's from now on.
  var releases: [Key] = []
  var orders: [Order] = []
  var records: [Record] = []
  var kinds: [Kind] = []
  /// Objects whose stored state could not be read and stays, because they have nothing newer.
  var standing: [Key] = []
  /// Objects in whose places another class's or model's state goes aside, with all that is below it.
  var strangers = Strangers()
  /// The app-level state; nil when it was not asked for.
  var application: [RestorationArchive.Entry]?
  /// Whether the stored app-level state could not be read and goes aside, because there is newer now.
  var setsApplicationAside = false
  /// Whether the app-level state is newer than one that was kept until then.
  var endsKeptApplication = false
  /// Nodes of restored objects that were gone before they were ever captured.
  var removedNodes: [NodeID] = []
  var findings: [PreservationFinding] = []
  /// Number of objects whose values were copied.
  var capturedCount: Int { records.count }

  /// Whether an object has come to a place, or anything has left one.
  var changesPlaces: Bool { !placements.isEmpty || !removals.isEmpty || !removedNodes.isEmpty }

  /// True when nothing about the tree and no object's values were captured.
  var isEmpty: Bool {
    placements.isEmpty && removals.isEmpty && releases.isEmpty && orders.isEmpty && records.isEmpty
      && removedNodes.isEmpty
  }
}

extension CaptureBatch {
  /// The values of a record under their keys, in the order of encoding.
  func entries(of record: Record) -> [RestorationArchive.Entry] {
    guard let row = record.row, let column = kinds[record.kind].column else { return record.entries }
    return [column.entry(at: row)] + record.entries
  }

  /// What a writer is told of a record's object.
  func attributes(of record: Record) -> RestorationArchive.Attributes {
    let kind = kinds[record.kind]
    return .init(
      classTag: kind.classTag, version: kind.version, priority: record.priority, flags: record.flags,
      savedAt: kind.savedAt, model: record.model)
  }

  /// What a writer is told of the objects for which another class's or model's state goes aside.
  var attributesOfStrangers: [Key: RestorationArchive.Attributes] {
    guard !strangers.all.isEmpty else { return [:] }
    var attributes: [Key: RestorationArchive.Attributes] = [:]
    for record in records where strangers.contains(record.key) { attributes[record.key] = self.attributes(of: record) }
    return attributes
  }
}

extension RestorationArchive.Attributes {
  /// Whether state that lies at an object's path may give way to the object's: it is of the same class and model, and
  /// neither newer than this program can read nor what restoring died at.
  func replaces(_ stored: RestorationArchive.Node) -> Bool {
    guard stored.byteCount > 0 else { return true }
    return fits(stored) && stored.attributes.version <= version && !stored.attributes.flags.contains(.leftOut)
  }

  /// Whether the two are known to be of different classes or models; what either does not name decides nothing.
  func isOther(than other: Self) -> Bool {
    if let model, let before = other.model, before != model { return true }
    if let classTag, let before = other.classTag, before != classTag { return true }
    return false
  }

  /// Whether an object and what lies at its path are known to be of different classes or models.
  func isOther(than stored: RestorationArchive.Node) -> Bool { isOther(than: stored.attributes) }

  /// Whether state that lies at an object's path is the object's: the same class, the same model and the same kind.
  ///
  /// State without a tag may be anybody's; with one it is nobody's who has none.
  func fits(_ stored: RestorationArchive.Node) -> Bool {
    guard !isOther(than: stored) else { return false }
    guard stored.byteCount > 0 else { return true }
    if stored.attributes.classTag != nil, classTag == nil { return false }
    return stored.attributes.flags.contains(.view) == flags.contains(.view)
  }
}

/// The framework's own names at the top of an archive.
enum ReservedNode {
  /// Holds the app-level state.
  static let application: RestorationIdentifier = "$application"
  /// Holds the registered shared objects.
  static let shared: RestorationIdentifier = "$shared"
  /// Holds state that lost its place and is kept.
  static let kept: RestorationIdentifier = "$kept"

  /// What a root of the interface is called in an archive: like itself, unless it is called like one of these.
  static func stored(_ root: RestorationIdentifier) -> RestorationIdentifier {
    isLikeReserved(root) ? RestorationIdentifier("$" + root.rawValue) : root
  }

  /// What a root is called that an archive has under this name.
  static func original(_ stored: RestorationIdentifier) -> RestorationIdentifier {
    stored.rawValue.hasPrefix("$$") && isLikeReserved(stored)
      ? RestorationIdentifier(String(stored.rawValue.dropFirst())) : stored
  }

  /// A name for the time being, that no object has, whatever its own is made of.
  static func temporary(_ purpose: String, _ number: Int) -> RestorationIdentifier {
    RestorationIdentifier("$\(purpose)-\(unguessable)-\(number)")
  }

  private static let unguessable = UInt64.random(in: .min ... .max)

  private static func isLikeReserved(_ identifier: RestorationIdentifier) -> Bool {
    guard identifier.rawValue.hasPrefix("$") else { return false }
    let bare = RestorationIdentifier("$" + identifier.rawValue.drop { $0 == "$" })
    return bare == application || bare == shared || bare == kept
  }
}

extension RestorationArchive.NodeFlags {
  /// Encoded by another object's reference, not by being a child (R2.1).
  static let byHand = RestorationArchive.NodeFlags(rawValue: 1 << 8)
  /// Has a role in its container, which is in the record.
  static let hasRole = RestorationArchive.NodeFlags(rawValue: 1 << 9)
  /// Turned up after a locked launch and was not touched since: what was stored at its place before counts more.
  static let untouched = RestorationArchive.NodeFlags(rawValue: 1 << 10)
}
