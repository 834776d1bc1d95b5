extension RestorationArchive.Writer {
  /// A node of another archive and the node here that gets its state.
  package struct Copy: Sendable {
    /// The node there.
    package var source: NodeID
    /// The node here.
    package var target: NodeID
    /// What the node here is to have besides the state.
    package var attributes: RestorationArchive.Attributes

    /// Describes a copy.
    package init(source: NodeID, target: NodeID, attributes: RestorationArchive.Attributes) {
      self.source = source
      self.target = target
      self.attributes = attributes
    }
  }

  /// Gives nodes the state that nodes of another archive have, bit for bit, without knowing its types.
  ///
  /// When it throws, the nodes before the one that it throws about have theirs.
  package mutating func copyRecords(
    _ copies: [Copy], from other: RestorationArchive.Reader
  ) throws(ArchiveError) {
    guard !copies.isEmpty else { return }
    var transcoder = RecordTranscoder(from: try other.core.tables().coding.content, to: tables.content)
    defer { tables.replace(transcoder.target) }
    for copy in copies {
      let slot = try load(copy.target)
      guard let node = try other.core.node(copy.source.rawValue) else { throw ArchiveError.noSuchNode(copy.source) }
      let bytes = try other.core.payload(at: node.state)
      try store(bytes.isEmpty ? [] : transcoder.transcode(bytes), copy.attributes, in: slot)
    }
  }
}
