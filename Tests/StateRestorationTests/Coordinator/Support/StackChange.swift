import StateRestoration

/// What happens in a stack of a list and an editor; none of it edits the editor.
enum StackChange: CaseIterable, Sendable {
  case none, insertsBelow, renamesBelow, pushesAbove

  /// The list's name then.
  var listName: RestorationIdentifier { self == .renamesBelow ? "catalogue" : "list" }

  /// The identifiers in the stack then.
  var names: [RestorationIdentifier] {
    switch self {
    case .none: ["list", "editor"]
    case .insertsBelow: ["list", "extra", "editor"]
    case .renamesBelow: ["catalogue", "editor"]
    case .pushesAbove: ["list", "editor", "detail"]
    }
  }

  @MainActor func apply(to stack: NavigationController) {
    switch self {
    case .none: break
    case .insertsBelow: stack.setStack([stack.stack[0], Panel.made("extra", value: 1), stack.stack[1]])
    case .renamesBelow: (stack.stack[0] as? Screen)?.restoration.identifier = listName
    case .pushesAbove: stack.push(Panel.made("detail", value: 7))
    }
  }
}
