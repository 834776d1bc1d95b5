typealias EncodeFrameRef = Cell<EncodeFrame>
typealias EncodeEpochs = Cell<Epochs<EncodeFrame>>

/// One value being encoded; the frames of a session form a chain, one a level.
struct EncodeFrame {
  /// What the value has asked for.
  enum Kind: UInt8 {
    case unopened, single, shape, map, array
  }

  /// Where the deferred children of a keyed value are, by the texts of their keys.
  struct ChildNames {
    /// The epoch of the value.
    var epoch: UInt64 = 0
    /// The children before this position are among them.
    var end = 0
    /// The positions in the state's ``EncodeState/children``, of several with one key that of the newest.
    var positions: [KeyText: Int] = [:]
  }

  /// The epochs that handles compare.
  let epochs: EncodeEpochs
  /// Where the bytes go.
  let state: EncodeStateRef
  /// The level above; nil for the first of a chain.
  let parent: EncodeFrameRef?
  /// The level below; nil when it was never needed.
  var child: EncodeFrameRef?
  /// The fields so far, when it has a shape.
  var node: ShapeNodeRef
  /// The key type that opened it.
  var info: KeyTypeRef
  /// The key whose value is being encoded.
  var current = CurrentKey()
  /// Where the payload starts in the state's buffer.
  var start = 0
  /// The number of deferred children the state had when the value began.
  var childStart = 0
  /// Where the tag of the map's entry being written belongs.
  var tagPosition = 0
  /// The number of elements or entries.
  var count = 0
  /// The number of values this one lies in.
  var depth = 0
  /// What the value has asked for.
  var kind = Kind.unopened
  /// What the payload is; valid when the frame is closed.
  var tag = ValueTag.absent
  /// The children by their keys, as far as somebody had to look for one.
  var childNames = ChildNames()
  /// The epoch of the value that ``inserted`` is of.
  var insertedEpoch: UInt64 = 0
  /// The entries that were inserted into a value that may have a key twice, with what
  /// ``EncodeState/DeferredChild/asked`` was.
  var inserted: [(entry: Int, asked: Int)] = []

  init(state: EncodeStateRef, parent: EncodeFrameRef?, info: KeyTypeRef) {
    guard let root = info.pointee.root else { preconditionFailure("a key type of a decoder") }
    self.state = state
    self.parent = parent
    epochs = EncodePool.takeEpochs()
    node = root
    self.info = info
  }
}

extension EncodeFrameRef {
  /// Makes a frame and gives it its epochs.
  static func make(_ state: EncodeStateRef, parent: EncodeFrameRef?, info: KeyTypeRef) -> EncodeFrameRef {
    let frame = EncodeFrameRef(EncodeFrame(state: state, parent: parent, info: info), in: state.pointee.memory)
    frame.pointee.epochs.pointee.assign(frame)
    return frame
  }

  /// The encoder of the value.
  @inline(__always)
  var encoder: EncoderHandle {
    EncoderHandle(frame: self, epochs: pointee.epochs, epoch: pointee.epochs.pointee.value)
  }

  /// Begins a value inside this one; nothing can be written to this one until ``pop(_:)``.
  @inline(__always)
  func push() throws -> EncodeFrameRef {
    let child = pointee.child ?? makeChild()
    child.pointee.epochs.pointee.begin()
    child.pointee.start = pointee.state.pointee.writer.count
    child.pointee.childStart = pointee.state.pointee.childCount
    child.pointee.kind = .unopened
    let depth = pointee.depth &+ 1
    child.pointee.depth = depth
    if depth > pointee.state.pointee.depthLimit { throw tooDeep(at: pathInside()) }
    pointee.epochs.pointee.suspend()
    return child
  }

  /// Ends the value inside this one.
  @inline(__always)
  func pop(_ child: EncodeFrameRef) {
    child.pointee.epochs.pointee.end()
    pointee.epochs.pointee.resume()
  }

  /// Encodes a value inside this one by a body that writes it; takes back what it wrote when it throws.
  @inline(__always)
  func inside(_ body: (EncodeFrameRef) throws -> Void) throws -> EncodeFrameRef {
    let child = try push()
    do {
      try body(child)
    } catch {
      abandon(child)
      throw error
    }
    return child
  }

  @inline(never)
  private func abandon(_ child: EncodeFrameRef) {
    pointee.state.pointee.dropChildren(downTo: child.pointee.childStart)
    pointee.state.pointee.writer.truncate(to: child.pointee.start)
    pop(child)
  }

  @inline(never)
  private func makeChild() -> EncodeFrameRef {
    // Not with this frame's key type: it may be of an interner that is gone.
    let info = pointee.state.pointee.interner.recordInfo
    let child = EncodeFrameRef.make(pointee.state, parent: self, info: info)
    pointee.child = child
    return child
  }

  @inline(never)
  func tooDeep(at path: [any CodingKey]) -> any Error {
    let limit = pointee.state.pointee.depthLimit
    return EncodingError.invalidValue(
      limit,
      EncodingError.Context(
        codingPath: path, debugDescription: "The depth of the value is over the limit of \(limit) levels.",
        underlyingError: ArchiveError.tooDeep(limit: limit)))
  }

  /// The path to the value that this frame encodes.
  func path() -> [any CodingKey] { pointee.parent?.pathInside() ?? pointee.state.pointee.basePath }

  /// The path to the value inside this one that is being encoded.
  func pathInside() -> [any CodingKey] {
    switch pointee.kind {
    case .array: return path() + [AnyCodingKey(intValue: pointee.count)]
    case .shape, .map: return path() + pointee.current.path
    case .unopened, .single: return path()
    }
  }
}

extension EncodeEpochs {
  /// The error of a container or encoder that was kept for too long, or used while a value inside was being encoded.
  ///
  /// An encoding in which the value still is ends with it: the protocols cannot always throw, and values may swallow it.
  @inline(never)
  func misused(_ what: String, _ epoch: UInt64, at path: [any CodingKey] = []) -> any Error {
    let error = EncodingError.invalidValue(what, EncodingError.Context(codingPath: path, debugDescription: what))
    if pointee.knows(epoch) { pointee.frame?.pointee.state.pointee.noteMisuse(error) }
    return error
  }
}
