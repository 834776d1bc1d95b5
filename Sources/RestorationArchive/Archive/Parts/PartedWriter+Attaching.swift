extension RestorationArchive {
  /// What a part brought along when it came.
  package struct Attachment: Sendable {
    /// Two siblings of one name: the one that came with the part, and the one that was inserted while it was away.
    package struct Clash: Hashable, Sendable {
      /// The node that keeps its name.
      package var kept: NodeID
      /// The node that needs another one; until then either is found by the name.
      package var newcomer: NodeID
    }

    /// The siblings of one name.
    package var clashes: [Clash] = []
    /// What doesn't fit in the whole tree, as it is now.
    package var irregularities = Irregularities()
  }
}

extension RestorationArchive.PartedWriter {
  /// Adds a part that was away: its nodes are found in the places of their holes.
  ///
  /// `corrupt` for an archive of another part, `invalidTree` when the part is here. When it throws, nothing has
  /// changed.
  package mutating func attach(
    _ reader: RestorationArchive.Reader, as part: RestorationArchive.Part
  ) throws(ArchiveError) -> RestorationArchive.Attachment {
    guard !isHere(part) else {
      throw ArchiveError(.invalidTree, "part \(part.rawValue) of the archive is here already")
    }
    guard reader.core.part == part.rawValue else {
      throw ArchiveError(
        .corrupt, "an archive of part \(reader.core.part) stands in the place of part \(part.rawValue)")
    }
    let before = self
    do throws(ArchiveError) {
      if further.isEmpty { further = [nil, nil, nil] }
      let writer = try RestorationArchive.Writer(continuing: reader, limits: limits)
      if writer.context.timeSaved > context.timeSaved { context.timeSaved = writer.context.timeSaved }
      further[Int(part.rawValue) - 1] = writer
      away.remove(part)
      let crossings = try crossings()
      try take(crossings)
      return .init(clashes: try clashes(of: part), irregularities: .init(crossings))
    } catch {
      self = before
      throw error
    }
  }

  /// The siblings of one name of which one came with a part.
  private func clashes(
    of part: RestorationArchive.Part
  ) throws(ArchiveError) -> [RestorationArchive.Attachment.Clash] {
    var clashes: [RestorationArchive.Attachment.Clash] = []
    for one in parts {
      for crossing in try read(one, { (writer) throws(ArchiveError) in try writer.crossings() }) {
        let id = NodeID(rawValue: crossing.number)
        guard id.part == one, !isNowhere(id), let node = try ownNode(id) else { continue }
        let owner = RestorationArchive.Part(listing: node.parent)
        guard one == part || owner == part else { continue }
        for other in parts where other != one {
          let twin = try located(other) { (writer) throws(ArchiveError) in
            try writer.child(of: node.parent, identifier: node.identifier)
          }
          guard let twin, !isNowhere(twin), other == owner || twin.part == other else { continue }
          // One of another part that came before may have been inserted meanwhile, or be as old.
          guard one == part || other == part else { continue }
          let kept = one == part ? id : twin
          let clash = RestorationArchive.Attachment.Clash(kept: kept, newcomer: kept == id ? twin : id)
          if !clashes.contains(clash) { clashes.append(clash) }
        }
      }
    }
    return clashes
  }
}
