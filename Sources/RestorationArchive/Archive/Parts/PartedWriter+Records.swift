import FoundationShim

extension RestorationArchive.PartedWriter {
  /// Encodes and stores a node's state, in the place of what it had, and its attributes.
  ///
  /// See ``RestorationArchive/Writer/setRecord(of:entries:attributes:flagsIfSame:userInfo:)``.
  @discardableResult
  package mutating func setRecord(
    of id: NodeID, entries: [RestorationArchive.Entry], attributes: RestorationArchive.Attributes,
    flagsIfSame: RestorationArchive.NodeFlags = [], userInfo: [CodingUserInfoKey: any Sendable] = [:]
  ) throws(ArchiveError) -> Bool {
    if further.isEmpty {
      return try first.setRecord(
        of: id, entries: entries, attributes: attributes, flagsIfSame: flagsIfSame, userInfo: userInfo)
    }
    do throws(ArchiveError) {
      let isChanged = try changePart(of: id) { (writer) throws(ArchiveError) in
        try writer.setRecord(
          of: id, entries: entries, attributes: attributes, flagsIfSame: flagsIfSame, userInfo: userInfo)
      }
      completePaths(in: id.part)
      return isChanged
    } catch {
      var located = error
      if located.path != nil { located.path = try? path(of: id) }
      throw located
    }
  }

  /// Whether a node has just the state that these values make; `encodingFailed` when a value can't be encoded.
  package mutating func hasRecord(
    of id: NodeID, entries: [RestorationArchive.Entry]
  ) throws(ArchiveError) -> Bool {
    if further.isEmpty { return try first.hasRecord(of: id, entries: entries) }
    return try changePart(of: id) { (writer) throws(ArchiveError) in try writer.hasRecord(of: id, entries: entries) }
  }

  /// Takes a node's state away and leaves its attributes alone.
  package mutating func removeState(of id: NodeID) throws(ArchiveError) {
    if further.isEmpty { return try first.removeState(of: id) }
    try changePart(of: id) { (writer) throws(ArchiveError) in try writer.removeState(of: id) }
  }

  /// Gives a node the state that another one has, in the place of its own; the other one has none afterwards.
  ///
  /// Not their attributes: whoever moves a state moves what these say of it. What left its part is not in its next
  /// archive.
  package mutating func moveState(of source: NodeID, to target: NodeID) throws(ArchiveError) {
    if further.isEmpty { return try first.moveState(of: source, to: target) }
    _ = (try changeableNode(source), try changeableNode(target))
    let (from, to) = (source.part, target.part)
    guard from != to else {
      return try change(to) { (writer) throws(ArchiveError) in try writer.moveState(of: source, to: target) }
    }
    let state = try located(from) { (writer) throws(ArchiveError) in try writer.state(of: source.rawValue) }
    var transcoding = Transcoding()
    let bytes = try transcoding.transcode(state, from, to, &self)
    try transcoding.end(&self)
    try change(to) { (writer) throws(ArchiveError) in try writer.setState(bytes, of: target.rawValue) }
    try change(from) { (writer) throws(ArchiveError) in
      try writer.removeState(of: source)
      writer.isToBeRemade = true
    }
  }

  /// Changes a node's attributes and leaves its state alone.
  package mutating func setAttributes(
    _ attributes: RestorationArchive.Attributes, of id: NodeID
  ) throws(ArchiveError) {
    if further.isEmpty { return try first.setAttributes(attributes, of: id) }
    try changePart(of: id) { (writer) throws(ArchiveError) in try writer.setAttributes(attributes, of: id) }
  }

  /// Changes the part of a node, which may be away, or a hole: `partAway`.
  @inline(__always)
  @discardableResult
  private mutating func changePart<Result>(
    of id: NodeID, _ body: (inout RestorationArchive.Writer) throws(ArchiveError) -> Result
  ) throws(ArchiveError) -> Result {
    guard isHere(id.part) else {
      _ = try changeableNode(id)
      throw ArchiveError.noSuchNode(id)
    }
    do throws(ArchiveError) {
      return try change(id.part, body)
    } catch {
      if error.code == .noSuchNode { _ = try changeableNode(id) }
      throw error
    }
  }

  /// Gives nodes the state that nodes of another tree have, bit for bit, without knowing its types.
  ///
  /// When it throws, some of the nodes have theirs.
  package mutating func copyRecords(
    _ copies: [RestorationArchive.Writer.Copy], from other: RestorationArchive.PartedReader
  ) throws(ArchiveError) {
    if further.isEmpty, other.further.isEmpty { return try first.copyRecords(copies, from: other.first) }
    for from in RestorationArchive.Part.allCases {
      for to in RestorationArchive.Part.allCases {
        let group = copies.filter { $0.source.part == from && $0.target.part == to }
        guard !group.isEmpty else { continue }
        for copy in group { _ = try changeableNode(copy.target) }
        guard let reader = other.reader(of: from) else { throw ArchiveError.noSuchNode(group[0].source) }
        try change(to) { (writer) throws(ArchiveError) in try writer.copyRecords(group, from: reader) }
      }
    }
  }

  /// Takes the states over a budget that were not told of before, part by part; see
  /// ``RestorationArchive/Writer/takeSheddings()``.
  package mutating func takeSheddings() -> [RestorationArchive.Shedding] {
    if further.isEmpty { return first.takeSheddings() }
    var sheddings: [RestorationArchive.Shedding] = []
    for part in parts {
      try? change(part) { (writer) throws(ArchiveError) in sheddings += writer.takeSheddings() }
    }
    return sheddings
  }

  /// Has a part's sheddings tell paths of the whole tree, where the part knows its own only.
  mutating func completePaths(in part: RestorationArchive.Part) {
    guard !further.isEmpty, read(part, { !$0.oversized.isEmpty || !$0.sheddings.isEmpty }) else { return }
    let (oversized, sheddings) = read(part) { ($0.oversized, $0.sheddings) }
    let (all, others) = (oversized.mapValues(completed), sheddings.map(completed))
    try? change(part) { (writer) throws(ArchiveError) in (writer.oversized, writer.sheddings) = (all, others) }
  }

  private func completed(_ shedding: RestorationArchive.Shedding) -> RestorationArchive.Shedding {
    var completed = shedding
    completed.path = (try? path(of: shedding.node)) ?? shedding.path
    return completed
  }

  /// States that go from one part's tables to another's, many in a row.
  struct Transcoding {
    private var current: (from: RestorationArchive.Part, to: RestorationArchive.Part, transcoder: RecordTranscoder)?

    /// The bytes of a state against another part's tables.
    ///
    /// These must go there before anything else is encoded: see ``end(_:)``.
    mutating func transcode(
      _ state: Data, _ from: RestorationArchive.Part, _ to: RestorationArchive.Part,
      _ writer: inout RestorationArchive.PartedWriter
    ) throws(ArchiveError) -> [UInt8] {
      guard !state.isEmpty else { return [] }
      if current?.from != from || current?.to != to {
        try end(&writer)
        let source = writer.read(from) { $0.tables.content }
        current = (from, to, RecordTranscoder(from: source, to: writer.read(to) { $0.tables.content }))
      }
      return try current?.transcoder.transcode(state) ?? []
    }

    /// Gives the other part its tables.
    mutating func end(_ writer: inout RestorationArchive.PartedWriter) throws(ArchiveError) {
      guard let (_, to, transcoder) = current.take() else { return }
      try writer.change(to) { (writer) throws(ArchiveError) in writer.tables.replace(transcoder.target) }
    }
  }
}
