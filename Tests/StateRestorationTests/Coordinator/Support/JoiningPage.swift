import Observation
import StateRestoration

/// A page that joins what was typed while locked to what is stored.
@Observable final class JoiningPage: RestorableController, MergingObject {
  var restoration: RestorationIdentity
  var restorableState: String
  @ObservationIgnored var journal: Journal?

  init(_ text: String = "", model: ModelIdentifier? = nil, tag: RestorationIdentity.ClassTag? = nil) {
    restorableState = text
    restoration = RestorationIdentity("page", class: tag, model: model)
  }

  func merged(stored: String, pending: String) -> String {
    journal?.add("merged")
    return stored + "+" + pending
  }
}

/// A page whose joined text refuses to be encoded, if that is asked for.
@Observable final class FragileJoiningPage: RestorableController, MergingObject {
  let restoration: RestorationIdentity = "page"
  var restorableState: FragileText
  @ObservationIgnored var fails = false

  init(_ text: String = "") { restorableState = FragileText(text) }

  func merged(stored: FragileText, pending: FragileText) -> FragileText {
    FragileText(stored.text + "+" + pending.text, fails: fails)
  }
}
