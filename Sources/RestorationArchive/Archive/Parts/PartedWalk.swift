extension RestorationArchive {
  /// A look at every node of a tree of several parts, one by one: what all of them need is looked up once.
  package struct PartedWalk: Sendable {
    /// The class tags of all parts, by index.
    package let tags: [RestorationArchive.ClassTag]
    private let reader: PartedReader
    private let first: Walk
    /// The other parts, and the index of the first of their class tags.
    private let further: [(walk: Walk, firstTag: Int)?]
    /// The parts that are here.
    private let parts: [Part]

    /// Begins a walk; reads the tables.
    package init(_ reader: PartedReader) {
      self.reader = reader
      first = Walk(reader.first)
      var tags = first.tags
      further = reader.further.map { part in
        guard let part else { return nil }
        let walk = Walk(part)
        defer { tags += walk.tags }
        return (walk, tags.count)
      }
      self.tags = tags
      parts = reader.parts
    }

    /// Looks a node up, with its subtree, or the hole in its place; nil when there is neither.
    package func visit(_ id: NodeID) throws(ArchiveError) -> Visit? {
      if further.isEmpty { return try first.visit(id) }
      guard id.rawValue != ArchiveHeader.rootID else { return nil }
      if let (walk, firstTag) = part(id.part) {
        do throws(ArchiveError) {
          if var visit = try walk.visit(id) {
            visit.tag = visit.tag.map { $0 + firstTag }
            visit.part = id.part
            visit.children = try reader.shown(visit.children, in: id.part)
            return visit
          }
        } catch {
          throw error.located(in: id.part)
        }
      }
      return try hasHole(id) ? Visit(holeOf: id) : nil
    }

    /// Whether a part has a hole of a node that is not here: nothing but that it is there is to be known of it.
    private func hasHole(_ id: NodeID) throws(ArchiveError) -> Bool {
      guard NodeNumber.isCrossing(id.rawValue) else { return false }
      for part in parts where part != id.part {
        let hole = try reader.located(part) { (part) throws(ArchiveError) in try part.core.node(id.rawValue) }
        if hole != nil { return true }
      }
      return false
    }

    /// What decodes a node's state; nil when it has none.
    package func decoder(of visit: Visit) throws(ArchiveError) -> RecordDecoder? {
      guard visit.part != .first, let (walk, _) = part(visit.part) else { return try first.decoder(of: visit) }
      do throws(ArchiveError) {
        return try walk.decoder(of: visit)
      } catch {
        throw error.located(in: visit.part)
      }
    }

    private func part(_ part: Part) -> (walk: Walk, firstTag: Int)? {
      part == .first ? (first, 0) : further[Int(part.rawValue) - 1]
    }
  }
}
