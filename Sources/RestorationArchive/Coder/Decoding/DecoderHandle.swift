/// The `Decoder` that a value gets: two words, valid while the value is being decoded.
@safe
struct DecoderHandle: Decoder {
  let frame: DecodeFrameRef
  let mark: UInt64

  var codingPath: [any CodingKey] { unsafe frame.path(ifMarked: mark, container: false) }

  var userInfo: [CodingUserInfoKey: Any] {
    guard unsafe frame.pointee.mark & ~DecodeFrame.suspended == mark else { return [:] }
    return unsafe frame.pointee.state.pointee.userInfo
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try container(keyedBy: type, owner: nil)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try unkeyedContainer(owner: nil) }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    unsafe SingleValueDecoding(frame: frame, mark: mark, owner: nil)
  }

  private func check() throws {
    guard unsafe frame.pointee.mark == mark else {
      throw unsafe frame.misused("A decoder was used after its value was decoded, or inside another value.")
    }
  }

  @inline(__always)
  func container<Key: CodingKey>(
    keyedBy type: Key.Type, owner: NestedDecoding?
  ) throws -> KeyedDecodingContainer<Key> {
    try check()
    let facts = unsafe frame.pointee.state.pointee.facts(of: type)
    if unsafe frame.pointee.kind == .unopened {
      try unsafe frame.openKeyed(facts)
      return unsafe frame.firstContainer(facts, type, owner)
    }
    return unsafe try otherContainer(facts, type, owner)
  }

  @inline(never)
  private func otherContainer<Key: CodingKey>(
    _ facts: KeyFactsRef, _ type: Key.Type, _ owner: NestedDecoding?
  ) throws -> KeyedDecodingContainer<Key> {
    guard unsafe frame.pointee.kind == .shape || frame.pointee.kind == .map else {
      if unsafe frame.pointee.tag == ValueTag.object || frame.pointee.tag == ValueTag.map {
        // A single-value container read it first: read it again.
        try unsafe frame.openKeyed(facts)
        return unsafe frame.firstContainer(facts, type, owner)
      }
      throw unsafe frame.mismatchedContainer([String: Any].self)
    }
    return unsafe KeyedDecodingContainer(
      KeyedDecoding<Key>(frame: frame, facts: facts, mark: frame.sharedContainerMark(), owner: owner))
  }

  func unkeyedContainer(owner: NestedDecoding?) throws -> any UnkeyedDecodingContainer {
    try check()
    return try unsafe UnkeyedDecoding(frame, mark: frame.liveContainerMark(), owner: owner)
  }
}

/// The `Decoder` of a nested value, such as a superclass's part, which lives as long as somebody holds it.
struct NestedDecoderHandle: Decoder {
  let handle: DecoderHandle
  let owner: NestedDecoding

  init(_ owner: NestedDecoding) {
    self.owner = owner
    handle = unsafe DecoderHandle(frame: owner.frame, mark: owner.frame.pointee.mark)
  }

  var codingPath: [any CodingKey] { owner.path }

  var userInfo: [CodingUserInfoKey: Any] { owner.isValid ? handle.userInfo : [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try owner.check()
    return try handle.container(keyedBy: type, owner: owner)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try owner.check()
    return try handle.unkeyedContainer(owner: owner)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    unsafe SingleValueDecoding(frame: handle.frame, mark: handle.mark, owner: owner)
  }
}

extension UnsafeMutablePointer where Pointee == DecodeFrame {
  /// The error of asking for a container that the value is not.
  @inline(never)
  func mismatchedContainer(_ type: Any.Type) -> any Error {
    let tag = unsafe pointee.tag
    let path = unsafe path()
    if tag == ValueTag.null {
      return DecodingError.valueNotFound(
        type,
        DecodingError.Context(codingPath: path, debugDescription: "Cannot get a container -- found null value instead"))
    }
    return DecodingError.typeMismatch(
      type,
      DecodingError.Context(
        codingPath: path, debugDescription: "Expected to decode \(type) but found \(ValueTag.name(tag)) instead."))
  }

  /// Starts to read an object or a map.
  @inline(__always)
  func openKeyed(_ facts: KeyFactsRef) throws {
    unsafe pointee.pathKind = .key
    unsafe pointee.currentByte = -2
    if unsafe pointee.tag == ValueTag.object, unsafe pointee.state.pointee.end > pointee.start {
      let first = unsafe pointee.start.pointee
      let tables = unsafe pointee.state.pointee.tables
      if first < 240 && Int(first) < tables.shapeCount {
        let shape = unsafe tables.shape(Int(first))
        if unsafe pointee.state.pointee.end - pointee.start > shape.count {
          unsafe pointee.kind = .shape
          unsafe pointee.fields = shape.baseAddress
          unsafe pointee.count = shape.count
          unsafe pointee.index = 0
          unsafe pointee.next = pointee.start + 1
          unsafe plan(Int(first), facts)
          return
        }
      }
    }
    try unsafe openOther(facts)
  }

  /// Takes the plan of an object's shape.
  @inline(__always)
  private func plan(_ shape: Int, _ facts: KeyFactsRef) {
    unsafe pointee.shape = shape
    unsafe pointee.plan = facts.pointee.isIndexed ? pointee.state.pointee.plan(shape: shape, facts: facts) : nil
  }

  /// The fields by byte of the plan that was taken, as long as it is that of the object's shape and a key type.
  @inline(__always)
  func plannedFields(_ facts: KeyFactsRef) -> UnsafeMutablePointer<UInt16>? {
    guard let plan = unsafe pointee.plan, unsafe plan.pointee.serves(pointee.shape, facts) else { return nil }
    return unsafe plan.pointee.fields
  }

  @inline(never)
  private func openOther(_ facts: KeyFactsRef) throws {
    var cursor = unsafe cursor(at: pointee.start)
    do throws(CodingFailure) {
      switch unsafe pointee.tag {
      case ValueTag.object:
        var first = cursor
        let number = try first.readNumber()
        let shape = try unsafe walker.readShape(&cursor)
        unsafe pointee.kind = .shape
        unsafe pointee.fields = shape.baseAddress
        unsafe pointee.count = shape.count
        unsafe plan(Int(number), facts)
      case ValueTag.map:
        let inner = try cursor.readByte()
        guard ValueTag.isFieldTag(inner) else { throw cursor.corrupt("\(inner) is not the tag of a map's values") }
        unsafe pointee.count = try cursor.readCount(ofSize: 2)
        unsafe pointee.kind = .map
        unsafe pointee.innerTag = inner
        unsafe pointee.plan = nil
        unsafe pointee.fields = nil
      default:
        unsafe pointee.count = -1
      }
    } catch { throw unsafe error.decodingError(path()) }
    if unsafe pointee.count < 0 { throw unsafe mismatchedContainer([String: Any].self) }
    unsafe pointee.index = 0
    unsafe pointee.next = cursor.next
  }

  /// The mark that a new container of the value gets.
  @inline(__always)
  func liveContainerMark() -> UInt64 {
    if unsafe pointee.containerMark == 0 {
      unsafe pointee.counter &+= 1
      unsafe pointee.containerMark = pointee.counter
    }
    return unsafe pointee.containerMark
  }

  /// The mark that a container beside the first gets, which then is not handed out again: with its mark the other one, kept
  /// for too long, would be valid anew.
  func sharedContainerMark() -> UInt64 {
    let mark = unsafe liveContainerMark()
    for slot in 0..<TypeTable.containers.count where unsafe pointee.boxes[slot].mark == mark {
      unsafe pointee.boxes[slot].object = nil
    }
    return mark
  }

  /// The first container of a value: one used before, when nobody else holds it, saves an allocation.
  @inline(__always)
  func firstContainer<Key: CodingKey>(
    _ facts: KeyFactsRef, _ type: Key.Type, _ owner: NestedDecoding?
  ) -> KeyedDecodingContainer<Key> {
    let address = UInt(bitPattern: ObjectIdentifier(type))
    let box = unsafe pointee.boxes + TypeTable.containers.slot(of: address)
    if unsafe owner == nil && pointee.containerMark == 0 && box.pointee.type == address && box.pointee.facts == facts
      && isKnownUniquelyReferenced(&box.pointee.object)
    {
      unsafe pointee.containerMark = box.pointee.mark
      // Every mention of the container's type in a closure of its own would ask the runtime for it once more.
      let object = unsafe UnsafeRawPointer(box) + DecodeFrame.Box.objectOffset
      return unsafe object.assumingMemoryBound(to: KeyedDecodingContainer<Key>.self).pointee
    }
    return unsafe makeContainer(facts, type, owner, box)
  }

  @inline(never)
  private func makeContainer<Key: CodingKey>(
    _ facts: KeyFactsRef, _ type: Key.Type, _ owner: NestedDecoding?, _ box: UnsafeMutablePointer<DecodeFrame.Box>
  ) -> KeyedDecodingContainer<Key> {
    let container = unsafe KeyedDecodingContainer(
      KeyedDecoding<Key>(frame: self, facts: facts, mark: liveContainerMark(), owner: owner))
    if owner == nil && MemoryLayout<KeyedDecodingContainer<Key>>.size == MemoryLayout<AnyObject?>.size {
      unsafe box.pointee = DecodeFrame.Box(
        type: UInt(bitPattern: ObjectIdentifier(type)), facts: facts,
        object: unsafeBitCast(container, to: AnyObject?.self),
        mark: pointee.containerMark)
    }
    return container
  }
}
