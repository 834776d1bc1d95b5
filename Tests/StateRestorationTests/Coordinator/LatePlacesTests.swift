import StateRestorationTesting
import TestTraits
import Testing

@testable import StateRestoration

/// Where the state of a late object is: below what its parent was given, wherever the parent is now.
@MainActor @Suite(.tags(.threads)) struct LatePlacesTests {
  private let bench = Bench()

  /// What a find panel in a document is given by the next run.
  private func text(in document: RestorationIdentifier) async throws -> String {
    let find = Screen("find")
    _ = try await bench.launch().restore(into: Screen("root", children: [Screen(document, children: [find])]))
    return find.text
  }

  /// Saves a document with a find panel, and launches with the document alone.
  private func launch() async throws -> (coordinator: RestorationCoordinator, root: Screen, document: Screen) {
    try await bench.preserve(
      Screen("root", children: [Screen("document", text: "text", children: [Screen("find", text: "typed")])]))
    let document = Screen("document")
    let root = Screen("root", children: [document])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    return (coordinator, root, document)
  }

  @Test(arguments: [false, true]) func `below a renamed parent`(saves: Bool) async throws {
    let (coordinator, root, document) = try await launch()
    document.restoration.identifier = "renamed"
    if saves { _ = try await coordinator.preserve(root) }
    let find = Screen("find")
    document.restorationChildren = [find]
    #expect(coordinator.restore(find, at: ["root", "renamed", "find"])?.isRestored == true)
    #expect(find.text == "typed")
    _ = try await coordinator.preserve(root)
    #expect(try await text(in: "renamed") == "typed")
  }

  @Test(arguments: [false, true]) func `below a parent that has moved`(saves: Bool) async throws {
    let (coordinator, root, document) = try await launch()
    let group = Screen("group", children: [document])
    root.restorationChildren = [group]
    if saves { _ = try await coordinator.preserve(root) }
    let find = Screen("find")
    document.restorationChildren = [find]
    #expect(coordinator.restore(find, at: ["root", "group", "document", "find"])?.isRestored == true)
    #expect(find.text == "typed")
  }

  @Test(arguments: [false, true]) func `not below a parent that has taken another's name`(saves: Bool) async throws {
    let (coordinator, root, document) = try await launch()
    document.restoration.identifier = "renamed"
    let other = Screen("document")
    root.restorationChildren = [document, other]
    if saves { _ = try await coordinator.preserve(root) }
    let find = Screen("find")
    other.restorationChildren = [find]
    #expect(coordinator.restore(find, at: ["root", "document", "find"]) == nil)
    #expect(find.text == "")
    let own = Screen("find")
    document.restorationChildren = [own]
    #expect(coordinator.restore(own, at: ["root", "renamed", "find"])?.isRestored == true)
    _ = try await coordinator.preserve(root)
    #expect(try await text(in: "renamed") == "typed")
  }

  @Test(arguments: [false, true]) func `not below a parent that shows another model`(saves: Bool) async throws {
    func editor(_ child: Screen?) -> Screen {
      let editor = Screen("editor", children: child.map { [$0] } ?? [])
      editor.restoration.model = "A"
      return editor
    }
    try await bench.preserve(Screen("root", children: [editor(Screen("find", text: "A's"))]))
    let changing = editor(nil)
    let root = Screen("root", children: [changing])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    changing.restoration.model = "B"
    if saves { _ = try await coordinator.preserve(root) }
    let find = Screen("find")
    changing.restorationChildren = [find]
    #expect(coordinator.restore(find, at: ["root", "editor", "find"]) == nil)
    #expect(find.text == "")
    _ = try await coordinator.preserve(root)
    let last = Screen("find")
    _ = try await bench.launch().restore(into: Screen("root", children: [editor(last)]))
    #expect(last.text == "A's")
  }

  @Test(arguments: [false, true])
  func `below a row that its parent gave up with its first model`(saves: Bool) async throws {
    let (coordinator, root, document) = try await launch()
    (document.restoration.model, document.text) = ("B", "of B")
    if saves { _ = try await coordinator.preserve(root) }
    let find = Screen("find")
    document.restorationChildren = [find]
    #expect(coordinator.restore(find, at: ["root", "document", "find"])?.isRestored == true)
    #expect(find.text == "typed")
    _ = try await coordinator.preserve(root)
    #expect(try await text(in: "document") == "typed")
  }

  @Test func `not below a parent that has shown another model since`() async throws {
    func editor(_ children: Screen...) -> Screen {
      let editor = Screen("editor", children: children)
      editor.restoration.model = "A"
      return editor
    }
    try await bench.preserve(Screen("root", children: [editor(Screen("find", text: "A's"))]))
    let changing = editor()
    let root = Screen("root", children: [changing])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    for model in ["B", "A"] {
      changing.restoration.model = ModelIdentifier(rawValue: model)
      _ = try await coordinator.preserve(root)
    }
    let find = Screen("find")
    changing.restorationChildren = [find]
    #expect(coordinator.restore(find, at: ["root", "editor", "find"]) == nil)
  }

  @Test func `an object that was given a row is asked for no other`() async throws {
    func note(_ name: RestorationIdentifier, _ model: ModelIdentifier, text: String = "") -> Screen {
      let note = Screen(name, text: text)
      note.restoration.model = model
      return note
    }
    try await bench.preserve(Screen("root", children: [note("a", "A", text: "A's"), note("b", "B", text: "B's")]))
    let note = note("a", "A")
    let root = Screen("root", children: [note])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    (note.restoration.identifier, note.restoration.model, note.text) = ("b", "B", "shown as B")
    #expect(coordinator.restore(note, at: ["root", "b"]) == nil)
    #expect(note.text == "shown as B")
    guard case .preserved(let receipt) = try await coordinator.preserve(root) else {
      Issue.record("nothing was preserved")
      return
    }
    #expect(receipt.changedNodes == 1)
  }

  @Test func `what is forgotten below a renamed parent is not given by its former path`() async throws {
    let (coordinator, root, document) = try await launch()
    document.restoration.identifier = "renamed"
    _ = try await coordinator.preserve(root)
    #expect(await coordinator.forget(["root", "renamed", "find"]))
    let find = Screen("find")
    document.restorationChildren = [find]
    coordinator.restore(find, at: ["root", "document", "find"])
    coordinator.restore(find, at: ["root", "renamed", "find"])
    #expect(find.text == "")
  }

  @Test(arguments: [false, true]) func `a scope below a renamed parent`(saves: Bool) async throws {
    func launch(_ name: RestorationIdentifier) async throws -> (RestorationCoordinator, Screen, RestorationScope) {
      let scope = RestorationScope("scope")
      let root = Screen("root", children: [Screen(name, children: [scope])])
      let coordinator = bench.launch()
      _ = try await coordinator.restore(into: root)
      return (coordinator, root, scope)
    }
    do {
      let (coordinator, root, scope) = try await launch("document")
      try scope.setValue("typed", forKey: "draft")
      _ = try await coordinator.preserve(root)
    }
    do {
      let (coordinator, root, scope) = try await launch("document")
      root["document"]?.restoration.identifier = "renamed"
      if saves { _ = try await coordinator.preserve(root) }
      #expect(try scope.value(ofType: String.self, forKey: "draft") == "typed")
      _ = try await coordinator.preserve(root)
    }
    let (coordinator, root, scope) = try await launch("renamed")
    defer { withExtendedLifetime((coordinator, root)) {} }
    #expect(try scope.value(ofType: String.self, forKey: "draft") == "typed")
  }

  @Test func `a view that is made late`() async throws {
    func screen(_ views: Field...) -> Screen {
      let screen = Screen("root")
      screen.restorationViews = views
      return screen
    }
    try await bench.preserve(screen(Field("field", 7)))
    let root = screen()
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    let field = Field("field")
    root.restorationViews = [field]
    #expect(coordinator.restore(field, at: ["root", "field"])?.isRestored == true)
    #expect(field.restorableState == 7)
    _ = try await coordinator.preserve(root)
    let last = Field("field")
    _ = try await bench.launch().restore(into: screen(last))
    #expect(last.restorableState == 7)
  }

  @Test(arguments: [false, true])
  func `a controller that has left is given another's state when it comes as that`(isLookedAt: Bool) async throws {
    let group = Screen("b", text: "b's", children: [Screen("find", text: "below b")])
    try await bench.preserve(Screen("root", children: [Screen("a", text: "a's"), group, Screen("c", text: "c's")]))
    let used = Screen("a")
    let root = Screen("root", children: [used])
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    root.restorationChildren = []
    _ = try await coordinator.preserve(root)
    if isLookedAt {
      let other = Screen("c")
      root.restorationChildren = [other]
      #expect(coordinator.restore(other, at: ["root", "c"])?.isRestored == true)
    }
    used.restoration.identifier = "b"
    root.restorationChildren.append(used)
    #expect(coordinator.restore(used, at: ["root", "b"])?.isRestored == true)
    #expect(used.text == "b's")
    let find = Screen("find")
    used.restorationChildren = [find]
    #expect(coordinator.restore(find, at: ["root", "b", "find"])?.isRestored == true)
    #expect(find.text == "below b")
  }

  @Test func `a shared object that was renamed leaves its state to the run after, too`() async throws {
    let root = Screen("root")
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    var first: Screen? = Screen("library", text: "precious")
    for name in ["before", "library"] as [RestorationIdentifier] {
      if let first { coordinator.registry.share(first, as: name) }
      _ = try await coordinator.preserve(root)
    }
    first = nil
    _ = try await coordinator.preserve(root)
    let second = Screen("library")
    coordinator.registry.share(second, as: "library")
    _ = try await coordinator.preserve(root)
    let last = Screen("library")
    _ = try await bench.launch { $0.share(last, as: "library") }.restore(into: Screen("root"))
    #expect(last.text == "precious")
  }

  @Test(arguments: [false, true], [false, true])
  func `a shared object leaves its state to the run after, whatever was restored`(
    restores: Bool, saves: Bool
  ) async throws {
    if restores { try await bench.preserve(Screen("root")) }
    let root = Screen("root")
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    var first: Screen? = Screen("library", text: "precious")
    if let first { coordinator.registry.share(first, as: "library") }
    _ = try await coordinator.preserve(root)
    first = nil
    if saves { _ = try await coordinator.preserve(root) }
    let second = Screen("library")
    coordinator.registry.share(second, as: "library")
    await coordinator.endTurn()
    _ = try await coordinator.preserve(root)
    let last = Screen("library")
    _ = try await bench.launch { $0.share(last, as: "library") }.restore(into: Screen("root"))
    #expect(last.text == "precious")
  }
}
