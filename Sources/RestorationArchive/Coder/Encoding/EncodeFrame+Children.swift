extension EncodeFrameRef {
  /// Begins what a nested container or a super encoder writes, at the place where this value is now.
  ///
  /// Its tag and payload are inserted when this value is complete, so that both can be written to in any order.
  ///
  /// - Parameters:
  ///   - key: The child's key in this value.
  ///   - isNested: Whether it is a nested container of a key, which goes on with what the key has.
  func makeChild(_ key: any CodingKey, isNested: Bool = false) throws -> EncoderHandle {
    let state = pointee.state
    let depth = pointee.depth + 1
    if depth > state.pointee.depthLimit {
      let error = tooDeep(at: path())
      state.pointee.noteMisuse(error)
      throw error
    }
    let session = EncodePool.takeChild(for: state.pointee.interner)
    let child = session.state
    child.pointee.depthLimit = state.pointee.depthLimit
    child.pointee.isCanonical = state.pointee.isCanonical
    if !state.pointee.userInfo.isEmpty { child.pointee.userInfo = state.pointee.userInfo }
    child.pointee.misuse = nil
    child.pointee.owner = self
    child.pointee.ownerKey = key
    guard let root = child.pointee.root else { preconditionFailure("a state without a frame") }
    root.pointee.epochs.pointee.begin()
    root.pointee.kind = .unopened
    root.pointee.depth = depth
    root.pointee.start = 0
    root.pointee.childStart = 0
    let entry = entryCount
    state.pointee.children.append(
      EncodeState.DeferredChild(
        position: state.pointee.writer.count, session: session, entry: entry, asked: isNested ? entry : 0))
    state.pointee.childCount += 1
    return root.encoder
  }

  /// The encoder of the value, also while a value inside is being encoded.
  private var resumableEncoder: EncoderHandle {
    var epochs = pointee.epochs.pointee
    epochs.resume()
    return EncoderHandle(frame: self, epochs: pointee.epochs, epoch: epochs.value)
  }

  /// The number of entries or elements so far.
  private var entryCount: Int { pointee.kind == .shape ? Int(pointee.node.pointee.fieldCount) : pointee.count }

  /// The encoder of the newest child that has a key, to go on with; nil when there is none.
  ///
  /// - Parameters:
  ///   - text: The key.
  ///   - number: Its number, for a value that has a shape.
  func childEncoder(forKey text: @autoclosure () -> String, _ number: UInt32) -> EncoderHandle? {
    let state = pointee.state
    guard state.pointee.childCount > pointee.childStart else { return nil }
    // A shape knows whether a key comes twice.
    if pointee.kind == .shape && !shape(adding: number, ValueTag.any).pointee.isIrregular { return nil }
    let epoch = pointee.epochs.pointee.value
    if pointee.childNames.epoch != epoch {
      pointee.childNames = EncodeFrame.ChildNames(epoch: epoch, end: pointee.childStart)
    }
    for position in pointee.childNames.end..<state.pointee.childCount {
      guard let key = state.pointee.children[position].session.state.pointee.ownerKey else { continue }
      pointee.childNames.positions[KeyText(rawValue: key.stringValue)] = position
    }
    pointee.childNames.end = state.pointee.childCount
    guard let position = pointee.childNames.positions[KeyText(rawValue: text())] else { return nil }
    state.pointee.children[position].asked = entryCount
    return state.pointee.children[position].session.state.pointee.root?.resumableEncoder
  }

  /// Finds nested containers of keys that had a complete value already, which they cannot go on with.
  func checkInserted(among entries: [MapRewriter.Entry]) {
    guard pointee.insertedEpoch == pointee.epochs.pointee.value else { return }
    let inserted = pointee.inserted
    let children = Set(inserted.map(\.entry))
    var complete: [KeyText: Int] = [:]
    for (index, entry) in entries.enumerated().reversed()
    where entry.tag != ValueTag.absent && !children.contains(index) { complete[entry.key] = index }
    for (entry, asked) in inserted {
      let key = entries[entry].key
      guard let index = complete[key], index < asked else { continue }
      _ = pointee.epochs.misused(
        "A nested container was asked for with a key that has been given a value.", pointee.epochs.pointee.value,
        at: path() + [AnyCodingKey(stringValue: key.rawValue)])
    }
  }

  /// Inserts what nested containers and super encoders wrote.
  @inline(never)
  func insertChildren() {
    let state = pointee.state
    let first = pointee.childStart
    if pointee.kind == .map || (pointee.kind == .shape && pointee.node.pointee.isIrregular) {
      pointee.insertedEpoch = pointee.epochs.pointee.value
      pointee.inserted = state.pointee.children[first...].map { ($0.entry, $0.asked) }
    }
    let pieces = state.pointee.children[first...].map { child in
      let tag = child.session.state.pointee.root?.close() ?? ValueTag.null
      return (child.position, tag, child.session.state.pointee.writer)
    }
    state.pointee.writer.insert(pieces)
    state.pointee.dropChildren(downTo: first)
  }

  /// Goes on as a map: keys that are made at run time must not come into the tables.
  @inline(never)
  func becomeMap() {
    let state = pointee.state
    let start = pointee.start
    let bytes = state.pointee.writer.withBytes(from: start) { $0.array }
    let children = state.pointee.children[pointee.childStart...].map { $0.entry }
    let rewriter = MapRewriter(bytes, content: state.pointee.interner.content)
    let entries = rewriter.entries(fields: state.pointee.interner.fields(of: pointee.node), children: children)
    state.pointee.writer.truncate(to: start)
    openMap()
    // By an entry's number: how many of those before it stay.
    var kept = [0]
    var child = pointee.childStart
    for (index, entry) in entries.enumerated() {
      if children.contains(index) {
        state.pointee.writer.writeString(entry.key.rawValue)
        state.pointee.children[child].position = state.pointee.writer.count
        child += 1
      } else if entry.tag != ValueTag.absent {
        state.pointee.writer.write(entry, of: bytes)
      } else {
        kept.append(pointee.count)
        continue
      }
      pointee.count += 1
      kept.append(pointee.count)
    }
    for position in pointee.childStart..<state.pointee.childCount {
      let (entry, asked) = (state.pointee.children[position].entry, state.pointee.children[position].asked)
      state.pointee.children[position].entry = kept[entry]
      state.pointee.children[position].asked = kept[asked]
    }
  }
}

extension EncodeState {
  /// Gives back children that were inserted or whose owner failed.
  @inline(__always)
  mutating func dropChildren(downTo count: Int) {
    if childCount > count { dropManyChildren(downTo: count) }
  }

  @inline(never)
  private mutating func dropManyChildren(downTo count: Int) {
    for index in count..<children.count { EncodePool.giveBack(child: children[index].session) }
    children.removeSubrange(count...)
    childCount = count
  }
}
