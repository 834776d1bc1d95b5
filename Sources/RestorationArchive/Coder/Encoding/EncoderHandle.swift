/// The `Encoder` that a value gets: two words, valid while the value is being encoded.
@safe
struct EncoderHandle: Encoder {
  let frame: EncodeFrameRef
  let mark: UInt64

  var codingPath: [any CodingKey] { unsafe frame.path(ifMarked: mark, container: false) }

  var userInfo: [CodingUserInfoKey: Any] {
    guard unsafe frame.pointee.mark & ~EncodeFrame.suspended == mark else { return [:] }
    return unsafe frame.pointee.state.pointee.userInfo
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    guard unsafe frame.pointee.mark == mark && frame.pointee.kind == .unopened else { return otherContainer(type) }
    let facts = unsafe frame.pointee.state.pointee.facts(of: type)
    unsafe frame.openKeyed(facts)
    return unsafe frame.firstContainer(facts, type)
  }

  @inline(never)
  private func otherContainer<Key: CodingKey>(_ type: Key.Type) -> KeyedEncodingContainer<Key> {
    if unsafe frame.pointee.mark == mark && (frame.pointee.kind == .shape || frame.pointee.kind == .map) {
      let facts = unsafe frame.pointee.state.pointee.facts(of: type)
      return unsafe KeyedEncodingContainer(
        KeyedEncoding<Key>(frame: frame, facts: facts, mark: frame.sharedContainerMark()))
    }
    _ = unsafe frame.misused(
      "A keyed container was asked for too late, or after a container of another kind.", at: codingPath)
    return unsafe KeyedEncodingContainer(
      KeyedEncoding<Key>(frame: frame, facts: frame.pointee.facts, mark: EncodeFrame.dead))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    if unsafe frame.pointee.mark == mark {
      switch unsafe frame.pointee.kind {
      case .unopened:
        unsafe frame.openArray()
        return unsafe UnkeyedEncoding(frame: frame, mark: frame.liveContainerMark())
      case .array:
        return unsafe UnkeyedEncoding(frame: frame, mark: frame.liveContainerMark())
      case .shape, .map, .single:
        break
      }
    }
    _ = unsafe frame.misused(
      "An unkeyed container was asked for too late, or after a container of another kind.", at: codingPath)
    return unsafe UnkeyedEncoding(frame: frame, mark: EncodeFrame.dead)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    unsafe SingleValueEncoding(frame: frame, mark: mark)
  }
}

extension UnsafeMutablePointer where Pointee == EncodeFrame {
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
  func firstContainer<Key: CodingKey>(_ facts: KeyFactsRef, _ type: Key.Type) -> KeyedEncodingContainer<Key> {
    let address = UInt(bitPattern: ObjectIdentifier(type))
    let box = unsafe pointee.boxes + TypeTable.containers.slot(of: address)
    if unsafe pointee.containerMark == 0 && box.pointee.type == address && box.pointee.facts == facts
      && isKnownUniquelyReferenced(&box.pointee.object)
    {
      unsafe pointee.containerMark = box.pointee.mark
      // Every mention of the container's type in a closure of its own would ask the runtime for it once more.
      let object = unsafe UnsafeRawPointer(box) + EncodeFrame.Box.objectOffset
      return unsafe object.assumingMemoryBound(to: KeyedEncodingContainer<Key>.self).pointee
    }
    return unsafe makeContainer(facts, type, box)
  }

  @inline(never)
  private func makeContainer<Key: CodingKey>(
    _ facts: KeyFactsRef, _ type: Key.Type, _ box: UnsafeMutablePointer<EncodeFrame.Box>
  ) -> KeyedEncodingContainer<Key> {
    let container = unsafe KeyedEncodingContainer(
      KeyedEncoding<Key>(frame: self, facts: facts, mark: liveContainerMark()))
    if MemoryLayout<KeyedEncodingContainer<Key>>.size == MemoryLayout<AnyObject?>.size {
      unsafe box.pointee = EncodeFrame.Box(
        type: UInt(bitPattern: ObjectIdentifier(type)), facts: facts,
        object: unsafeBitCast(container, to: AnyObject?.self),
        mark: pointee.containerMark)
    }
    return container
  }
}
