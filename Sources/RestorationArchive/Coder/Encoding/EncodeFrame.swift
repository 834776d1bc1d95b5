typealias EncodeFrameRef = UnsafeMutablePointer<EncodeFrame>

/// One value being encoded.
///
/// Frames form a chain, one a level, that is never freed: a stale handle finds a mark that is not its own,
/// never freed memory.
@safe struct EncodeFrame {
  /// What the value has asked for.
  enum Kind: UInt8 {
    case unopened, single, shape, map, array
  }

  /// A keyed container that can be handed out again when nobody else has kept it.
  @safe struct Box {
    var type: UInt = 0
    var facts: KeyFactsRef?
    var object: AnyObject?
    var mark: UInt64 = 0

    /// Where the container is.
    static let objectOffset = MemoryLayout<Box>.offset(of: \.object)!
  }

  /// Where the sides of a keyed value are, by the texts of their keys.
  struct SideNames {
    /// The mark of the value.
    var mark: UInt64 = 0
    /// The sides before this position are among them.
    var end = 0
    /// The positions in the state's ``EncodeState/sides``, of several with one key that of the newest.
    var positions: [KeyText: Int] = [:]
  }

  /// Set in a mark while a value inside is being encoded: nothing may be written here until it is done.
  static let suspended: UInt64 = 1 << 63
  /// A mark that no frame ever has.
  static let dead: UInt64 = 1 << 62

  /// The mark that handles on the value must have; 0 when there is no value.
  var mark: UInt64 = 0
  /// The mark that the value's containers must have.
  var containerMark: UInt64 = 0
  /// The mark given last.
  var counter: UInt64 = 0
  /// Where the bytes go.
  let state: EncodeStateRef
  /// The level above; nil for the first of a state.
  let parent: EncodeFrameRef?
  /// The level below; nil when it was never needed.
  var child: EncodeFrameRef?
  /// The fields so far, when it has a shape.
  var node: ShapeNodeRef
  /// The key type that opened it.
  var facts: KeyFactsRef
  /// The byte of the key whose value is being encoded; -1 for ``currentKey``, -2 for none, -3 for ``currentText``.
  var currentByte: Int16 = -2
  /// That key, when it is not known by its byte.
  var currentKey: (any CodingKey)?
  /// That key's text, when it is the key of a record's entry: making a key of it would allocate.
  var currentText = ""
  /// The type of the key known by its byte.
  var currentFacts: KeyFactsRef?
  /// Where the payload starts in the state's buffer.
  var start = 0
  /// The number of sides the state had when the value began.
  var sideStart = 0
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
  /// The containers to be handed out again, by a hash of their key type.
  let boxes: UnsafeMutablePointer<Box>
  /// The sides by their keys, as far as somebody had to look for one.
  var sideNames = SideNames()
  /// The mark of the value that ``inserted`` is of.
  var insertedMark: UInt64 = 0
  /// The entries that were inserted into a value that may have a key twice, with what ``EncodeState/Side/asked`` was.
  var inserted: [(entry: Int, asked: Int)] = []

  init(state: EncodeStateRef, parent: EncodeFrameRef?, node: ShapeNodeRef, facts: KeyFactsRef) {
    unsafe self.state = state
    unsafe self.parent = parent
    unsafe self.node = node
    unsafe self.facts = facts
    unsafe boxes = .allocate(capacity: TypeTable.containers.count)
    unsafe boxes.initialize(repeating: Box(), count: TypeTable.containers.count)
  }

  /// Remembers the text of the key whose value comes next.
  mutating func setCurrentText(_ text: String) {
    currentByte = -3
    currentText = text
  }
}

extension UnsafeMutablePointer where Pointee == EncodeFrame {
  /// Begins a value inside this one; nothing can be written to this one until ``pop(_:)``.
  @inline(__always)
  func push() throws -> EncodeFrameRef {
    let child = unsafe pointee.child ?? makeChild()
    unsafe child.pointee.counter &+= 1
    unsafe child.pointee.mark = child.pointee.counter
    unsafe child.pointee.start = pointee.state.pointee.count
    unsafe child.pointee.sideStart = pointee.state.pointee.sideCount
    unsafe child.pointee.kind = .unopened
    let depth = unsafe pointee.depth &+ 1
    unsafe child.pointee.depth = depth
    if unsafe depth > pointee.state.pointee.depthLimit { throw unsafe tooDeep() }
    unsafe pointee.mark |= EncodeFrame.suspended
    unsafe pointee.containerMark |= EncodeFrame.suspended
    return unsafe child
  }

  /// Ends the value inside this one.
  @inline(__always)
  func pop(_ child: EncodeFrameRef) {
    unsafe child.pointee.mark = 0
    unsafe child.pointee.containerMark = 0
    unsafe pointee.mark &= ~EncodeFrame.suspended
    unsafe pointee.containerMark &= ~EncodeFrame.suspended
  }

  /// Ends the value inside this one, which failed, and takes back what it wrote.
  @inline(never)
  func abandon(_ child: EncodeFrameRef) {
    unsafe pointee.state.pointee.dropSides(downTo: child.pointee.sideStart)
    unsafe pointee.state.pointee.truncate(to: child.pointee.start)
    unsafe pop(child)
  }

  @inline(never)
  private func makeChild() -> EncodeFrameRef {
    let child = EncodeFrameRef.allocate(capacity: 1)
    unsafe child.initialize(
      to: EncodeFrame(state: pointee.state, parent: self, node: pointee.node, facts: pointee.facts))
    unsafe pointee.child = child
    return unsafe child
  }

  @inline(never)
  func tooDeep() -> any Error {
    let limit = unsafe pointee.state.pointee.depthLimit
    return unsafe EncodingError.invalidValue(
      limit,
      EncodingError.Context(
        codingPath: pathInside(),
        debugDescription: "The values are nested more than \(limit) deep.",
        underlyingError: ArchiveError(.limitExceeded, "values are nested more than \(limit) deep")))
  }

  /// The error of a container or encoder that was kept for too long, or used while a value inside was being encoded.
  @inline(never)
  func misused(_ what: String, at path: [any CodingKey] = []) -> any Error {
    let error = unsafe EncodingError.invalidValue(
      what, EncodingError.Context(codingPath: path, debugDescription: what))
    unsafe pointee.state.pointee.noteMisuse(error)
    return error
  }

  /// Remembers the key whose value comes next by its byte and its type, which belong together.
  @inline(__always)
  func setCurrentKey(_ byte: UInt8, _ facts: KeyFactsRef) {
    unsafe pointee.currentByte = Int16(byte)
    unsafe pointee.currentFacts = facts
  }

  /// The path to the value that this frame encodes.
  func path() -> [any CodingKey] {
    if let parent = unsafe pointee.parent { return unsafe parent.pathInside() }
    return unsafe pointee.state.pointee.basePath()
  }

  /// The path to the value inside this one that is being encoded.
  func pathInside() -> [any CodingKey] {
    var path = unsafe path()
    switch unsafe pointee.kind {
    case .array:
      unsafe path.append(AnyCodingKey(intValue: pointee.count))
    case .shape, .map:
      let byte = unsafe pointee.currentByte
      if byte >= 0, let facts = unsafe pointee.currentFacts {
        unsafe path.append(facts.pointee.key(of: UInt8(byte)))
      } else if byte == -1, let key = unsafe pointee.currentKey {
        path.append(key)
      } else if byte == -3 {
        unsafe path.append(AnyCodingKey(stringValue: pointee.currentText))
      }
    case .unopened, .single:
      break
    }
    return path
  }

  /// The path for a handle with a mark: also while a value inside is being encoded; empty when it is stale.
  func path(ifMarked mark: UInt64, container: Bool) -> [any CodingKey] {
    let own = unsafe container ? pointee.containerMark : pointee.mark
    return own & ~EncodeFrame.suspended == mark ? unsafe path() : []
  }
}
