extension KeyedEncoding {
  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    nestedEncoder(forKey: key, continuing: true).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    nestedEncoder(forKey: key, continuing: true).unkeyedContainer()
  }

  func superEncoder(forKey key: Key) -> any Encoder { nestedEncoder(forKey: key, continuing: false) }

  func superEncoder() -> any Encoder {
    guard unsafe frame.pointee.containerMark == mark else { return misusedEncoder() }
    return sideEncoder(key: AnyCodingKey.super, continuing: false)
  }

  private func misusedEncoder() -> EncoderHandle {
    _ = unsafe frame.misused("A keyed container was used after its value was encoded, or inside another value.")
    return unsafe EncoderHandle(frame: frame, mark: EncodeFrame.dead)
  }

  /// An encoder whose value is inserted here when the container's value is complete.
  ///
  /// - Parameter continuing: Whether it goes on with what an earlier one for the same key has written; else its value
  ///   takes that one's place.
  private func nestedEncoder(forKey key: Key, continuing: Bool) -> EncoderHandle {
    guard unsafe frame.pointee.containerMark == mark else { return misusedEncoder() }
    guard unsafe facts.pointee.isByte && frame.pointee.kind == .shape else {
      return sideEncoder(key: key, continuing: continuing)
    }
    let byte = unsafe unsafeBitCast(key, to: UInt8.self)
    let numbers = unsafe facts.pointee.numbers
    if unsafe numbers[Int(byte)] == 0 {
      unsafe numbers[Int(byte)] = frame.pointee.state.pointee.universe.number(of: key.stringValue)
    }
    let number = unsafe numbers[Int(byte)]
    if continuing, let known = unsafe frame.sideEncoder(forKey: key.stringValue, number) { return known }
    do {
      let side = try unsafe frame.makeSide(isNested: continuing)
      unsafe side.pointee.ownerByte = byte
      unsafe side.pointee.ownerFacts = facts
      unsafe frame.advance(number, ValueTag.any)
      return unsafe EncoderHandle(frame: side.pointee.root, mark: side.pointee.root.pointee.mark)
    } catch {
      return unsafe EncoderHandle(frame: frame, mark: EncodeFrame.dead)
    }
  }

  private func sideEncoder(key: any CodingKey, continuing: Bool) -> EncoderHandle {
    let state = unsafe frame.pointee.state
    let before = unsafe state.pointee.count
    let text = key.stringValue
    let number = unsafe frame.pointee.kind == .map ? 0 : state.pointee.universe.number(of: text)
    if continuing, let known = unsafe frame.sideEncoder(forKey: text, number) { return known }
    if number == 0 { unsafe state.pointee.writeString(text) }
    do {
      let side = try unsafe frame.makeSide(isNested: continuing)
      unsafe side.pointee.ownerKey = key
      if number == 0 {
        unsafe frame.pointee.count += 1
      } else {
        unsafe frame.advance(number, ValueTag.any)
      }
      return unsafe EncoderHandle(frame: side.pointee.root, mark: side.pointee.root.pointee.mark)
    } catch {
      unsafe state.pointee.truncate(to: before)
      return unsafe EncoderHandle(frame: frame, mark: EncodeFrame.dead)
    }
  }
}

extension UnsafeMutablePointer where Pointee == EncodeFrame {
  /// Ends an entry of a map.
  @inline(never)
  func closeEntry(_ tag: UInt8) {
    unsafe pointee.state.pointee.base[pointee.tagPosition] = tag
    unsafe pointee.count += 1
  }
}
