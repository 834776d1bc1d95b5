extension RestorationArchive {
  /// Reads single nodes of a tree of several parts, and opens a part when a path first leads into it.
  ///
  /// It finds what a ``PartedReader`` of all parts finds.
  package struct NodeFinder {
    /// What became of opening a part.
    package enum Opening {
      /// It can be read.
      case here(Reader)
      /// It can't be read now.
      case away
      /// It is not there, or damaged.
      case none
    }

    private var reader: PartedReader
    /// Those that no path has led into; they count as away.
    private var unopened: Set<Part>
    private let open: (Part) throws(ArchiveError) -> Opening

    /// Begins with the first part.
    ///
    /// - Parameters:
    ///   - further: The other parts that there are.
    ///   - open: Opens one of them; called once for each, if that throws nothing.
    package init(
      first: Reader, further: Set<Part>, open: @escaping (Part) throws(ArchiveError) -> Opening
    ) throws(ArchiveError) {
      reader = try PartedReader(first: first, further: [:], away: further)
      unopened = further
      self.open = open
    }

    /// The state of the node at a path; nil when there is none.
    package mutating func record(at path: RestorationPath) throws(ArchiveError) -> Record? {
      try id(at: path).map { id throws(ArchiveError) in try reader.record(of: id) }
    }

    /// The number of the node at a path; nil when there is none.
    package mutating func id(at path: RestorationPath) throws(ArchiveError) -> NodeID? {
      guard path.components.count <= reader.first.core.limits.depth else { return nil }
      var node: NodeID?
      for component in path.components {
        node = try child(of: node, component)
        if node == nil { return nil }
      }
      return node
    }

    private mutating func child(
      of parent: NodeID?, _ identifier: RestorationIdentifier
    ) throws(ArchiveError) -> NodeID? {
      if unopened.isEmpty { return try reader.child(of: parent, identifier: identifier) }
      let owner = Part(listing: parent)
      if let child = try child(of: parent, identifier, in: owner) { return child }
      // Its hole says where it is.
      let children = try reader.located(owner) { (part) throws(ArchiveError) in
        try part.core.children(of: parent?.rawValue ?? ArchiveHeader.rootID)
      }
      for part in Set((children ?? []).lazy.map(Part.init(of:))).subtracting([owner]).sorted() {
        try require(part)
        guard let child = try child(of: parent, identifier, in: part), child.part == part else { continue }
        if try reader.hasHole(child, below: parent) { return child }
      }
      // It is nowhere, or in another place than it says.
      for part in unopened.sorted() { try require(part) }
      return try reader.child(of: parent, identifier: identifier)
    }

    private func child(
      of parent: NodeID?, _ identifier: RestorationIdentifier, in part: Part
    ) throws(ArchiveError) -> NodeID? {
      try reader.located(part) { (part) throws(ArchiveError) in
        try part.child(of: parent, identifier: identifier)
      }
    }

    private mutating func require(_ part: Part) throws(ArchiveError) {
      guard unopened.contains(part) else { return }
      switch try open(part) {
      case .here(let opened): try reader.attach(opened, as: part)
      case .away: break
      case .none: try reader.forget(part)
      }
      unopened.remove(part)
    }
  }
}
