typealias DecodeFrameRef = UnsafeMutablePointer<DecodeFrame>

/// One value being decoded.
///
/// Frames form a chain, one a level, that is never freed: a stale handle finds a mark that is not its own,
/// never freed memory.
@safe
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

  /// A keyed container that can be handed out again when nobody else has kept it.
  @safe
  struct Box {
    var type: UInt = 0
    var facts: KeyFactsRef?
    var object: AnyObject?
    var mark: UInt64 = 0

    /// Where the container is.
    static let objectOffset = MemoryLayout<Box>.offset(of: \.object)!
  }

  /// Set in a mark while a value inside is being decoded.
  static let suspended: UInt64 = 1 << 63
  /// A mark that no frame ever has.
  static let dead: UInt64 = 1 << 62

  /// The mark that handles on the value must have; 0 when there is no value.
  var mark: UInt64 = 0
  /// The mark that the value's containers must have.
  var containerMark: UInt64 = 0
  /// The mark given last.
  var counter: UInt64 = 0
  /// The bytes and tables.
  var state: DecodeStateRef
  /// The level above; nil for the first of a chain.
  let parent: DecodeFrameRef?
  /// The level below; nil when it was never needed.
  var child: DecodeFrameRef?
  /// For the first of a chain that serves a nested container: who owns it.
  var owner: Unmanaged<NestedDecoding>?
  /// The payload.
  var start: UnsafePointer<UInt8>
  /// The next field, entry or element to read; the end of the value when it is done.
  var next: UnsafePointer<UInt8>
  /// The number of the next field, entry or element.
  var index = 0
  /// How many there are.
  var count = 0
  /// The fields of an object's shape.
  var fields: UnsafePointer<UInt32>?
  /// Where each field or entry starts, counted from ``start``, once they were asked for out of order.
  var offsets: UnsafeMutablePointer<UInt32>?
  /// Whether ``offsets`` are in the order of the keys, as those of a map with many entries are.
  var isSorted = false
  /// Where the value ends, once that is known.
  var end: UnsafePointer<UInt8>?
  /// The number of an object's shape.
  var shape = 0
  /// The plan of that shape and of the key type that opened it, until a value inside this one needs its place.
  var plan: UnsafeMutablePointer<DecodeState.Plan>?
  /// The byte of the key whose value is being decoded; -1 for ``currentKey``, -2 for none, -3 for ``currentText``.
  var currentByte: Int16 = -2
  /// That key, when it is not known by its byte.
  var currentKey: (any CodingKey)?
  /// That key's text, when it is the key of a record's entry: making a key of it would allocate.
  var currentText = ""
  /// The type of the key known by its byte.
  var currentFacts: KeyFactsRef?
  /// The index of the element being decoded.
  var currentIndex = 0
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
  /// The containers to be handed out again, by a hash of their key type.
  let boxes: UnsafeMutablePointer<Box>

  /// What the value inside a frame is called in the path.
  enum PathKind: UInt8 {
    case none, key, index
  }

  init(state: DecodeStateRef, parent: DecodeFrameRef?) {
    unsafe self.state = state
    unsafe self.parent = parent
    unsafe start = state.pointee.base
    unsafe next = state.pointee.base
    unsafe boxes = .allocate(capacity: TypeTable.containers.count)
    unsafe boxes.initialize(repeating: Box(), count: TypeTable.containers.count)
  }

  /// Remembers the text of the key whose value comes next.
  mutating func setCurrentText(_ text: String) {
    currentByte = -3
    currentText = text
  }
}

extension UnsafeMutablePointer where Pointee == DecodeFrame {
  /// Begins a value inside this one.
  @inline(__always)
  func push(_ tag: UInt8, at start: UnsafePointer<UInt8>) throws -> DecodeFrameRef {
    let child = unsafe pointee.child ?? makeChild()
    let depth = unsafe pointee.depth &+ 1
    if unsafe depth > pointee.state.pointee.depthLimit { throw unsafe tooDeep(at: start) }
    unsafe child.begin(tag, at: start, depth: depth, state: pointee.state)
    unsafe pointee.mark |= DecodeFrame.suspended
    unsafe pointee.containerMark |= DecodeFrame.suspended
    return unsafe child
  }

  /// Makes the frame stand for a payload.
  @inline(__always)
  func begin(_ tag: UInt8, at start: UnsafePointer<UInt8>, depth: Int, state: DecodeStateRef) {
    unsafe pointee.state = state
    unsafe pointee.counter &+= 1
    unsafe pointee.mark = pointee.counter
    unsafe pointee.start = start
    unsafe pointee.tag = tag
    unsafe pointee.kind = .unopened
    unsafe pointee.end = nil
    unsafe pointee.depth = depth
    unsafe pointee.pathKind = .none
  }

  /// Ends the value inside this one.
  @inline(__always)
  func pop(_ child: DecodeFrameRef) {
    unsafe child.finish()
    unsafe pointee.mark &= ~DecodeFrame.suspended
    unsafe pointee.containerMark &= ~DecodeFrame.suspended
  }

  /// Makes all handles stale and frees what was allocated for the value.
  @inline(__always)
  func finish() {
    unsafe pointee.mark = 0
    unsafe pointee.containerMark = 0
    if unsafe pointee.offsets != nil { unsafe forgetOffsets() }
  }

  @inline(never)
  private func forgetOffsets() {
    unsafe pointee.offsets?.deallocate()
    unsafe pointee.offsets = nil
    unsafe pointee.isSorted = false
  }

  @inline(never)
  private func makeChild() -> DecodeFrameRef {
    let child = DecodeFrameRef.allocate(capacity: 1)
    unsafe child.initialize(to: DecodeFrame(state: pointee.state, parent: self))
    unsafe pointee.child = child
    return unsafe child
  }

  @inline(never)
  func tooDeep(at start: UnsafePointer<UInt8>) -> any Error {
    let limit = unsafe pointee.state.pointee.depthLimit
    let offset = unsafe start - pointee.state.pointee.base
    return unsafe CodingFailure("values are nested more than \(limit) deep", at: offset, code: .limitExceeded)
      .decodingError(pathInside())
  }

  /// Remembers the key whose value comes next by its byte and its type, which belong together.
  @inline(__always)
  func setCurrentKey(_ byte: UInt8, _ facts: KeyFactsRef) {
    unsafe pointee.currentByte = Int16(byte)
    unsafe pointee.currentFacts = facts
  }

  /// The path to the value that this frame decodes.
  func path() -> [any CodingKey] {
    if let parent = unsafe pointee.parent { return unsafe parent.pathInside() }
    return unsafe pointee.owner?.takeUnretainedValue().path ?? []
  }

  /// The path to the value inside this one that is being decoded.
  func pathInside() -> [any CodingKey] {
    var path = unsafe path()
    switch unsafe pointee.pathKind {
    case .none: break
    case .index: unsafe path.append(AnyCodingKey(intValue: pointee.currentIndex))
    case .key:
      let byte = unsafe pointee.currentByte
      if byte >= 0, let facts = unsafe pointee.currentFacts {
        unsafe path.append(facts.pointee.key(of: UInt8(byte)))
      } else if byte == -1, let key = unsafe pointee.currentKey {
        path.append(key)
      } else if byte == -3 {
        unsafe path.append(AnyCodingKey(stringValue: pointee.currentText))
      }
    }
    return path
  }

  /// The path for a handle with a mark: also while a value inside is being decoded; empty when it is stale.
  func path(ifMarked mark: UInt64, container: Bool) -> [any CodingKey] {
    let own = unsafe container ? pointee.containerMark : pointee.mark
    return unsafe own & ~DecodeFrame.suspended == mark ? path() : []
  }

  /// The error of a container or decoder that was kept for too long.
  @inline(never)
  func misused(_ what: String) -> any Error {
    DecodingError.dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: what))
  }

  /// A cursor from a place to the end of all bytes.
  @inline(__always)
  func cursor(at place: UnsafePointer<UInt8>) -> ByteCursor {
    unsafe ByteCursor(next: place, end: pointee.state.pointee.end, base: pointee.state.pointee.base)
  }
}
