internal import RestorationArchive

extension ArchiveDraft {
  /// The table *Commit*: brings the archive up to date with a capture; values are encoded here.
  mutating func commit(_ batch: CaptureBatch) throws(ArchiveError) -> [PreservationFinding] {
    var findings: [PreservationFinding] = []
    let known = changed
    if let tags = batch.tags { self.tags = tags }
    let outgrown = batch.successions.compactMap { former, key in binding(former)?.node.map { ($0, key) } }
    for key in batch.releases { forget(key) }
    if !batch.placements.isEmpty {
      let arrivals = Arrivals(batch)
      try bindRestored(arrivals)
      for placement in batch.placements { try placeIfPossible(placement, arrivals) }
    }
    for (node, key) in outgrown where ownerOf[node] == nil {
      // What takes its place, or another one, has to be stored for that.
      if case .owner? = binding(key) { try retire(node) }
    }
    let leaving = Set(batch.removals)
    for key in batch.removals { try leave(key, with: leaving) }
    for node in batch.removedNodes where ownerOf[node] == nil { try remove(node) }
    for order in batch.orders { try arrange(order) }
    for record in batch.records { try store(record, of: batch, &findings) }
    // What restoring has made of the values is nobody's edit.
    if batch.isMeeting { changed = known }
    for (path, message) in unplaced.values.compactMap(\.self).sorted(by: {
      $0.path.components.count < $1.path.components.count
    }) {
      findings.append(.encodingFailed(path: path, message: message))
    }
    for (key, bytes) in overBudget.sorted(by: { $0.key < $1.key }) {
      guard let node = binding(key)?.node else { continue }
      findings.append(.overBudget(path: path(of: node), bytes: bytes, limit: nodeBudget))
    }
    try boundDormants()
    return findings
  }

  /// Forgets a live object; what it owned is carried over.
  private mutating func forget(_ key: CaptureBatch.Key) {
    unbind(key)
    unencoded.remove(key)
    unplaced[key] = nil
    firstValues[key] = nil
  }

  /// The table *Leave*: an owner's variant goes with its subtree; one that its object could not read goes dormant.
  ///
  /// - Parameter leaving: All that leave, children before their parents: a subtree goes dormant whole.
  private mutating func leave(_ key: CaptureBatch.Key, with leaving: Set<CaptureBatch.Key>) throws(ArchiveError) {
    let former = binding(key)
    forget(key)
    switch former {
    case .owner(let node)?: try remove(node)
    case .blank(let blank)?:
      guard let over = blank.over else { break }
      if blank.hasRead { return try remove(over) }
      if try !goesAlong(over, with: blank.place.parent, leaving) { try retire(over) }
    case nil: break
    }
  }

  /// Whether a variant goes dormant with that of a parent that leaves, too.
  private func goesAlong(
    _ node: NodeID, with parent: CaptureBatch.Key?, _ leaving: Set<CaptureBatch.Key>
  ) throws(ArchiveError) -> Bool {
    guard let parent, leaving.contains(parent), case .blank(let blank)? = binding(parent), let above = blank.over
    else { return false }
    return try writer.node(node)?.parent == above
  }

  /// Brings one object's record up to date; the stored one stays if the values can't be encoded.
  private mutating func store(
    _ record: CaptureBatch.Record, of batch: CaptureBatch, _ findings: inout [PreservationFinding]
  ) throws(ArchiveError) {
    // Noted again if that is still so.
    if !unencoded.isEmpty { unencoded.remove(record.key) }
    let node: NodeID
    switch binding(record.key) {
    case nil: return
    case .owner(let own)?: node = own
    case .blank(let blank)?:
      let edited: NodeID?
      do throws(ArchiveError) {
        edited = try self.edited(blank, record, of: batch, &findings)
      } catch {
        return try refuse(blank.place, because: error)
      }
      guard let own = edited else {
        if let over = blank.over { try storeStanding(batch.attributes(of: record), of: over, isOwner: false) }
        return
      }
      node = own
    }
    let entries = batch.entries(of: record)
    var attributes = batch.attributes(of: record)
    // While the object names no model, the state stays that of the one it was.
    if attributes.model == nil { attributes.model = try writer.node(node)?.attributes.model }
    // Until the values differ from the first ones, whatever model the object names by then.
    if let first = firstValues[record.key] {
      let now = (try? digests.digest(batch.comparedEntries(of: record))).map(Baseline.values)
      if first == .unknown { firstValues[record.key] = now }
      if first == .unknown || now == nil || now == first {
        attributes.flags.insert(.unedited)
      } else {
        firstValues[record.key] = nil
      }
    }
    do {
      if try writer.setRecord(of: node, entries: entries, attributes: attributes) { changed.insert(record.key) }
    } catch {
      guard error.isOfValues else { throw error }
      noteUnencoded(record.key, at: path(of: node), error, &findings)
      return try storeStanding(attributes, of: node, isOwner: true)
    }
    for replaced in try replaced(below: node) { try remove(replaced) }
    let bytes = try writer.node(node)?.byteCount ?? 0
    if bytes > nodeBudget {
      overBudget[record.key] = bytes
    } else if !overBudget.isEmpty {
      overBudget[record.key] = nil
    }
  }

  /// The node of a blank object that differs from its baseline, which is its own from now on; nil when it does not differ.
  private mutating func edited(
    _ blank: Blank, _ record: CaptureBatch.Record, of batch: CaptureBatch, _ findings: inout [PreservationFinding]
  ) throws(ArchiveError) -> NodeID? {
    var blank = blank
    blank.attributes = batch.attributes(of: record)
    blank.entries = batch.entries(of: record)
    let found: Baseline
    do {
      found = .values(try digests.digest(batch.comparedEntries(of: record)))
    } catch {
      guard error.isOfValues else { throw error }
      // Nobody can tell whether it was edited: while the stored state can't be read, the object's is kept.
      if isBlind, !batch.isMeeting, blank.baseline == .unencodable {
        return try makeOwn(blank, record.key)
      }
      noteUnencoded(record.key, at: path(of: blank.place), error, &findings)
      found = .unencodable
    }
    bind(.blank(blank), record.key)
    if isBlind, !batch.isMeeting, blank.baseline == .unknown, found != .unencodable {
      // It came by itself. Where nothing is stored, the values that it came with must not be lost.
      firstValues[record.key] = found
      return try makeOwn(blank, record.key)
    }
    if blank.baseline == .unknown || (batch.isMeeting && isBlind) {
      blank.baseline = found
      bind(.blank(blank), record.key)
      return nil
    }
    guard found != .unencodable, found != blank.baseline else { return nil }
    return try makeOwn(blank, record.key)
  }

  private mutating func noteUnencoded(
    _ key: CaptureBatch.Key, at path: RestorationPath, _ error: ArchiveError, _ findings: inout [PreservationFinding]
  ) {
    findings.append(.encodingFailed(path: path, message: error.cause?.descriptionWithoutState ?? error.message))
    unencoded.insert(key)
  }

  /// Records an object's role and whether only a reference keeps it, of which its values say nothing; of an owner also that it is
  /// there, and of one without values all but these.
  private mutating func storeStanding(
    _ attributes: RestorationArchive.Attributes, of node: NodeID, isOwner: Bool
  ) throws(ArchiveError) {
    guard let stored = try writer.node(node) else { return }
    var facts = stored.attributes
    if isOwner {
      if stored.byteCount == 0, !facts.flags.contains(.shed) { facts = attributes }
      facts.flags.remove(.carriedOver)
      facts.savedAt = nil
    }
    let standing: RestorationArchive.NodeFlags = [.byHand, .view, .shared]
    facts.flags.subtract(standing)
    facts.flags.formUnion(attributes.flags.intersection(standing))
    facts.role = attributes.role
    try writer.setAttributes(facts, of: node)
  }

  /// Live children in their order; each carried-over node stays behind the live one that it stood behind.
  private mutating func arrange(_ order: CaptureBatch.Order) throws(ArchiveError) {
    guard let parent = binding(order.parent)?.node else { return }
    let present = try writer.children(of: parent)
    let live = order.children.compactMap { binding($0)?.node }
    var wanted = live
    if live.count < present.count {
      let isLive = Set(live)
      var followers: [NodeID?: [NodeID]] = [:]
      var last: NodeID?
      for node in present {
        if isLive.contains(node) { last = node } else { followers[last, default: []].append(node) }
      }
      wanted = followers[nil] ?? []
      for node in live { wanted += [node] + (followers[node] ?? []) }
    }
    if wanted != present, wanted.count == present.count { try writer.setChildren(wanted, of: parent) }
  }
}

extension ArchiveError {
  /// Whether it is a matter of the values to encode, and not of the archive.
  var isOfValues: Bool { code == .encodingFailed || code == .limitExceeded }
}
