typealias DecodeFrameRef = Cell<DecodeFrame>
typealias DecodeEpochs = Cell<Epochs<DecodeFrame>>

/// One value being decoded; the frames of a session form chains, one frame a level.
struct DecodeFrame {
  /// How the value's entries are found.
  enum Kind: UInt8 {
    /// Nothing was asked for yet.
    case unopened
    /// An object's fields, in the order of its shape.
    case shape
    /// A map's entries, in their order.
    case map
    /// An array's elements.
    case array
    /// Whatever it is, it was read to its end.
    case done
  }

  /// What the value inside a frame is called in the path.
  enum PathKind: UInt8 {
    case none, key, index
  }

  /// The epochs that handles compare.
  let epochs: DecodeEpochs
  /// The bytes and tables.
  let state: DecodeStateRef
  /// The level above; nil for the first of a chain.
  let parent: DecodeFrameRef?
  /// The level below; nil when it was never needed.
  var child: DecodeFrameRef?
  /// For the first of a chain: the path to its value.
  var basePath: [any CodingKey] = []
  /// Where the payload starts.
  var start = 0
  /// Where the next field, entry or element is; the end of the value when it is done.
  var next = 0
  /// The number of the next field, entry or element.
  var index = 0
  /// How many there are.
  var count = 0
  /// The fields of an object's shape.
  var fields = Borrowed<UInt32>()
  /// Where each field or entry starts, counted from ``start``, once they were asked for out of order.
  var offsets: [UInt32]?
  /// Whether ``offsets`` are in the order of the keys, as those of a map with many entries are.
  var isSorted = false
  /// Where the value ends, once that is known.
  var end: Int?
  /// The number of an object's shape.
  var shape = 0
  /// The slot of the field map of that shape and of the key type that opened it, until a value inside needs it; -1 for none.
  var fieldMap = -1
  /// The key whose value is being decoded.
  var current = CurrentKey()
  /// The number of the element being decoded.
  var currentElement = 0
  /// The number of values this one lies in.
  var depth = 0
  /// What the payload is.
  var tag = ValueTag.absent
  /// The tag of a map's values or a packed array's elements.
  var innerTag = ValueTag.absent
  /// How the entries are found.
  var kind = Kind.unopened
  /// What the value inside this one is called in the path.
  var pathKind = PathKind.none

  init(state: DecodeStateRef, parent: DecodeFrameRef?) {
    self.state = state
    self.parent = parent
    epochs = DecodePool.takeEpochs()
  }
}

extension DecodeFrameRef {
  /// Makes a frame and gives it its epochs.
  static func make(_ state: DecodeStateRef, parent: DecodeFrameRef?) -> DecodeFrameRef {
    let frame = DecodeFrameRef(DecodeFrame(state: state, parent: parent), in: state.pointee.memory)
    frame.pointee.epochs.pointee.assign(frame)
    return frame
  }

  /// Begins a value inside this one.
  @inline(__always)
  func push(_ tag: UInt8, at start: Int) throws -> DecodeFrameRef {
    let child = pointee.child ?? makeChild()
    let depth = pointee.depth &+ 1
    if depth > pointee.state.pointee.depthLimit { throw tooDeep(at: start) }
    child.begin(tag, at: start, depth: depth)
    pointee.epochs.pointee.suspend()
    return child
  }

  /// Makes the frame stand for a payload.
  @inline(__always)
  func begin(_ tag: UInt8, at start: Int, depth: Int) {
    pointee.epochs.pointee.begin()
    pointee.start = start
    pointee.tag = tag
    pointee.kind = .unopened
    pointee.end = nil
    pointee.depth = depth
    pointee.pathKind = .none
  }

  /// Ends the value inside this one.
  @inline(__always)
  func pop(_ child: DecodeFrameRef) {
    child.finish()
    pointee.epochs.pointee.resume()
  }

  /// Makes all handles stale and frees all memory of the value.
  @inline(__always)
  func finish() {
    pointee.epochs.pointee.end()
    if pointee.offsets != nil { forgetOffsets() }
  }

  @inline(never)
  private func forgetOffsets() {
    pointee.offsets = nil
    pointee.isSorted = false
  }

  @inline(never)
  private func makeChild() -> DecodeFrameRef {
    let child = DecodeFrameRef.make(pointee.state, parent: self)
    pointee.child = child
    return child
  }

  @inline(never)
  func tooDeep(at start: Int) -> any Error {
    let limit = pointee.state.pointee.depthLimit
    return ArchiveError.tooDeep(limit: limit, at: start).decodingError(pathInside())
  }

  /// The path to the value that this frame decodes.
  func path() -> [any CodingKey] { pointee.parent?.pathInside() ?? pointee.basePath }

  /// The path to the value inside this one that is being decoded.
  func pathInside() -> [any CodingKey] {
    switch pointee.pathKind {
    case .none: return path()
    case .index: return path() + [AnyCodingKey(intValue: pointee.currentElement)]
    case .key: return path() + pointee.current.path
    }
  }

  /// A cursor from a place to the end of all bytes.
  @inline(__always)
  func cursor(at place: Int) -> ByteCursor { ByteCursor(pointee.state.pointee.bytes, at: place) }

  /// A walker for the levels that may still be nested in this value, or deeper.
  func walker(deeper levels: Int = 0) -> ValueWalker {
    ValueWalker(
      tables: pointee.state.pointee.tables,
      depthLimit: max(0, pointee.state.pointee.depthLimit - pointee.depth) + levels)
  }
}

extension DecodeEpochs {
  /// The frame, for callers that have compared epochs.
  @inline(__always)
  var liveFrame: DecodeFrameRef {
    guard let frame = pointee.frame else { preconditionFailure("a stale handle was not told so") }
    return frame
  }

  /// The error of a container or decoder that was kept for too long.
  @inline(never)
  func misused(_ what: String) -> any Error {
    DecodingError.dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: what))
  }
}
