package import FoundationShim

extension RestorationArchive {
  /// What an archive knows of one preserved object, or of one of its further records, without decoding its state.
  package struct Node: Hashable, Sendable, Identifiable {
    /// The node's number in its lineage.
    package var id: NodeID
    /// The parent's number; nil for a root.
    package var parent: NodeID?
    /// The name, unique among its siblings: mostly the object's identifier.
    package var identifier: RestorationIdentifier
    /// What the object was and how its state is to be treated.
    package var attributes: Attributes
    /// The number of bytes of the object's encoded state; zero when it has none, or it was left out.
    package var byteCount: Int
  }

  /// What a writer is told of a node besides its place and its state.
  package struct Attributes: Hashable, Sendable {
    /// The tag of the class that remakes the object; nil when it named none.
    package var classTag: RestorationArchive.ClassTag?
    /// The version of the object's state.
    package var version: StateVersion
    /// How soon the state is left out when there is too much of it.
    package var priority: RestorationArchive.Priority
    /// What kind of object it is and what became of its state.
    package var flags: NodeFlags
    /// When the row last had an object; nil when it had one in the newest save, and when the program doesn't say.
    ///
    /// Kept to the bit.
    package var savedAt: Date?
    /// The element of the data model that the object shows; nil when it shows none.
    package var model: ModelIdentifier?
    /// The role of the object, in its parent's words; nil when its place says it.
    package var role: RestorationArchive.Role?
    /// The number of the save that wrote the record, which orders the records of a row; 0 when the program doesn't count.
    package var save: UInt32

    /// Makes attributes.
    package init(
      classTag: RestorationArchive.ClassTag? = nil, version: StateVersion = 1,
      priority: RestorationArchive.Priority = .normal,
      flags: NodeFlags = [], savedAt: Date? = nil, model: ModelIdentifier? = nil, role: RestorationArchive.Role? = nil,
      save: UInt32 = 0
    ) {
      self.classTag = classTag
      self.version = version
      self.priority = priority
      self.flags = flags
      self.savedAt = savedAt
      self.model = model
      self.role = role
      self.save = save
    }
  }

  /// Marks of a node: of the object's row, or of the record in the node.
  ///
  /// An object has a *row*: the node at its place. The row's first record is in that node; each further one is in a node of its
  /// own below it. `Docs/ArchiveFormat.md` has the numbers.
  package struct NodeFlags: OptionSet, Hashable, Sendable {
    /// The marks as stored.
    package let rawValue: UInt16

    /// Makes a set of its bits.
    package init(rawValue: UInt16) {
      self.rawValue = rawValue
    }

    /// A view of its parent, which is a controller.
    package static let view = NodeFlags(rawValue: 1 << 0)
    /// The class is the plain name of a Swift type, as the object names no tag.
    package static let namedByType = NodeFlags(rawValue: 1 << 1)
    /// A registered shared object: encoded once, referred to from many places.
    package static let shared = NodeFlags(rawValue: 1 << 2)
    /// Encoded by another object's reference, not by being a child.
    package static let byHand = NodeFlags(rawValue: 1 << 3)
    /// Made for the program's own use, such as the record of the app-level coder; no object answers to it.
    package static let reserved = NodeFlags(rawValue: 1 << 4)
    /// A row without an object in the run that wrote it; it came from the archive before.
    package static let carriedOver = NodeFlags(rawValue: 1 << 5)
    /// A row whose object left, or shows another model now: it waits for an object that it fits, and nobody is made for it.
    package static let absent = NodeFlags(rawValue: 1 << 6)
    /// A row at which restoring died: nothing is made there or below it until something newer is written there.
    package static let closed = NodeFlags(rawValue: 1 << 7)
    /// The name of the row has a number behind the identifier, as another row of the parent has that identifier.
    package static let numbered = NodeFlags(rawValue: 1 << 8)
    /// A further record of the row above.
    package static let record = NodeFlags(rawValue: 1 << 9)
    /// A record of an object that came by itself, and that was not edited since.
    package static let first = NodeFlags(rawValue: 1 << 10)
    /// A record that is given to nobody, because an attempt to restore it died.
    package static let quarantined = NodeFlags(rawValue: 1 << 11)
    /// A record that was too big and was not stored.
    ///
    /// Set by the writer; cleared when state is stored again.
    package static let shed = NodeFlags(rawValue: 1 << 12)

    /// Stands for a node that is in another part of the archive; see ``RestorationArchive/Part``.
    package static let hole = NodeFlags(rawValue: 1 << 13)

    /// A row that only leads to others.
    ///
    /// A run that could read one part of the state and not another one has written it beside: the object's state is in the
    /// readable part, and rows below it belong to the unreadable one.
    package static let way = NodeFlags(rawValue: 1 << 14)

    /// All that there are: any other is damage.
    static let known = NodeFlags(rawValue: (1 << 15) - 1)
  }
}

extension NodeID {
  /// The number of a node; nil for ``ArchiveHeader/rootID``.
  init?(unlessRoot number: UInt32) {
    if number == ArchiveHeader.rootID { return nil }
    self.init(rawValue: number)
  }
}
