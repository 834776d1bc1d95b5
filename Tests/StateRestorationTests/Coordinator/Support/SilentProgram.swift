import Observation
import StateRestoration

/// How a program can say a state that changes silently.
enum SilentWay: String, CaseIterable, Codable, Sendable {
  case plainProperty, plainValue, ignoredProperty, objectBehind, view, viewsOfController, sharedObject
  case childList, orderOfChildren, role, model, priority, nameOfChild, reference, application
}

/// A program with one kind of state that changes silently.
@MainActor final class SilentProgram {
  let way: SilentWay
  let root: any RestorableController
  private let pane = PlainPane("pane")
  private let value = PlainValue("value")
  private let ignoring = Ignoring("ignoring")
  private let shared = SharedModel()

  init(_ way: SilentWay) {
    self.way = way
    let top = PlainPane("top")
    switch way {
    case .plainValue: top.restorationChildren = [value]
    case .ignoredProperty, .objectBehind: top.restorationChildren = [ignoring]
    case .view: top.restorationViews = [PlainView("view")]
    default: top.restorationChildren = [pane, Panel("a", value: 1), Panel("b", value: 1)]
    }
    root = top
  }

  var register: (RestorationRegistry) -> Void {
    { [shared] registry in
      registry.register(PlainPane.self, as: "pane") { path, _ in PlainPane(path.last ?? "", tag: "pane") }
      registry.register(Panel.self, as: "panel") { path, _ in
        let panel = Panel(path.last)
        panel.tag = "panel"
        return panel
      }
      registry.share(shared, as: "model")
    }
  }

  private var top: PlainPane { root as! PlainPane }

  private var names: [String] { top.restorationChildren.map { $0.restoration.identifier?.rawValue ?? "-" } }

  func change() {
    switch way {
    case .plainProperty: pane.text = "changed"
    case .plainValue: value.restorableState = "changed"
    case .ignoredProperty: ignoring.draft = "changed"
    case .objectBehind: ignoring.document.text = "changed"
    case .view: (top.restorationViews[0] as? PlainView)?.offset = 9
    case .viewsOfController: top.restorationViews = [PlainView("new view", offset: 3)]
    case .sharedObject: shared.text = "changed"
    case .childList: top.restorationChildren.append(PlainPane("new", tag: "pane"))
    case .orderOfChildren: top.restorationChildren.swapAt(1, 2)
    case .role: top.roles["a"] = "front"
    case .model: pane.restoration.model = "note 9"
    case .priority: pane.restoration.priority = .high
    case .nameOfChild: (top.restorationChildren[1] as? Panel)?.restoration.identifier = "renamed"
    case .reference: pane.friend = top.restorationChildren[2] as? Panel
    case .application: break
    }
  }

  /// Whether a program that was restored has the change.
  var isChanged: Bool {
    switch way {
    case .plainProperty: pane.text == "changed"
    case .plainValue: value.restorableState == "changed"
    case .ignoredProperty: ignoring.draft == "changed"
    case .objectBehind: ignoring.document.text == "changed"
    case .view: (top.restorationViews[0] as? PlainView)?.offset == 9
    case .viewsOfController: true
    case .sharedObject: shared.text == "changed"
    case .childList: names.contains("new")
    case .orderOfChildren: names == ["pane", "b", "a"]
    case .role: top.installed.contains { $0.role == "front" && $0.identifier == "a" }
    case .model, .priority: true
    case .nameOfChild: top.installed.contains { $0.identifier == "renamed" }
    case .reference: pane.friend === top.restorationChildren[2]
    case .application: false
    }
  }
}

/// A controller of a class tree, with plain variables only.
private final class PlainPane: CodingObject, RestorationContainer, RestorationViewOwner {
  var restoration: RestorationIdentity
  var restorationChildren: [any RestorableController] = []
  var restorationViews: [any RestorableView] = []
  var roles: [RestorationIdentifier: RestoredChild.Role] = [:]
  var installed: [RestoredChild] = []
  var text = "first"
  weak var friend: Panel?

  init(_ identifier: RestorationIdentifier, tag: RestorationIdentity.ClassTag? = nil) {
    restoration = RestorationIdentity(identifier, class: tag)
  }

  func restorationRole(of child: any RestorableController) -> RestoredChild.Role? {
    child.restoration.identifier.flatMap { roles[$0] }
  }

  func installRestoredChildren(_ children: [RestoredChild]) {
    installed = children
    restorationChildren = children.arranged(with: restorationChildren)
  }

  func encodeRestorableState(with coder: RestorationEncoder) {
    coder.encode(text, forKey: "text")
    coder.encodeReference(to: friend, forKey: "friend")
  }

  func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    text = try coder.decode(forKey: "text")
    friend = try coder.reference(forKey: "friend")
  }
}

private final class PlainValue: RestorableController, StatefulObject {
  let restoration: RestorationIdentity
  var restorableState = "first"

  init(_ identifier: RestorationIdentifier) { restoration = RestorationIdentity(identifier) }
}

private final class PlainView: RestorableView, CodingObject {
  let restoration: RestorationIdentity
  var offset: Int

  init(_ identifier: RestorationIdentifier, offset: Int = 0) {
    restoration = RestorationIdentity(identifier)
    self.offset = offset
  }

  func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(offset, forKey: "offset") }

  func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    offset = try coder.decode(forKey: "offset")
  }
}

private final class SharedModel: CodingObject {
  var text = "first"

  func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(text, forKey: "text") }
  func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    text = try coder.decode(forKey: "text")
  }
}

/// A document that knows of no observation.
private final class Document {
  var text = "first"
}

/// An observed class with state that the observation does not see.
@Observable private final class Ignoring: RestorableController, StatefulObject {
  nonisolated struct State: Codable, Sendable {
    var draft = "first"
    var text = "first"
  }

  let restoration: RestorationIdentity
  @ObservationIgnored var draft = "first"
  var document = Document()

  var restorableState: State {
    get { State(draft: draft, text: document.text) }
    set { (draft, document.text) = (newValue.draft, newValue.text) }
  }

  init(_ identifier: RestorationIdentifier) { restoration = RestorationIdentity(identifier) }
}
