import StateRestoration

struct PushedTwiceSnippets {
  // snippet: PushedTwice
  /// The screen of one item; its identifier says which push it was.
  final class LinkedScreen: RestorableController {
    let title: String
    let restoration: RestorationIdentity

    init(title: String, identifier: RestorationIdentifier?) {
      self.title = title
      restoration = RestorationIdentity(identifier, class: "linked", model: ModelIdentifier(title))
    }
  }

  @MainActor func register(in registry: RestorationRegistry) {
    registry.register(LinkedScreen.self, as: "linked") { path, coder in
      coder.modelIdentifier.map { LinkedScreen(title: $0.rawValue, identifier: path.last) }
    }
  }

  @MainActor func show(_ title: String, on stack: NavigationController) {
    stack.push(LinkedScreen(title: title, identifier: stack.identifier(forPushing: "linked")))
  }
  // snippet end
}
