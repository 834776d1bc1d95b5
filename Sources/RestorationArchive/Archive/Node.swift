package import FoundationEssentials

extension RestorationArchive {
  /// What an archive knows of one preserved object without decoding its state.
  package struct Node: Hashable, Sendable, Identifiable {
    /// The node's number in its lineage.
    package var id: NodeID
    /// The parent's number; nil for a root.
    package var parent: NodeID?
    /// The object's identifier, unique among its siblings.
    package var identifier: RestorationIdentifier
    /// What the object was and how its state is to be treated.
    package var attributes: Attributes
    /// The number of bytes of the object's encoded state; zero when it has none, or it was left out.
    package var byteCount: Int
  }

  /// What a writer is told of a node besides its place and its state.
  package struct Attributes: Hashable, Sendable {
    /// The tag of the class that remakes the object; nil when it named none.
    package var classTag: RestorationClass?
    /// The version of the object's state.
    package var version: StateVersion
    /// How soon the state is left out when there is too much of it.
    package var priority: PreservationPriority
    /// What kind of object it is and what became of its state.
    package var flags: NodeFlags
    /// When an object last gave this state; nil when the program doesn't say.
    ///
    /// Kept to the bit.
    package var savedAt: Date?
    /// The element of the data model that the object shows; nil when it shows none.
    package var model: ModelIdentifier?
    /// The role of the object, in its parent's words; nil when its place says it.
    package var role: RestorationRole?
    /// The number of the save that wrote the state, which orders the states of one object; 0 when the program doesn't count.
    package var save: UInt32

    /// Makes attributes.
    package init(
      classTag: RestorationClass? = nil, version: StateVersion = 1, priority: PreservationPriority = .normal,
      flags: NodeFlags = [], savedAt: Date? = nil, model: ModelIdentifier? = nil, role: RestorationRole? = nil,
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

  /// Marks of a node.
  package struct NodeFlags: OptionSet, Hashable, Sendable {
    /// The marks as stored.
    package let rawValue: UInt16

    /// Makes a set of its bits.
    package init(rawValue: UInt16) {
      self.rawValue = rawValue
    }

    /// A view of its parent, which is a controller.
    package static let view = NodeFlags(rawValue: 1 << 0)
    /// A registered shared object: encoded once, referred to from many places.
    package static let shared = NodeFlags(rawValue: 1 << 1)
    /// Nobody asked for this state in the run that preserved it; it came from the archive before.
    package static let carriedOver = NodeFlags(rawValue: 1 << 2)
    /// Not given to anybody, because an attempt to restore it died.
    package static let quarantined = NodeFlags(rawValue: 1 << 3)
    /// Its state was too big and was not stored.
    ///
    /// Set by the writer; cleared when state is stored again.
    package static let shed = NodeFlags(rawValue: 1 << 4)
    /// Made for the program's own use, such as the record of the app-level coder; no object answers to it.
    package static let reserved = NodeFlags(rawValue: 1 << 5)
  }
}

extension NodeID {
  /// The number of a node; nil for ``PartHeader/rootID``.
  init?(unlessRoot number: UInt32) {
    if number == PartHeader.rootID { return nil }
    self.init(rawValue: number)
  }
}
