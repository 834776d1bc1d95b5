import FoundationEssentials
import Observation
import TestTraits
import Testing

@testable import StateRestoration

/// Changes are noticed by themselves, whichever way the state is coded (R9.1).
@MainActor @Suite(.tags(.threads)) struct TrackedObjectTests {
  @Observable final class Editor: RestorableController, StatefulObject {
    @ObservationIgnored let restoration: RestorationIdentity = "editor"
    var restorableState = ""
    @ObservationIgnored var silent = 0
  }

  final class Search: RestorableController {
    let restoration: RestorationIdentity = "search"
    @Restored("query") var query = ""
    @Restored("tags") var tags: [String] = []
  }

  @Observable class Coded: CodingObject, RestorationContainer {
    @ObservationIgnored let restoration: RestorationIdentity = "coded"
    var title = ""
    var restorationChildren: [any RestorableController] = []
    func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(title, forKey: "title") }
    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {}
    func installRestoredChildren(_ children: [RestoredChild]) {}
    func restorationRole(of child: any RestorableController) -> RestoredChild.Role? {
      child is Search ? "search" : nil
    }
  }

  final class Silent: Coded {
    var unobserved = 0
  }

  private func captured(_ object: any RestorableObject) -> (binding: TrackedObject, changes: Counter) {
    let changes = Counter()
    let binding = TrackedObject(object) { changes.increment() }
    _ = binding.capture(context: .test, observing: true)
    return (binding, changes)
  }

  @Test func `a new binding is raised until its first capture`() {
    let editor = Editor()
    let binding = TrackedObject(editor)
    #expect(binding.flag.isRaised)
    _ = binding.capture(context: .test, observing: true)
    #expect(!binding.flag.isRaised)
  }

  @Test func `a change of an observable state raises the flag once`() {
    let editor = Editor()
    let (binding, changes) = captured(editor)
    editor.restorableState = "a"
    editor.restorableState = "b"
    #expect(binding.flag.isRaised)
    #expect(changes.value == 1)
    _ = binding.capture(context: .test, observing: true)
    editor.restorableState = "c"
    #expect(changes.value == 2)
  }

  @Test func `assigning a marked property raises the flag, and so does changing it in place`() {
    let search = Search()
    let (binding, changes) = captured(search)
    search.query = "swift"
    #expect(changes.value == 1)
    _ = binding.capture(context: .test, observing: true)
    search.tags.append("new")
    #expect(changes.value == 2)
    #expect(search.tags == ["new"])
  }

  @Test func `everything that a coder method reads is observed`() {
    let coded = Coded()
    let (binding, changes) = captured(coded)
    coded.title = "Notes"
    #expect(changes.value == 1)
    _ = binding.capture(context: .test, observing: true)
    coded.restorationChildren = [Search()]
    #expect(changes.value == 2)
  }

  @Test func `what can't be observed is announced by hand`() {
    let editor = Editor()
    let (binding, changes) = captured(editor)
    editor.silent = 1
    #expect(!binding.flag.isRaised)
    editor.invalidateRestorableState()
    #expect(changes.value == 0)
    let marks = Counter()
    let tree = LiveTree(
      registry: RestorationRegistry(), changes: ChangeList { marks.increment() }, context: .test)
    _ = tree.capture(roots: [editor], scope: .all, context: .test)
    editor.invalidateRestorableState()
    #expect(marks.value == 1)
    editor.silent = 2
    #expect(tree.capture(roots: [editor], scope: .noticed, context: .test).records.count == 1)
  }

  @Test func `a capture without observing leaves the flag up`() {
    let editor = Editor()
    let binding = TrackedObject(editor)
    _ = binding.capture(context: .test)
    #expect(binding.flag.isRaised)
    #expect(binding.observationCount == 0)
  }

  @Test func `two coordinators notice the same change`() {
    let search = Search()
    let (one, _) = captured(search)
    let (two, _) = captured(search)
    search.query = "swift"
    #expect(one.flag.isRaised)
    #expect(two.flag.isRaised)
  }

  @Test func `nobody is called once the binding is gone`() {
    let search = Search()
    let changes = Counter()
    do {
      let binding = TrackedObject(search) { changes.increment() }
      _ = binding.capture(context: .test, observing: true)
    }
    search.query = "swift"
    #expect(changes.value == 0)
  }

  @Test func `a binding doesn't keep its object alive`() {
    var editor: Editor? = Editor()
    let binding = TrackedObject(editor!)
    editor = nil
    #expect(binding.object == nil)
    #expect(binding.capture(context: .test) == nil)
  }

  @Test func `a subclass with properties of its own isn't taken for observed`() {
    let (coded, silent, search) = (Coded(), Silent(), Search())
    #expect(TrackedObject(coded).observesEverything)
    #expect(!TrackedObject(silent).observesEverything)
    #expect(!TrackedObject(search).observesEverything)
  }

  @Test func `roles of children are captured with their container`() throws {
    let coded = Coded()
    coded.restorationChildren = [Search(), Editor()]
    let captured = try #require(TrackedObject(coded).capture(context: .test))
    #expect(captured.roles == ["search": "search"])
  }
}
