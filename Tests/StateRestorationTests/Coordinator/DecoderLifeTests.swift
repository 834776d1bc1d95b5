import StateRestoration
import Testing

/// One decoder serves many nodes, and no node may notice.
@MainActor struct DecoderLifeTests {
  final class Page: RestorableController, StatefulObject {
    let restoration: RestorationIdentity
    var onSet: (() -> Void)?
    var restorableState: String { didSet { onSet?() } }

    init(_ identifier: RestorationIdentifier, _ state: String = "") {
      restoration = RestorationIdentity(identifier)
      restorableState = state
    }
  }

  @Test func `a value that has another object restored when it is assigned leaves each with its own state`()
    async throws
  {
    let bench = try await Bench(.memory)
    try await bench.preserve(Screen("root", children: [Page("first", "one"), Page("second", "two")]))
    let root = Screen("root")
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: root)
    let first = Page("first")
    let second = Page("second")
    root.restorationChildren = [first, second]
    var inner: NodeReport?
    first.onSet = {
      first.onSet = nil
      inner = coordinator.restore(second, at: ["root", "second"])
    }
    let outer = coordinator.restore(first, at: ["root", "first"])
    #expect(first.restorableState == "one")
    #expect(second.restorableState == "two")
    for (report, name) in [(outer, "first"), (inner, "second")] {
      #expect(report?.path == ["root", RestorationIdentifier(name)])
      #expect(report?.result == .restored(.registration))
      #expect(report?.remarks == [])
    }
  }

  final class Hoarder: RestorableController, CodingObject {
    static var kept: [RestorationDecoder] = []
    static weak var remembered: RestorationDecoder?
    static var hadOne = false
    let restoration: RestorationIdentity
    var value = 0

    init(_ identifier: RestorationIdentifier, value: Int = 0) {
      restoration = RestorationIdentity(identifier)
      self.value = value
    }

    func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(value, forKey: "value") }

    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      Self.hadOne = Self.hadOne || Self.remembered != nil
      #expect(Self.kept.allSatisfy { !$0.contains("value") && $0 !== coder })
      value = try coder.decode(forKey: "value")
      if value == 1 { Self.kept.append(coder) } else { Self.remembered = coder }
    }
  }

  @Test func `a decoder that the program has seen never reads another node`() async throws {
    let bench = try await Bench(.memory)
    let values = [1, 2, 3, 4]
    try await bench.preserve(
      Screen("root", children: values.map { Hoarder(RestorationIdentifier("\($0)"), value: $0) }))
    let again = values.map { Hoarder(RestorationIdentifier("\($0)")) }
    _ = try await bench.launch().restore(into: Screen("root", children: again))
    #expect(again.map(\.value) == values)
    #expect(Hoarder.kept.count == 1)
    #expect(!Hoarder.hadOne)
    Hoarder.kept = []
  }
}
