import Observation
import StateRestoration

/// A text that refuses to be encoded, if that is asked for.
nonisolated struct FragileText: Codable, Sendable {
  var text = ""
  var fails = false

  init(_ text: String = "", fails: Bool = false) { (self.text, self.fails) = (text, fails) }

  init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }

  func encode(to encoder: any Encoder) throws {
    if fails { throw EncodingError.invalidValue(text, .init(codingPath: [], debugDescription: "")) }
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

/// A controller whose value may refuse to be encoded.
@Observable final class FragileController: RestorableController, StatefulObject {
  var restoration: RestorationIdentity
  var restorableState: FragileText

  init(
    _ identifier: RestorationIdentifier, _ text: String = "", fails: Bool = false,
    tag: RestorationIdentity.ClassTag? = nil
  ) {
    restoration = RestorationIdentity(identifier, class: tag)
    restorableState = FragileText(text, fails: fails)
  }
}
