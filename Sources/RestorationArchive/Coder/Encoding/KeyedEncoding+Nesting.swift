extension KeyedEncoding {
  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    encoder(key, continuing: true).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoder(key, continuing: true).unkeyedContainer()
  }

  func superEncoder(forKey key: Key) -> any Encoder { encoder(key, continuing: false) }

  func superEncoder() -> any Encoder { encoder(AnyCodingKey.super, continuing: false) }

  /// An encoder whose value is inserted here when the container's value is complete.
  ///
  /// - Parameter continuing: Whether it goes on with what an earlier one for the same key has written; else its value
  ///   takes that one's place.
  private func encoder(_ key: any CodingKey, continuing: Bool) -> EncoderHandle {
    let text = key.stringValue
    let dead = EncoderHandle(frame: frame, epochs: epochs, epoch: EncoderHandle.dead)
    guard (try? check()) != nil else { return dead }
    let state = frame.pointee.state
    let before = state.pointee.writer.count
    let number = frame.pointee.kind == .map ? 0 : state.pointee.interner.number(of: text)
    if continuing, let known = frame.childEncoder(forKey: text, number) { return known }
    if number == 0 { state.pointee.writer.writeString(text) }
    do {
      let child = try frame.makeChild(key, isNested: continuing)
      if number == 0 { frame.pointee.count += 1 } else { frame.advance(number, ValueTag.any) }
      return child
    } catch {
      state.pointee.writer.truncate(to: before)
      return dead
    }
  }
}
