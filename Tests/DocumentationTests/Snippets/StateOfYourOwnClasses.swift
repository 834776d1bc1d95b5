import Observation
import StateRestoration

struct OwnClassesSnippets {
  // snippet: Parent
  /// A document with a filter below it, and a ruler that has state of its own.
  final class DocumentController: RestorationParent, RestorationViewOwner {
    let restoration: RestorationIdentity = "document"
    let filter = StoredValue("filter", "")
    let ruler = Ruler()

    var restorationChildren: [any RestorableController] { [filter] }
    var restorationViews: [any RestorableView] { [ruler] }
  }

  final class Ruler: RestorableView {
    let restoration: RestorationIdentity = "ruler"
    @Restored("unit") var unit = "cm"
  }
  // snippet end

  // snippet: Factory
  @Observable final class NoteController: RestorableController, StatefulObject {
    nonisolated struct State: Codable, Sendable {
      var draft = ""
    }

    let note: ModelIdentifier
    var restoration: RestorationIdentity { RestorationIdentity("note \(note)", class: "note", model: note) }
    var restorableState = State()

    init(note: ModelIdentifier) {
      self.note = note
    }

    static func makeForRestoration(at path: RestorationPath, coder: RestorationDecoder) -> NoteController? {
      coder.modelIdentifier.map { NoteController(note: $0) }
    }
  }
  // snippet end

  // snippet: Register
  @MainActor func register(with restorer: RestorationCoordinator) {
    restorer.registry.register(
      NoteController.self, as: "note", formerly: ["memo"], freshFor: .seconds(30 * 24 * 3600),
      make: NoteController.makeForRestoration)
    restorer.registry.registerBlueprint("settings") { _, _ in SettingsController() }
  }
  // snippet end

  final class SettingsController: RestorableController {
    let restoration: RestorationIdentity = "settings"
  }

  // snippet: Container
  /// A screen with a drawer that slides over it.
  @Observable final class DrawerController: ContainerController {
    private(set) var content: (any RestorableController)?
    private(set) var drawer: (any RestorableController)?
    var isOpen = false

    init(content: any RestorableController, drawer: any RestorableController) {
      (self.content, self.drawer) = (content, drawer)
      super.init("drawer")
    }

    override var containedControllers: [any RestorableController] { [content, drawer].compactMap { $0 } }

    override var visibleControllers: [any RestorableController] {
      isOpen ? restorationChildren : restorationChildren.filter { $0 !== drawer }
    }

    override func restorationRole(of child: any RestorableController) -> RestoredChild.Role? {
      child === drawer ? "drawer" : super.restorationRole(of: child)
    }

    override func install(_ children: [RestoredChild]) {
      content = children.filter { $0.role == nil }.newest ?? content
      drawer = children.filter { $0.role == "drawer" }.newest ?? drawer
    }
  }
  // snippet end

  // snippet: OwnSuperclass
  class Screen {}  // your toolkit's

  final class PagesController: Screen, RestorationContainer {
    let restoration: RestorationIdentity = "pages"
    var pages: [any RestorableController] = []

    var restorationChildren: [any RestorableController] { pages }

    func restorationRole(of child: any RestorableController) -> RestoredChild.Role? { nil }

    func installRestoredChildren(_ children: [RestoredChild]) { pages = children.arranged(with: pages) }
  }
  // snippet end

  // snippet: Reference
  final class InspectorController: RestorableController, CodingObject {
    let restoration: RestorationIdentity = "inspector"
    weak var inspected: NoteController?

    func encodeRestorableState(with coder: RestorationEncoder) {
      coder.encodeReference(to: inspected, forKey: "inspected")
    }

    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      inspected = try coder.reference(to: NoteController.self, forKey: "inspected")
    }
  }
  // snippet end

  // snippet: Shared
  final class Library: RestorableObject {
    @Restored("sort order") var sortOrder = "title"
  }

  @MainActor func share(_ library: Library, with restorer: RestorationCoordinator) {
    restorer.registry.share(library, as: "library")
  }
  // snippet end
}

// snippet: Wrapper
// Somebody else's type.
struct Colour: Sendable, Equatable {
  var red, green, blue: Double
}

/// Its form in the archive.
nonisolated struct StoredColour: Codable, Sendable {
  var red, green, blue: Double

  init(_ colour: Colour) { (red, green, blue) = (colour.red, colour.green, colour.blue) }

  var colour: Colour { Colour(red: red, green: green, blue: blue) }
}

final class PainterController: RestorableController {
  let restoration: RestorationIdentity = "painter"
  @Restored("ink") private var storedInk = StoredColour(Colour(red: 0, green: 0, blue: 0))

  var ink: Colour {
    get { storedInk.colour }
    set { storedInk = StoredColour(newValue) }
  }
}
// snippet end
