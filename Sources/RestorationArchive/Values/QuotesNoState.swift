/// An error whose description holds names, numbers and positions only, never state.
package protocol QuotesNoState: Error, CustomStringConvertible {}

extension Error {
  /// What the error is, in words that can't quote state, for reports and logs.
  ///
  /// The description of an error of the program's, or of `Codable`'s, may quote the value that it is about: a raw value that
  /// fits no case, a key of a dictionary, a payload. Of those stay the kind, the types and the names in the program's source.
  package var descriptionWithoutState: String {
    let error: any Error = self
    switch error {
    case let known as any QuotesNoState: return known.description
    case DecodingError.typeMismatch(let type, let context):
      return "typeMismatch: no \(type)\(context.place)"
    case DecodingError.valueNotFound(let type, let context):
      return "valueNotFound: no \(type)\(context.place)"
    case DecodingError.keyNotFound(let key, let context):
      return "keyNotFound: no \(key.nameWithoutState)\(context.place)"
    case DecodingError.dataCorrupted(let context):
      let underlying = (context.underlyingError as? any QuotesNoState).map { ": \($0)" } ?? ""
      return "dataCorrupted\(context.place)\(underlying)"
    case EncodingError.invalidValue(let value, let context):
      let place = context.codingPath.placeWithoutState
      if let known = context.underlyingError as? any QuotesNoState { return "invalidValue\(place): \(known)" }
      return "invalidValue: a \(type(of: value))\(place)"
    default:
      // A case without a payload can hold no state; what it says of itself may quote some from elsewhere.
      let isNamed = isBareCase(self) && !(self is any CustomStringConvertible)
      return isNamed ? "\(type(of: self)).\(self)" : "an error of type \(type(of: self))"
    }
  }
}

/// Whether a value is a case of an enumeration, and nothing else.
private func isBareCase(_ value: Any) -> Bool {
  let mirror = Mirror(reflecting: value)
  return mirror.displayStyle == .enum && mirror.children.isEmpty
}

extension DecodingError.Context {
  fileprivate var place: String { codingPath.placeWithoutState }
}

extension [any CodingKey] {
  /// Where, as far as the program's source names it; of a deep value the beginning.
  fileprivate var placeWithoutState: String {
    guard !isEmpty else { return "" }
    let names = prefix(12).map(\.nameWithoutState).joined(separator: ".")
    return " at " + names + (count > 12 ? " and \(count - 12) levels below" : "")
  }
}

extension CodingKey {
  /// The name of a key that the program's source declares, or a position; a key of a dictionary is state.
  fileprivate var nameWithoutState: String {
    if isBareCase(self) { return stringValue }
    if let intValue, stringValue == "Index \(intValue)" { return "\(intValue)" }
    return "…"
  }
}

extension ArchiveError: QuotesNoState {}
