import Observation
import StateRestoration
import Synchronization
import Testing

/// What bites in a face like this one: each a test, so that it stays found.
@MainActor struct TrapsTests {
  // 1. A default for a coder method would be the witness of the whole class tree.

  class Root: RestorableController, CodingObject {
    var restoration: RestorationIdentity { "root" }
    func encodeRestorableState(with coder: RestorationEncoder) {}
    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {}
  }

  final class Leaf: Root {
    var value = 1
    override func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(value, forKey: "value") }
    override func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      value = try coder.decode(forKey: "value")
    }
  }

  @Test func `a subclass's coder methods are called through the protocol`() throws {
    let old = Leaf()
    old.value = 9
    let new = Leaf()
    let asBase: Root = new
    try transfer(from: old as any RestorableController & CodingObject, to: asBase)
    #expect(new.value == 9)
  }

  class Versioned: RestorableController {
    var restoration: RestorationIdentity { "versioned" }
  }

  final class Newer: Versioned {
    override var restoration: RestorationIdentity { RestorationIdentity("versioned", version: 2) }
  }

  @Test func `an overridden identity gives each class of a tree its own version`() throws {
    let base = Versioned()
    let newer = Newer()
    #expect(try #require(TrackedObject(base).capture(context: .test)).attributes.version == 1)
    #expect(try #require(TrackedObject(newer as Versioned).capture(context: .test)).attributes.version == 2)
  }

  // 2. A tag inherited by an unregistered subclass would restore the base class.

  class Tagged: RestorableController {
    var restoration: RestorationIdentity { RestorationIdentity("tagged", class: "tagged") }
  }

  final class Inheriting: Tagged {}

  @Test func `a tag inherited by a subclass that isn't registered is found at capture`() throws {
    let registry = RestorationRegistry()
    registry.register(Tagged.self, as: "tagged")
    #expect(registry.flaw(of: "tagged", on: Tagged()) == nil)
    #expect(
      registry.flaw(of: "tagged", on: Inheriting()) == .belongs("tagged", to: "Tagged", found: "Inheriting"))
    #expect(registry.flaw(of: "other", on: Tagged()) == .unregistered("other"))
  }

  // 3. Reflection is paid once per class without marked properties, once per object with some.

  static var reflections = 0

  final class Reflected: RestorableController, CustomReflectable {
    let restoration: RestorationIdentity = "reflected"
    nonisolated var customMirror: Mirror {
      MainActor.assumeIsolated { TrapsTests.reflections += 1 }
      return Mirror(self, children: [])
    }
  }

  @Test func `a class without marked properties is reflected on once`() {
    // Nobody is reflected on before there is any marked property in the process.
    _ = Observed()
    Self.reflections = 0
    let objects = (0..<10).map { _ in Reflected() }
    for object in objects {
      let binding = TrackedObject(object)
      for _ in 0..<10 { _ = binding.capture(context: .test) }
    }
    #expect(Self.reflections == 1)
  }

  // 4. Marked properties are observable by themselves, and in @Observable classes too.

  @Observable final class Observed: RestorableController {
    @ObservationIgnored let restoration: RestorationIdentity = "observed"
    @ObservationIgnored @Restored("query") var query = ""
    var plain = 0
  }

  @Test func `a marked property in an observable class is observable and preserved`() throws {
    let object = Observed()
    let flag = Flag()
    withObservationTracking {
      _ = object.query
    } onChange: {
      flag.raise()
    }
    object.plain = 1
    #expect(!flag.isRaised)
    object.query = "swift"
    #expect(flag.isRaised)
    #expect(try stored(object).decode(String.self, forKey: "query") == "swift")
  }

  @Test func `the same key in a class and its superclass traps`() async {
    await #expect(processExitsWith: .failure) {
      await MainActor.run {
        class Base: RestorableController {
          var restoration: RestorationIdentity { "twice" }
          @Restored("query") var query = ""
        }
        final class Sub: Base {
          @Restored("query") var other = ""
        }
        _ = TrackedObject(Sub())
      }
    }
  }

  @Test func `a marked property with a reserved key traps`() async {
    await #expect(processExitsWith: .failure) {
      await MainActor.run {
        final class Reserved: RestorableController {
          var restoration: RestorationIdentity { "reserved" }
          @Restored("$state") var query = ""
        }
        _ = Reserved()
      }
    }
  }

  // 5. Observation is armed again only after it fired; it fires on any thread, before the change.

  @Observable final class Model {
    var text = ""
  }

  @Test func `many captures of an unchanged object observe it once, and again after a change`() {
    let model = Model()
    let changes = Counter()
    let binding = TrackedObject(Holder(model)) { changes.increment() }
    let holder = Holder(model)
    let held = TrackedObject(holder) { changes.increment() }
    for _ in 0..<1000 { _ = held.capture(context: .test, observing: true) }
    #expect(held.observationCount == 1)
    #expect(!held.flag.isRaised)
    model.text = "changed"
    model.text = "again"
    #expect(held.flag.isRaised)
    #expect(changes.value == 1)
    for _ in 0..<1000 { _ = held.capture(context: .test, observing: true) }
    #expect(held.observationCount == 2)
    #expect(binding.capture(context: .test) == nil)
  }

  @Test func `however often an object is invalidated, its first and its last observation wait`() {
    let model = Model()
    let holder = Holder(model)
    let fired = Counter()
    let listener = Mutex<ChangeFlag?>(nil)
    let held = TrackedObject(holder) {
      fired.increment()
      // Lowered at once, so that each observation that waits is counted.
      _ = listener.withLock { $0 }?.rearm()
    }
    for _ in 0..<100 {
      held.flag.invalidate()
      _ = held.capture(context: .test, observing: true)
    }
    #expect(held.observationCount == 100)
    let before = fired.value
    listener.withLock { $0 = held.flag }
    model.text = "changed"
    #expect(fired.value - before == 2)
  }

  @Test func `a change on another thread raises the flag, and the capture comes later`() async {
    let object = OffMain()
    let holder = OffMainHolder(object)
    let changes = Counter()
    let binding = TrackedObject(holder) { changes.increment() }
    _ = binding.capture(context: .test, observing: true)
    await Task.detached { object.text = "elsewhere" }.value
    #expect(changes.value == 1)
    #expect(binding.flag.isRaised)
    let capture = binding.capture(context: .test, observing: true)
    #expect(capture?.entries.first?.value as? String == "elsewhere")
  }

  @Observable nonisolated final class OffMain: Sendable {
    @ObservationIgnored private let storage = Mutex("")
    var text: String {
      get {
        access(keyPath: \.text)
        return storage.withLock { $0 }
      }
      set { withMutation(keyPath: \.text) { storage.withLock { $0 = newValue } } }
    }
  }

  final class OffMainHolder: RestorableController, StatefulObject {
    let restoration: RestorationIdentity = "off"
    let object: OffMain
    init(_ object: OffMain) { self.object = object }
    var restorableState: String {
      get { object.text }
      set { object.text = newValue }
    }
  }

  final class Holder: RestorableController, StatefulObject {
    let restoration: RestorationIdentity = "holder"
    let model: Model
    init(_ model: Model) { self.model = model }
    var restorableState: String {
      get { model.text }
      set { model.text = newValue }
    }
  }

  // 7. Assigning through an existential, and paths that no slash can break.

  @Test func `state is assigned through an existential`() throws {
    let old = Holder(Model())
    old.model.text = "Dear"
    let new: any RestorableController & StatefulObject = Holder(Model())
    try transfer(from: old, to: new)
    #expect((new as? Holder)?.model.text == "Dear")
  }

  @Test func `an identifier with a slash is one component of a path`() {
    let path: RestorationPath = ["root", "a/b"]
    #expect(path != ["root", "a", "b"])
    #expect(path.parent == ["root"])
  }

  // 8. Coders are invalid after their hook, and say so.

  final class Stashing: RestorableController, CodingObject {
    let restoration: RestorationIdentity = "stashing"
    var encoder: RestorationEncoder?
    var decoder: RestorationDecoder?
    func encodeRestorableState(with coder: RestorationEncoder) { encoder = coder }
    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) { decoder = coder }
  }

  @Test func `a decoder used after its method throws an error with the path`() throws {
    let object = Stashing()
    try TrackedObject(object).apply(decoder(["key": 1], version: 1))
    let stale = try #require(object.decoder)
    let error = #expect(throws: RestorationError.self) { try stale.decodeIfPresent(Int.self, forKey: "key") }
    #expect(error?.code == .coderUsedTooLate)
    #expect(error?.path == ["object"])
    #expect(!stale.contains("key"))
  }

  /// Preserves an object that keeps its encoder, and uses that afterwards.
  private static func encodeLate() async throws {
    let object = Stashing()
    let bench = Bench()
    let coordinator = bench.launch()
    let root = Screen("root", children: [Screen("inner", children: [object])])
    _ = try await coordinator.preserve(root)
    withExtendedLifetime((coordinator, root)) { object.encoder?.encode(1, forKey: "late") }
  }

  @Test func `an encoder used after its method traps and names the object`() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try await Self.encodeLate()
    }
    #expect(String(decoding: result.standardErrorContent, as: UTF8.self).contains("Stashing at root/inner/stashing"))
  }
}
