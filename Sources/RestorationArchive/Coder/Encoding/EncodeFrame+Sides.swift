extension UnsafeMutablePointer where Pointee == EncodeFrame {
  /// Begins what a nested container or a super encoder writes, at the place where this value is now.
  ///
  /// Its tag and payload are inserted when this value is complete, so that both can be written to in any order.
  ///
  /// - Parameter isNested: Whether it is a nested container of a key, which goes on with what the key has.
  func makeSide(isNested: Bool = false) throws -> EncodeStateRef {
    let state = unsafe pointee.state
    let depth = unsafe pointee.depth + 1
    if unsafe depth > state.pointee.depthLimit { throw unsafe tooDeepForSide() }
    let side = unsafe EncodePool.takeSide(for: state.pointee.universe)
    unsafe side.pointee.depthLimit = state.pointee.depthLimit
    unsafe side.pointee.isCanonical = state.pointee.isCanonical
    if unsafe !state.pointee.userInfo.isEmpty { unsafe side.pointee.userInfo = state.pointee.userInfo }
    unsafe side.pointee.owner = self
    let root = unsafe side.pointee.root
    unsafe root.pointee.counter += 1
    unsafe root.pointee.mark = root.pointee.counter
    unsafe root.pointee.containerMark = 0
    unsafe root.pointee.kind = .unopened
    unsafe root.pointee.depth = depth
    unsafe root.pointee.start = 0
    unsafe root.pointee.sideStart = 0
    let entry = unsafe entryCount
    unsafe state.pointee.sides.append(
      EncodeState.Side(position: state.pointee.count, state: side, entry: entry, asked: isNested ? entry : 0))
    unsafe state.pointee.sideCount += 1
    return unsafe side
  }

  /// The number of entries or elements so far.
  private var entryCount: Int {
    unsafe pointee.kind == .shape ? Int(pointee.node.pointee.fieldCount) : pointee.count
  }

  /// The encoder of the newest side that has a key, to go on with; nil when there is none.
  ///
  /// - Parameters:
  ///   - text: The key.
  ///   - number: Its number, for a value that has a shape.
  func sideEncoder(forKey text: @autoclosure () -> String, _ number: UInt32) -> EncoderHandle? {
    let state = unsafe pointee.state
    guard unsafe state.pointee.sideCount > pointee.sideStart else { return nil }
    // A shape knows whether a key comes twice.
    if unsafe pointee.kind == .shape && !shape(adding: number, ValueTag.any).pointee.isIrregular { return nil }
    if unsafe pointee.sideNames.mark != pointee.mark {
      unsafe pointee.sideNames = EncodeFrame.SideNames(mark: pointee.mark, end: pointee.sideStart)
    }
    for position in unsafe pointee.sideNames.end..<state.pointee.sideCount {
      guard let key = unsafe state.pointee.sides[position].state.pointee.keyInOwner else { continue }
      unsafe pointee.sideNames.positions[KeyText(rawValue: key.stringValue)] = position
    }
    unsafe pointee.sideNames.end = state.pointee.sideCount
    guard let position = unsafe pointee.sideNames.positions[KeyText(rawValue: text())] else { return nil }
    unsafe state.pointee.sides[position].asked = entryCount
    let root = unsafe state.pointee.sides[position].state.pointee.root
    return unsafe EncoderHandle(frame: root, mark: root.pointee.mark & ~EncodeFrame.suspended)
  }

  /// Finds nested containers of keys that had a complete value already, which they cannot go on with.
  func checkInserted(among entries: [MapRewriter.Entry]) {
    guard unsafe pointee.insertedMark == pointee.mark else { return }
    let inserted = unsafe pointee.inserted
    let sides = Set(inserted.map(\.entry))
    var complete: [KeyText: Int] = [:]
    for (index, entry) in entries.enumerated().reversed() where entry.tag != ValueTag.absent && !sides.contains(index) {
      complete[entry.key] = index
    }
    for (entry, asked) in inserted {
      let key = entries[entry].key
      guard let index = complete[key], index < asked else { continue }
      _ = unsafe misused(
        "A nested container was asked for with a key that has been given a value.",
        at: path() + [AnyCodingKey(stringValue: key.rawValue)])
    }
  }

  private func tooDeepForSide() -> any Error {
    let limit = unsafe pointee.state.pointee.depthLimit
    let error = unsafe EncodingError.invalidValue(
      limit,
      EncodingError.Context(
        codingPath: path(), debugDescription: "The values are nested more than \(limit) deep.",
        underlyingError: ArchiveError(.limitExceeded, "values are nested more than \(limit) deep")))
    unsafe pointee.state.pointee.noteMisuse(error)
    return error
  }

  /// Inserts what nested containers and super encoders wrote.
  @inline(never)
  func spliceSides() {
    let state = unsafe pointee.state
    let first = unsafe pointee.sideStart
    if unsafe pointee.kind == .map || (pointee.kind == .shape && pointee.node.pointee.isIrregular) {
      unsafe pointee.insertedMark = pointee.mark
      unsafe pointee.inserted = state.pointee.sides[first...].map { ($0.entry, $0.asked) }
    }
    var extra = 0
    for side in unsafe state.pointee.sides[first...] {
      let root = unsafe side.state.pointee.root
      unsafe root.pointee.tag = root.close()
      unsafe extra += side.state.pointee.count + 1
    }
    unsafe state.pointee.reserve(extra)
    var end = unsafe state.pointee.count
    unsafe state.pointee.next += extra
    for side in unsafe state.pointee.sides[first...].reversed() {
      let base = unsafe state.pointee.base
      let count = unsafe side.state.pointee.count
      // What was written behind the insertion moves by everything inserted up to here.
      unsafe UnsafeMutableRawPointer(base + side.position + extra).copyMemory(
        from: base + side.position, byteCount: end - side.position)
      end = side.position
      extra -= count + 1
      unsafe base[side.position + extra] = unsafe side.state.pointee.root.pointee.tag
      unsafe UnsafeMutableRawPointer(base + side.position + extra + 1).copyMemory(
        from: side.state.pointee.base, byteCount: count)
    }
    unsafe state.pointee.dropSides(downTo: first)
  }
}

extension EncodeState {
  /// Gives back sides that were inserted or whose owner failed.
  @inline(__always)
  mutating func dropSides(downTo count: Int) {
    if sideCount > count { dropManySides(downTo: count) }
  }

  @inline(never)
  private mutating func dropManySides(downTo count: Int) {
    for side in sides[count...] { unsafe EncodePool.giveBack(side: side.state) }
    sides.removeSubrange(count...)
    sideCount = count
  }

  /// Appends bytes as they are.
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    reserve(bytes.count)
    if let source = bytes.baseAddress {
      unsafe UnsafeMutableRawPointer(next).copyMemory(from: source, byteCount: bytes.count)
      unsafe next += bytes.count
    }
  }
}
