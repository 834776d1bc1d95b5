extension RestorationArchive.PartedWriter {
  /// Puts rows in other parts, with their further records; what is below them stays in its part.
  ///
  /// Rows and records get other numbers, and so do children that become boundaries or cease to be ones. States are the
  /// same values against the other part's keys and shapes. A part that something left needs an archive: see
  /// ``partsToRemake``. When it throws, nothing has changed: `partAway` when a row, its place, or its new part is away,
  /// `invalidTree` for one without a place, `corrupt` for a state that can't be walked through.
  ///
  /// - Parameter parts: The new parts of rows.
  /// - Returns: The numbers that nodes have now, by the former ones.
  package mutating func assign(
    _ parts: [NodeID: RestorationArchive.Part]
  ) throws(ArchiveError) -> Renumbering {
    var rows: [(depth: Int, id: NodeID)] = []
    for (id, part) in parts where id.part != part {
      _ = try changeableNode(id)
      rows.append((try depth(of: id), id))
    }
    guard !rows.isEmpty else { return [:] }
    let before = self
    do throws(ArchiveError) {
      var assigning = Assigning()
      for (_, id) in rows.sorted(by: { ($0.depth, $0.id) < ($1.depth, $1.id) }) {
        guard let part = parts[id] else { continue }
        try transfer(assigning.current(id), to: part, &assigning)
      }
      try assigning.transcoding.end(&self)
      return assigning.renumbering
    } catch {
      self = before
      throw error
    }
  }

  /// Rows that are being put in other parts.
  private struct Assigning {
    private(set) var renumbering = RestorationArchive.PartedWriter.Renumbering()
    /// The former numbers of those that have others now.
    private var former: [NodeID: NodeID] = [:]
    var transcoding = RestorationArchive.PartedWriter.Transcoding()

    func current(_ id: NodeID) -> NodeID { renumbering[id] ?? id }

    mutating func note(_ id: NodeID, _ new: UInt32) {
      let (original, new) = (former.removeValue(forKey: id) ?? id, NodeID(rawValue: new))
      renumbering[original] = new
      former[new] = original
    }
  }

  private mutating func transfer(
    _ id: NodeID, to part: RestorationArchive.Part, _ assigning: inout Assigning
  ) throws(ArchiveError) {
    let node = try changeableNode(id)
    let owner = RestorationArchive.Part(listing: node.parent)
    guard isHere(owner), !waiting.contains(id.rawValue) else { throw ArchiveError.partAway(id) }
    guard !unplaced.contains(id.rawValue) else {
      throw ArchiveError(.invalidTree, "\(id) has no place; move it to one first")
    }
    try begin(part)
    let parent = node.parent?.rawValue ?? ArchiveHeader.rootID
    let new = owner == part ? read(part) { $0.nextID } : try drawNumber(in: part)
    let state = try transcodedState(of: id, to: part, &assigning)
    try change(part) { (writer) throws(ArchiveError) in
      try writer.insert(
        new, named: node.identifier, parent: parent, node.attributes, state: state,
        at: owner == part ? .before(id.rawValue) : .at(nil))
    }
    if owner != part {
      try change(owner) { (writer) throws(ArchiveError) in
        try writer.insertHole(new, parent: parent, at: .before(id.rawValue))
      }
    }
    for child in try children(of: id) { try hand(child, of: id, to: new, &assigning) }
    if isBoundary(id) {
      try change(owner) { (writer) throws(ArchiveError) in try writer.remove(id) }
    }
    try leave(id)
    try moveOversized(id, to: new)
    assigning.note(id, new)
  }

  /// Gives a row's child to the row's new node in another part.
  private mutating func hand(
    _ child: NodeID, of row: NodeID, to new: UInt32, _ assigning: inout Assigning
  ) throws(ArchiveError) {
    let part = RestorationArchive.Part(of: new)
    if child.part == row.part {
      let node = try changeableNode(child)
      guard !node.attributes.flags.contains(.record) else {
        let state = try transcodedState(of: child, to: part, &assigning)
        let record = try change(part) { (writer) throws(ArchiveError) in
          let record = writer.nextID
          try writer.insert(
            record, named: node.identifier, parent: new, node.attributes, state: state, at: .at(nil))
          return record
        }
        for one in try children(of: child) { try hand(one, of: child, to: record, &assigning) }
        try leave(child)
        try moveOversized(child, to: record)
        return assigning.note(child, record)
      }
      let boundary = try drawNumber(in: child.part)
      try renumber(child, to: boundary, parent: new, at: .at(nil))
      try change(part) { (writer) throws(ArchiveError) in
        try writer.insertHole(boundary, parent: new, at: .at(nil))
      }
      return assigning.note(child, boundary)
    }
    try change(row.part) { (writer) throws(ArchiveError) in try writer.remove(child) }
    if child.part == part, try ownNode(child) != nil {
      let inner = read(part) { $0.nextID }
      try renumber(child, to: inner, parent: new, at: .at(nil))
      return assigning.note(child, inner)
    }
    // Also a hole of what is away, or nowhere.
    try change(part) { (writer) throws(ArchiveError) in
      try writer.insertHole(child.rawValue, parent: new, at: .at(nil))
    }
    try adopt([child.rawValue], below: new)
  }

  private mutating func transcodedState(
    of id: NodeID, to part: RestorationArchive.Part, _ assigning: inout Assigning
  ) throws(ArchiveError) -> [UInt8] {
    do throws(ArchiveError) {
      let state = try located(id.part) { (writer) throws(ArchiveError) in try writer.state(of: id.rawValue) }
      return try assigning.transcoding.transcode(state, id.part, part, &self)
    } catch {
      var located = error
      located.path = try? path(of: id)
      throw located.located(in: id.part)
    }
  }

  /// Removes a node whose copy is in another part, and has its own made anew.
  private mutating func leave(_ id: NodeID) throws(ArchiveError) {
    try change(id.part) { (writer) throws(ArchiveError) in
      try writer.remove(id)
      writer.isToBeRemade = true
    }
  }

  private mutating func moveOversized(_ id: NodeID, to new: UInt32) throws(ArchiveError) {
    let shedding = try change(id.part) { (writer) throws(ArchiveError) in writer.oversized.removeValue(forKey: id) }
    guard var shedding else { return }
    shedding.node = NodeID(rawValue: new)
    try change(shedding.node.part) { (writer) throws(ArchiveError) in writer.oversized[shedding.node] = shedding }
  }
}
