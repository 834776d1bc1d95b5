extension KeyedEncoding {
  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    nestedEncoder(forKey: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    nestedEncoder(forKey: key).unkeyedContainer()
  }

  func superEncoder(forKey key: Key) -> any Encoder { nestedEncoder(forKey: key) }

  func superEncoder() -> any Encoder {
    guard unsafe frame.pointee.containerMark == mark else { return misusedEncoder() }
    return makeSide(key: AnyCodingKey.super, text: "super")
  }

  private func misusedEncoder() -> EncoderHandle {
    _ = unsafe frame.misused("A keyed container was used after its value was encoded, or inside another value.")
    return unsafe EncoderHandle(frame: frame, mark: EncodeFrame.dead)
  }

  /// An encoder whose value is inserted here when the container's value is complete.
  private func nestedEncoder(forKey key: Key) -> EncoderHandle {
    guard unsafe frame.pointee.containerMark == mark else { return misusedEncoder() }
    if unsafe facts.pointee.isByte, unsafe frame.pointee.kind == .shape {
      let byte = unsafe unsafeBitCast(key, to: UInt8.self)
      let known = unsafe facts.pointee.numbers[Int(byte)]
      if known != 0 {
        do {
          let side = try unsafe frame.makeSide()
          unsafe side.pointee.ownerByte = byte
          unsafe side.pointee.ownerFacts = facts
          unsafe frame.advance(known, ValueTag.any)
          return unsafe EncoderHandle(frame: side.pointee.root, mark: side.pointee.root.pointee.mark)
        } catch {
          return unsafe EncoderHandle(frame: frame, mark: EncodeFrame.dead)
        }
      }
      unsafe facts.pointee.numbers[Int(byte)] = frame.pointee.state.pointee.universe.number(of: key.stringValue)
    }
    return makeSide(key: key, text: key.stringValue)
  }

  private func makeSide(key: any CodingKey, text: String) -> EncoderHandle {
    let state = unsafe frame.pointee.state
    let before = unsafe state.pointee.count
    if unsafe frame.pointee.kind == .map { unsafe state.pointee.writeString(text) }
    do {
      let side = try unsafe frame.makeSide()
      unsafe side.pointee.ownerKey = key
      if unsafe frame.pointee.kind == .map {
        unsafe frame.pointee.count += 1
      } else {
        unsafe frame.advance(state.pointee.universe.number(of: text), ValueTag.any)
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
