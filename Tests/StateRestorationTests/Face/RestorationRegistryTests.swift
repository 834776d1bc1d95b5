import Testing

@testable import StateRestoration

/// Only registered classes are made, and only of the recorded class is state accepted (R2.4, R2.6, R2.7).
@MainActor struct RestorationRegistryTests {
  class Editor: RestorableController {
    var restoration: RestorationIdentity { RestorationIdentity("editor", class: "editor") }

    static func makeForRestoration(at path: RestorationPath, coder: RestorationDecoder) -> Editor? {
      path.last == "editor" ? Editor() : nil
    }
  }

  final class RichEditor: Editor {}

  final class Plain: RestorableController {
    var restoration: RestorationIdentity = "plain"
  }

  @Test func `a static function of a class makes its instances, or declines`() throws {
    let registry = RestorationRegistry()
    registry.register(Editor.self, as: "editor", make: Editor.makeForRestoration)
    let make = try #require(registry.registeredClass("editor")?.make)
    #expect(make(["root", "editor"], try decoder()) is Editor)
    #expect(make(["root", "other"], try decoder()) == nil)
  }

  @Test func `a closure can make instances too`() throws {
    let registry = RestorationRegistry()
    registry.register(Plain.self, as: "plain") { _, _ in Plain() }
    let make = try #require(registry.registeredClass("plain")?.make)
    #expect(make(["plain"], try decoder()) is Plain)
  }

  @Test func `a class registered without a way to make it leaves the making to others`() throws {
    let registry = RestorationRegistry()
    registry.register(Plain.self, as: "plain")
    #expect(try #require(registry.registeredClass("plain")).make == nil)
  }

  @Test func `a former tag leads to the class's tag of today`() throws {
    let registry = RestorationRegistry()
    registry.register(Editor.self, as: "editor", formerly: ["note-editor"])
    #expect(registry.registeredClass("note-editor")?.tag == "editor")
  }

  @Test func `a tag that was not registered makes nothing, whatever the archive calls it`() {
    let registry = RestorationRegistry()
    #expect(registry.registeredClass("StateRestorationTests.RestorationRegistryTests.Plain") == nil)
    #expect(registry.registeredClass("Editor") == nil)
  }

  private func accepts(
    _ registry: RestorationRegistry, _ object: any RestorableObject, recorded tag: RestorationIdentity.ClassTag?
  ) -> Bool {
    registry.asker(object).mismatch(with: Identity(classTag: tag)) == nil
  }

  @Test func `state goes to the recorded class and its subclasses only`() {
    let registry = RestorationRegistry()
    registry.register(Editor.self, as: "editor")
    #expect(accepts(registry, Editor(), recorded: "editor"))
    #expect(accepts(registry, RichEditor(), recorded: "editor"))
    #expect(!accepts(registry, Plain(), recorded: "editor"))
    #expect(accepts(registry, Plain(), recorded: nil))
  }

  @Test func `state of an unregistered class goes only to an object with the same tag`() {
    let registry = RestorationRegistry()
    let plain = Plain()
    #expect(!accepts(registry, plain, recorded: "unknown"))
    plain.restoration.class = "unknown"
    #expect(accepts(registry, plain, recorded: "unknown"))
  }

  @Test func `two classes under one tag trap and are both named`() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await MainActor.run {
        let registry = RestorationRegistry()
        registry.register(Editor.self, as: "editor")
        registry.register(Plain.self, as: "plain", formerly: ["editor"])
      }
    }
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.contains("“editor” is the tag of two classes, Editor and Plain"))
  }

  @Test func `a class that is registered again under its tag takes the place of the former registration`() throws {
    let registry = RestorationRegistry()
    registry.register(Editor.self, as: "editor", formerly: ["note-editor", "old-editor"])
    registry.register(Editor.self, as: "editor", formerly: ["note-editor"], freshFor: .seconds(60)) { _, _ in nil }
    for tag in ["editor", "note-editor"] as [RestorationIdentity.ClassTag] {
      let registered = try #require(registry.registeredClass(tag))
      #expect(registered.freshFor == .seconds(60))
      let make = try #require(registered.make)
      #expect(make(["root", "editor"], try decoder()) == nil)
    }
    #expect(registry.registeredClass("old-editor") == nil)
  }

  @Test func `a blueprint makes what has an identifier`() throws {
    let registry = RestorationRegistry()
    registry.registerBlueprint("plain") { _, _ in Plain() }
    let make = try #require(registry.blueprint("plain"))
    #expect(make(["plain"], try decoder()) is Plain)
    #expect(registry.blueprint("other") == nil)
  }

  final class Library: RestorableObject {}

  @Test func `a shared object is known by identifier and not kept alive`() {
    let registry = RestorationRegistry()
    var library: Library? = Library()
    registry.share(library!, as: "library")
    #expect(registry.sharedObject("library") === library)
    #expect(registry.livingSharedObjects.map(\.identifier) == ["library"])
    library = nil
    #expect(registry.sharedObject("library") == nil)
    #expect(registry.livingSharedObjects.isEmpty)
  }

  @Test func `two shared objects of one identifier trap and are both named`() async {
    await #expect(processExitsWith: .failure) {
      await MainActor.run {
        let registry = RestorationRegistry()
        let (one, two) = (Library(), Library())
        registry.share(one, as: "library")
        registry.share(two, as: "library")
        withExtendedLifetime(one) {}
      }
    }
  }
}
