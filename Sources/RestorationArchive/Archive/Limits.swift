extension RestorationArchive {
  /// The bounds that reading enforces against damage and writing against excess.
  package struct Limits: Hashable, Sendable {
    /// The most nodes an archive may have.
    package var nodeCount: Int
    /// The most levels the tree may have.
    ///
    /// Nesting inside one value has the bound ``valueDepth``.
    package var depth: Int
    /// The greatest depth of a value; see ``ArchiveEncoder/depthLimit``.
    package var valueDepth: Int
    /// The budget of one node's encoded state, in bytes.
    ///
    /// A bigger one is shed and reported.
    package var bytesPerNode: Int
    /// The budget of an archive's live bytes.
    ///
    /// Over it the lowest priorities are shed and reported, until there is room for them again.
    package var bytesPerArchive: Int
    /// The most recently read bytes that a reader may keep, in bytes.
    package var readerCacheBytes: Int

    /// Makes limits.
    package init(
      nodeCount: Int = 1 << 22, depth: Int = 1024, valueDepth: Int = CodingLimits.usualDepth,
      bytesPerNode: Int = 1 << 20, bytesPerArchive: Int = 256 << 20, readerCacheBytes: Int = 8 << 20
    ) {
      self.nodeCount = nodeCount
      self.depth = depth
      self.valueDepth = valueDepth
      self.bytesPerNode = bytesPerNode
      self.bytesPerArchive = bytesPerArchive
      self.readerCacheBytes = readerCacheBytes
    }

    /// Four million nodes, 1 024 levels of them and 128 of values, 1 MiB a node, 256 MiB an archive, 8 MiB of cache.
    package static let `default` = Limits()
  }
}
