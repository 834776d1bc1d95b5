import FoundationShim

extension RestorationArchive.Writer {
  /// Encodes and stores a node's state, in the place of what it had, and its attributes.
  ///
  /// Encoding happens now, on the caller's thread. When it throws (`encodingFailed`, with the node's path) the node
  /// keeps what it had. State over ``RestorationArchive/Limits/bytesPerNode`` is not stored, unless its priority is
  /// `required`; either way ``takeSheddings()`` tells of it. The same bytes as before, with the same attributes but for
  /// `savedAt` and `save`, leave the node unchanged: nothing is written for them.
  ///
  /// - Parameter flagsIfSame: Flags that are added where the node has just this state already.
  /// - Returns: Whether the node has changed.
  @discardableResult
  package mutating func setRecord(
    of id: NodeID, entries: [RestorationArchive.Entry], attributes: RestorationArchive.Attributes,
    flagsIfSame: RestorationArchive.NodeFlags = [], userInfo: [CodingUserInfoKey: any Sendable] = [:]
  ) throws(ArchiveError) -> Bool {
    let slot = try load(id)
    try requireNoHole(slot)
    var bytes: [UInt8]
    do {
      let encoder = RecordEncoder(userInfo: userInfo, depthLimit: limits.valueDepth)
      bytes = entries.isEmpty ? [] : try encoder.encode(entries, tables: &tables)
    } catch {
      var located = error
      located.path = try? path(of: id)
      throw located
    }
    var attributes = attributes
    attributes.flags.remove(.shed)
    if !flagsIfSame.isEmpty, hasState(bytes, slot) { attributes.flags.formUnion(flagsIfSame) }
    if !oversized.isEmpty { oversized[id] = nil }
    if bytes.count > limits.bytesPerNode {
      let isLeftOut = attributes.priority != .required
      oversized[id] = RestorationArchive.Shedding(
        path: try path(of: id), node: id, priority: attributes.priority, byteCount: bytes.count, budget: .node,
        isLeftOut: isLeftOut)
      if isLeftOut {
        bytes = []
        attributes.flags.insert(.shed)
      }
    }
    return try store(bytes, attributes, in: slot)
  }

  /// Whether a node has just the state that these values make.
  ///
  /// Throws (`encodingFailed`) when a value can't be encoded.
  package mutating func hasRecord(
    of id: NodeID, entries: [RestorationArchive.Entry]
  ) throws(ArchiveError) -> Bool {
    let slot = try load(id)
    let encoder = RecordEncoder(userInfo: [:], depthLimit: limits.valueDepth)
    return hasState(entries.isEmpty ? [] : try encoder.encode(entries, tables: &tables), slot)
  }

  /// Whether these bytes are those of a node's state; not those of one that can't be read.
  private func hasState(_ bytes: [UInt8], _ slot: Int) -> Bool {
    guard bytes.count == slots[slot].payload.count else { return false }
    var isSame = false
    try? slots[slot].payload.withBytes(base: baseBytes, reader: reader) { old in
      isSame = bytes.withBorrowed { old.hasSameBytes(as: $0) }
    }
    return isSame
  }

  /// Takes a node's state away and leaves its attributes alone.
  package mutating func removeState(of id: NodeID) throws(ArchiveError) {
    let slot = try load(id)
    oversized[id] = nil
    try store([], slots[slot].attributes, in: slot)
  }

  /// Gives a node the state that another one has, in the place of its own; the other one has none afterwards.
  ///
  /// Not their attributes: whoever moves a state moves what these say of it.
  package mutating func moveState(of source: NodeID, to target: NodeID) throws(ArchiveError) {
    let (from, to) = (try load(source), try load(target))
    guard from != to else { return }
    include(from)
    include(to)
    let payload = slots[from].payload
    liveBytes -= slots[to].payload.count
    change(to) {
      $0.payload = payload
      $0.isChanged = true
    }
    change(from) {
      $0.payload = .none
      $0.isChanged = true
    }
  }

  /// Changes a node's attributes and leaves its state alone.
  package mutating func setAttributes(
    _ attributes: RestorationArchive.Attributes, of id: NodeID
  ) throws(ArchiveError) {
    let slot = try load(id)
    guard slots[slot].attributes != attributes else { return }
    try requireNoHole(slot)
    change(slot) {
      $0.attributes = attributes
      $0.isChanged = true
    }
  }

  /// Puts bytes in the place of a node's state; returns whether that changes anything.
  @discardableResult
  mutating func store(
    _ state: [UInt8], _ attributes: RestorationArchive.Attributes, in slot: Int
  ) throws(ArchiveError) -> Bool {
    var comparable = attributes
    comparable.savedAt = slots[slot].attributes.savedAt
    comparable.save = slots[slot].attributes.save
    // One that can't be read is replaced.
    if comparable == slots[slot].attributes, hasState(state, slot) { return false }
    include(slot)
    liveBytes += state.count - slots[slot].payload.count
    change(slot) {
      $0.payload = .bytes(state)
      $0.attributes = attributes
      $0.isChanged = true
    }
    return true
  }

  /// The index of a class tag, which is added when it is new.
  mutating func index(of tag: RestorationArchive.ClassTag?) -> UInt32? { Self.index(of: tag, &tags, &tagIndex) }

  /// The index of a class tag among some, to which it is added when it is new.
  static func index(
    of tag: RestorationArchive.ClassTag?, _ tags: inout [RestorationArchive.ClassTag],
    _ tagIndex: inout [RestorationArchive.ClassTag: UInt32]
  ) -> UInt32? {
    guard let tag else { return nil }
    // Looking through a few is cheaper than hashing one.
    for index in 0..<min(tags.count, 16) where tags[index] == tag { return UInt32(index) }
    if let index = tagIndex[tag] { return index }
    let index = UInt32(tags.count)
    tags.append(tag)
    tagIndex[tag] = index
    return index
  }
}
