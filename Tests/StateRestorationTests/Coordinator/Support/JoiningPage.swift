import Observation
import StateRestoration

/// A page that joins what was typed while locked to what is stored.
@Observable final class JoiningPage: MergingController {
  let restorationIdentifier: RestorationIdentifier? = "page"
  var restorationClass: RestorationClass?
  var restorationModelIdentifier: ModelIdentifier?
  var restorableState: String

  init(_ text: String = "", model: ModelIdentifier? = nil, tag: RestorationClass? = nil) {
    (restorableState, restorationModelIdentifier, restorationClass) = (text, model, tag)
  }

  func merged(stored: String, pending: String) -> String { stored + "+" + pending }
}
