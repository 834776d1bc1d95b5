extension UnsafeMutablePointer where Pointee == EncodeFrame {
  /// Begins what a nested container or a super encoder writes, at the place where this value is now.
  ///
  /// Its tag and payload are inserted when this value is complete, so that both can be written to in any order.
  func makeSide() throws -> EncodeStateRef {
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
    unsafe state.pointee.sides.append(EncodeState.Side(position: state.pointee.count, state: side))
    unsafe state.pointee.sideCount += 1
    return unsafe side
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
