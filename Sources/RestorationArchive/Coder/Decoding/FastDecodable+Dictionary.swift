extension Dictionary: FastDecodable where Key: Decodable, Value: Decodable {
  static func decodeCollection(
    into place: UnsafeMutableRawPointer, _ tag: UInt8, _ cursor: inout ByteCursor, in frame: DecodeFrameRef
  ) throws {
    if Key.self == String.self {
      let (kind, _) = unsafe frame.pointee.state.pointee.kind(of: Value.self)
      if tag == ValueTag.map, cursor.remaining > 0 {
        // The common types by name, so that the compiler makes code for them.
        switch unsafe (kind, cursor.next.pointee) {
        case (.int, ValueTag.integer):
          let result = try unsafe frame.readTexts(&cursor) { unsafe try frame.readInteger(Int.self, $0, &$1) }
          unsafe place.initializeMemory(as: [String: Int].self, to: result)
          return
        case (.string, ValueTag.string):
          let result = try unsafe frame.readTexts(&cursor) { unsafe try frame.readString($0, &$1) }
          unsafe place.initializeMemory(as: [String: String].self, to: result)
          return
        default: break
        }
      }
      let result: [String: Value] = try unsafe decodeEntries(tag, &cursor, in: frame) { key, _ in key }
      unsafe place.initializeMemory(as: [String: Value].self, to: result)
    } else if let type = Key.self as? any CodingKeyRepresentable.Type {
      let result: Self = try unsafe decodeEntries(tag, &cursor, in: frame) { text, child in
        let codingKey = AnyCodingKey(dictionaryKey: text)
        if let key = type.init(codingKey: codingKey) as? Key { return key }
        throw unsafe DecodingError.dataCorrupted(
          DecodingError.Context(
            codingPath: child.path() + [codingKey], debugDescription: "Could not convert key to type \(Key.self)"))
      }
      unsafe place.initializeMemory(as: Self.self, to: result)
    } else {
      let result: Self = try unsafe decodePairs(tag, &cursor, in: frame)
      unsafe place.initializeMemory(as: Self.self, to: result)
    }
  }

  private static func decodeEntries<Converted: Hashable>(
    _ tag: UInt8, _ cursor: inout ByteCursor, in frame: DecodeFrameRef,
    _ convert: (String, DecodeFrameRef) throws -> Converted
  ) throws -> [Converted: Value] {
    guard tag == ValueTag.map || tag == ValueTag.object else {
      throw unsafe frame.mismatch([String: Any].self, found: tag)
    }
    let child = try unsafe frame.push(tag, at: cursor.next)
    let allowance = unsafe frame.pointee.state.pointee.allowance
    defer {
      unsafe frame.pointee.state.pointee.allowance = allowance
      unsafe frame.pop(child)
    }
    try unsafe child.openKeyed(child.pointee.state.pointee.facts(of: AnyCodingKey.self))
    unsafe cursor.next = child.pointee.next
    let count = unsafe child.pointee.count
    let stride = 2 * (MemoryLayout<Converted>.stride + MemoryLayout<Value>.stride)
    var result = unsafe [Converted: Value](minimumCapacity: child.affordable(count, stride: stride))
    unsafe child.pointee.currentByte = -1
    for index in 0..<count {
      let text: String
      let inner: UInt8
      do throws(CodingFailure) {
        (text, inner) = try unsafe child.openEntry(index, &cursor)
      } catch { throw unsafe error.decodingError(child.path()) }
      if unsafe inner == ValueTag.absent && child.pointee.kind == .shape { continue }
      unsafe child.pointee.currentKey = AnyCodingKey(dictionaryKey: text)
      let key = try unsafe convert(text, child)
      result[key] = try unsafe child.read(Value.self, inner, &cursor)
    }
    return result
  }

  private static func decodePairs(
    _ tag: UInt8, _ cursor: inout ByteCursor, in frame: DecodeFrameRef
  ) throws -> Self {
    try unsafe frame.readElements(tag, &cursor) { child, header, cursor in
      guard header.count.isMultiple(of: 2) else {
        throw unsafe DecodingError.dataCorrupted(
          DecodingError.Context(
            codingPath: child.path(),
            debugDescription: "Expected collection of key-value pairs; encountered odd-length array instead."))
      }
      let stride = MemoryLayout<Key>.stride + MemoryLayout<Value>.stride
      var result = unsafe Self(minimumCapacity: child.affordable(header.count / 2, stride: 2 * stride))
      for index in 0..<header.count / 2 {
        unsafe child.pointee.currentIndex = 2 * index
        let keyTag = try unsafe child.openElement(header, &cursor)
        let key = try unsafe child.read(Key.self, keyTag, &cursor)
        unsafe child.pointee.currentIndex = 2 * index + 1
        let valueTag = try unsafe child.openElement(header, &cursor)
        result[key] = try unsafe child.read(Value.self, valueTag, &cursor)
      }
      return result
    }
  }
}

extension UnsafeMutablePointer where Pointee == DecodeFrame {
  /// The key and the tag of an entry that a cursor stands at.
  @inline(__always)
  func openEntry(_ index: Int, _ cursor: inout ByteCursor) throws(CodingFailure) -> (String, UInt8) {
    if unsafe pointee.kind == .map {
      let text = try cursor.readString()
      return (text, try unsafe readInnerTag(&cursor))
    }
    let field = unsafe pointee.fields.unsafelyUnwrapped[index]
    let text = unsafe String(decoding: pointee.state.pointee.tables.key(Int(field >> 8)), as: UTF8.self)
    let tag = UInt8(truncatingIfNeeded: field)
    return (text, tag == ValueTag.any ? try cursor.readTag() : tag)
  }

  /// Reads a map whose values are all of one well-known tag.
  @inline(__always)
  fileprivate func readTexts<Value>(
    _ cursor: inout ByteCursor, _ read: (UInt8, inout ByteCursor) throws -> Value
  ) throws -> [String: Value] {
    let count: Int
    let tag: UInt8
    do throws(CodingFailure) {
      tag = try cursor.readByte()
      count = try cursor.readCount(ofSize: 2)
    } catch { throw unsafe corrupt(error) }
    let stride = 2 * (MemoryLayout<String>.stride + MemoryLayout<Value>.stride)
    let allowance = unsafe pointee.state.pointee.allowance
    defer { unsafe pointee.state.pointee.allowance = allowance }
    var result = unsafe [String: Value](minimumCapacity: affordable(count, stride: stride))
    for _ in 0..<count {
      let key = try unsafe readString(ValueTag.string, &cursor)
      result[key] = try read(tag, &cursor)
    }
    return result
  }
}
