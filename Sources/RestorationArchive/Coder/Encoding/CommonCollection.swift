/// The collections that states have most: encoded by code made for each, which asks the runtime for nothing.
enum CommonCollection: UInt8 {
  /// Any other; its own conformance to `FastEncodable` encodes it.
  case other
  case integers, doubles, texts
  case integersByText, doublesByText, textsByText, flagsByText

  /// Recognises a type.
  init(_ type: Any.Type) {
    switch ObjectIdentifier(type) {
    case ObjectIdentifier([Int].self): self = .integers
    case ObjectIdentifier([Double].self): self = .doubles
    case ObjectIdentifier([String].self): self = .texts
    case ObjectIdentifier([String: Int].self): self = .integersByText
    case ObjectIdentifier([String: Double].self): self = .doublesByText
    case ObjectIdentifier([String: String].self): self = .textsByText
    case ObjectIdentifier([String: Bool].self): self = .flagsByText
    default: self = .other
    }
  }
}

extension EncodeState {
  /// Writes a collection of one of the commonest types, and tells its tag.
  ///
  /// The bytes are those that the conformance to `FastEncodable` writes.
  mutating func writeCommon(_ value: UnsafeRawPointer, _ type: CommonCollection) -> UInt8 {
    @inline(__always)
    func load<T>(_ type: T.Type) -> T { unsafe value.assumingMemoryBound(to: type).pointee }
    @inline(__always)
    func list<T>(_ type: T.Type, _ kind: TypeKind, _ state: inout EncodeState) -> UInt8 {
      unsafe load([T].self).withUnsafeBufferPointer { elements in
        unsafe state.writePacked(
          UnsafeRawPointer(elements.baseAddress), count: elements.count, kind: kind, stride: MemoryLayout<T>.stride)
      }
    }
    @inline(__always)
    func texts<T>(
      _ type: T.Type, _ kind: TypeKind, _ state: inout EncodeState, writing write: (inout EncodeState, T) -> Void
    ) -> UInt8 {
      let dictionary = load([String: T].self)
      state.writeByte(kind.tag)
      state.writeNumber(UInt64(dictionary.count))
      state.writeEntries(of: dictionary, writing: write)
      return ValueTag.map
    }
    switch type {
    case .integers: return list(Int.self, .int, &self)
    case .doubles: return list(Double.self, .double, &self)
    case .texts: return list(String.self, .string, &self)
    case .integersByText: return texts(Int.self, .int, &self) { $0.writeInteger(Int64($1)) }
    case .doublesByText: return texts(Double.self, .double, &self) { $0.writeShort($1) }
    case .textsByText: return texts(String.self, .string, &self) { $0.writeString($1) }
    case .flagsByText: return texts(Bool.self, .bool, &self) { $0.writeByte($1 ? 1 : 0) }
    case .other: preconditionFailure("only its conformance knows how to encode such a collection")
    }
  }
}
