import Foundation
import StateRestoration

/// Inherits the tag of its superclass.
final class Larger: Panel {}

/// Has children, and does not say that it is a parent.
final class Forgetful: RestorableController {
  let restoration: RestorationIdentity = "root"
  let page = Screen("page")
  var restorationChildren: [any RestorableController] { [page] }
}

/// Says its class where UIKit has it.
final class Tagged: RestorableController {
  let restoration: RestorationIdentity = "root"
  let restorationClass = "item"
}

/// Makes its child anew whenever it is asked for it.
final class Fleeting: RestorationParent {
  let restoration: RestorationIdentity = "root"
  var restorationChildren: [any RestorableController] { [Screen("child")] }
}

/// Takes none of its children back.
final class Deaf: RestorationContainer {
  let restoration: RestorationIdentity = "root"
  var restorationChildren: [any RestorableController] { [] }
  func restorationRole(of child: any RestorableController) -> RestoredChild.Role? { nil }
  func installRestoredChildren(_ children: [RestoredChild]) {}
}

nonisolated struct RefusesCoding: Codable, Sendable {
  struct Refusal: Error {}
  init() {}
  init(from decoder: any Decoder) throws { throw Refusal() }
  func encode(to encoder: any Encoder) throws { throw Refusal() }
}

nonisolated struct Newer: VersionedState {
  static var stateVersion: StateVersion { 2 }
  static var migrations: StateMigrations<Newer> { .none }
}

typealias Unmigrated = Newer

nonisolated struct Before: Codable, Sendable { var text = "" }

nonisolated struct RenamedField: Codable, Sendable { var words = "" }

nonisolated struct After: Codable, Sendable {
  var caret = 0
  init() {}
  // It is never stored, so the value at launch has none either.
  func encode(to encoder: any Encoder) throws { _ = encoder.container(keyedBy: CodingKeys.self) }
}

/// A program's version before a key was renamed.
enum Earlier {
  final class Search: RestorableController {
    let restoration: RestorationIdentity = "child"
    @Restored("query") var query = "typed"
  }
}

/// The version after.
enum Later {
  final class Search: RestorableController {
    let restoration: RestorationIdentity = "child"
    @Restored("search") var search = ""
  }
}

/// Says who its rows are, if somebody holds it.
final class Rows: DataSourceModelAssociation {
  func modelIdentifier(forElementAt path: IndexPath, in list: ListController) -> ModelIdentifier? {
    ModelIdentifier("\(path[1])")
  }

  func indexPath(forElementWithModelIdentifier identifier: ModelIdentifier, in list: ListController) -> IndexPath? {
    Int(identifier.rawValue).map { [0, $0] }
  }
}

/// Holds its rows no longer than the line in which it makes the list.
enum ListWithoutAssociation {
  @MainActor static func make() -> ListController {
    ListController("list", association: Rows())
  }
}
