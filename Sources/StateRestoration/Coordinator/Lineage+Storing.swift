internal import FoundationEssentials
internal import RestorationArchive

extension Lineage {
  /// Brings the app-level state up to date; one that can't be encoded keeps what it had.
  mutating func storeApplication(
    of batch: CaptureBatch, _ findings: inout [PreservationFinding]
  ) throws(ArchiveError) {
    isApplicationUnencoded = false
    guard let application = batch.application, !application.isEmpty || hasApplicationNode else { return }
    do {
      if batch.setsApplicationAside {
        try tryEncoding(application)
        try setApplicationAside()
      }
      try writer.setRecord(
        of: try reserved(ReservedNode.application), entries: application,
        attributes: .init(priority: .required, flags: .reserved))
    } catch {
      guard error.isOfValues else { throw error }
      isApplicationUnencoded = true
      findings.append(.encodingFailed(path: [], message: error.message))
    }
  }

  /// Fails as storing the values would, and changes nothing.
  private func tryEncoding(_ entries: [RestorationArchive.Entry]) throws(ArchiveError) {
    var tables = CodingTables()
    _ = try RecordEncoder().encode(entries, tables: &tables)
  }

  private var hasApplicationNode: Bool {
    ((try? writer.child(of: nil, identifier: ReservedNode.application)) ?? nil) != nil
  }

  /// Keeps the stored app-level state, once.
  private mutating func setApplicationAside() throws(ArchiveError) {
    guard !hasSetApplicationAside, let stored = try writer.child(of: nil, identifier: ReservedNode.application) else {
      return
    }
    hasSetApplicationAside = true
    try keep(stored, path: [ReservedNode.application])
  }

  /// Brings an object's state up to date; one that can't be encoded keeps what it had.
  mutating func store(
    _ record: CaptureBatch.Record, of batch: CaptureBatch, _ findings: inout [PreservationFinding]
  ) throws(ArchiveError) {
    guard let node = node(record.key) else { return }
    let attributes = batch.attributes(of: record)
    if record.flags.contains(.untouched), try !takesUntouched(node) { return }
    let entries = batch.entries(of: record)
    do {
      let node = try makeRoom(for: record, entries, attributes, at: node)
      if try writer.setRecord(of: node, entries: entries, attributes: attributes) {
        changed.insert(record.key)
      } else if try renewAge(of: node, attributes.savedAt) {
        changed.insert(record.key)
      }
    } catch {
      guard error.isOfValues else { throw error }
      findings.append(.encodingFailed(path: path(of: node), message: error.message))
      unencoded.append(record.key)
      return try storeFacts(of: record, entries, attributes, at: node)
    }
    let bytes = try writer.node(self.node(record.key) ?? node)?.byteCount ?? 0
    if bytes > nodeBudget {
      overBudget[record.key] = bytes
    } else if !overBudget.isEmpty {
      overBudget[record.key] = nil
    }
  }

  /// Records with state that is the same when its object was there last; returns whether that is another time.
  private mutating func renewAge(of node: NodeID, _ savedAt: Date?) throws(ArchiveError) -> Bool {
    guard let savedAt, var attributes = try writer.node(node)?.attributes, attributes.savedAt != savedAt else {
      return false
    }
    attributes.savedAt = savedAt
    try writer.setAttributes(attributes, of: node)
    return true
  }

  /// Sets aside what a record must not replace, once it is sure that the record can be encoded; returns its node.
  private mutating func makeRoom(
    for record: CaptureBatch.Record, _ entries: [RestorationArchive.Entry], _ attributes: RestorationArchive.Attributes,
    at node: NodeID
  ) throws(ArchiveError) -> NodeID {
    let isUnmatched = unmatched.contains(record.key)
    guard record.setsStoredAside || isUnmatched || attributes.model != nil else { return node }
    let stored = try writer.node(node)
    let isRefused = record.setsStoredAside || (isUnmatched && stored.map { !attributes.replaces($0) } ?? false)
    let isOfOtherModel = attributes.model != nil && stored?.attributes.model.map { $0 != attributes.model } ?? false
    if isRefused || isOfOtherModel {
      do {
        try tryEncoding(entries)
      } catch {
        if record.setsStoredAside { postponed.append(record.key) }
        throw error
      }
    }
    unmatched.remove(record.key)
    if isRefused {
      try setAside(record.key)
    } else if isUnmatched {
      takenOver.append(node)
    }
    let place = self.node(record.key) ?? node
    if isOfOtherModel { try keepChildren(of: place) }
    return place
  }

  /// What is known of an object whose values can't be encoded: that it is there, and of a new one all but the values.
  private mutating func storeFacts(
    of record: CaptureBatch.Record, _ entries: [RestorationArchive.Entry], _ attributes: RestorationArchive.Attributes,
    at node: NodeID
  ) throws(ArchiveError) {
    guard let stored = try writer.node(node) else { return }
    guard stored.byteCount == 0, !attributes.isOther(than: stored) else { return try clearCarriedOver(record.key) }
    let role = entries.filter { $0.key == ReservedKey.role }
    if try writer.setRecord(of: node, entries: role, attributes: attributes) { changed.insert(record.key) }
  }

  /// An object is there again: its state is not left over from an earlier run any more.
  mutating func clearCarriedOver(_ key: CaptureBatch.Key) throws(ArchiveError) {
    guard let node = node(key), var attributes = try writer.node(node)?.attributes,
      attributes.flags.remove(.carriedOver) != nil
    else { return }
    try writer.setAttributes(attributes, of: node)
  }
}

extension ArchiveError {
  /// Whether it is a matter of what was to be encoded, and not of the archive.
  fileprivate var isOfValues: Bool { code == .encodingFailed || code == .limitExceeded }
}
