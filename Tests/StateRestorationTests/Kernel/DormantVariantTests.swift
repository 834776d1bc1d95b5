import FoundationEssentials
import HandmadeArchive
import RestorationArchive
import Testing

@testable import StateRestoration

/// The bounds of dormant variants, their names, and archives that nobody has written so.
@Suite struct DormantVariantTests {
  /// Shows one model after another in a place, so that each goes dormant in its turn.
  private func show(
    _ models: Range<Int>, in draft: inout ArchiveDraft, bytes: Int = 1, identifier: RestorationIdentifier = "place"
  ) throws -> [PreservationFinding] {
    var findings: [PreservationFinding] = []
    for number in models {
      let object = LiveObject(
        key: number + 1, identifier: identifier, model: ModelIdentifier(rawValue: "m\(number)"))
      var batch = CaptureBatch()
      if number > 0 { batch.releases.append(number) }
      batch.place(object)
      batch.record(object, "\(number)" + String(repeating: " ", count: bytes))
      findings += try draft.commit(batch)
    }
    return findings
  }

  private func models(in draft: ArchiveDraft) throws -> [String] {
    try draft.variants(of: nil, "place").compactMap { try draft.writer.node($0)?.attributes.model?.rawValue }
  }

  @Test func `the sixty-fifth dormant variant takes the place of the oldest, and the receipt says so`() throws {
    var draft = try VariantTree.draft([])
    #expect(try show(0..<65, in: &draft).isEmpty)
    #expect(draft.dormants.count == DormantVariant.countLimit && draft.owedFindings.isEmpty)
    #expect(try models(in: draft) == (0..<65).reversed().map { "m\($0)" })
    #expect(try show(65..<67, in: &draft).isEmpty)
    #expect(draft.dormants.count == DormantVariant.countLimit)
    #expect(try models(in: draft) == (2..<67).reversed().map { "m\($0)" })
    try #require(draft.owedFindings.count == 2)
    for finding in draft.owedFindings {
      guard case .dormantRemoved(path: ["place"], let bytes) = finding, bytes > 0 else {
        Issue.record("\(finding)")
        continue
      }
    }
  }

  @Test func `dormant variants take a quarter of the budget at most`() throws {
    var limits = RestorationArchive.Limits.default
    limits.bytesPerArchive = 40_000
    var draft = try VariantTree.draft([], limits: limits)
    _ = try show(0..<12, in: &draft, bytes: 2_000)
    #expect(try models(in: draft) == ["m11", "m10", "m9", "m8", "m7"])
    #expect(draft.owedFindings.count == 7)
    #expect(draft.dormants.reduce(0) { $0 + $1.byteCount } <= 10_000)
  }

  @Test func `what a newer variant of its own identity hides goes before the oldest that an object may get`() throws {
    let kept = [StoredVariant("K", tag: "a"), StoredVariant("precious", tag: "b")]
    let hidden = (0...DormantVariant.countLimit).map { StoredVariant("\($0)", tag: "c") }
    // The last that is stored is the oldest.
    var draft = try VariantTree.draft([("place", hidden), ("kept", kept)])
    _ = try draft.commit(CaptureBatch())
    #expect(draft.dormants.count == DormantVariant.countLimit)
    #expect(try draft.variants(of: nil, "kept").count == 2)
    #expect(draft.owedFindings.count == 1)
  }

  @Test func `a dormant variant in which a live object owns something stays`() throws {
    var draft = try VariantTree.draft([
      ("top", [StoredVariant("X", tag: "b"), StoredVariant("P", tag: "c", [("child", [StoredVariant("C")])])])
    ])
    let dormant = try #require(draft.dormants.first)
    let child = LiveObject(key: 105, parent: 104, identifier: "child")
    var batch = CaptureBatch()
    batch.isMeeting = true
    batch.place(LiveObject(key: 104, identifier: "top", tag: "d"))
    batch.record(LiveObject(key: 104, identifier: "top", tag: "d"), "B")
    _ = try draft.commit(batch)
    draft.own(try #require(try draft.writer.children(of: dormant.node).first), child.key)
    _ = try show(0..<80, in: &draft)
    #expect(draft.dormants.count == DormantVariant.countLimit)
    #expect(draft.dormants.first?.node == dormant.node)
    #expect(try VariantTree.text(of: draft).hasSuffix("top:X|P(child:C*)"))
  }

  @Test func `a blank object over a variant that made room goes on without it`() throws {
    var draft = try VariantTree.draft([
      ("top", [StoredVariant("X", tag: "b"), StoredVariant("P", version: 9, [("child", [StoredVariant("C")])])])
    ])
    let dormant = try #require(draft.dormants.first).node
    let (top, child) = (LiveObject(key: 104, identifier: "top"), LiveObject(key: 105, parent: 104, identifier: "child"))
    var batch = CaptureBatch()
    batch.isMeeting = true
    batch.place(top, over: dormant)
    batch.record(top, "B")
    _ = try draft.commit(batch)
    _ = try show(0..<80, in: &draft)
    #expect(try draft.writer.node(dormant) == nil)
    batch = CaptureBatch()
    batch.place(child)
    batch.record(child, "typed")
    _ = try draft.commit(batch)
    #expect(try VariantTree.text(of: draft).hasSuffix("top:B*(child:typed*)|X"))
  }

  @Test func `bytes of a dormant variant inside another count once`() throws {
    var limits = RestorationArchive.Limits.default
    limits.bytesPerArchive = 40_000
    let text = String(repeating: " ", count: 4_000)
    let below: [(identifier: RestorationIdentifier, variants: [StoredVariant])] = [
      ("inner", [StoredVariant("A"), StoredVariant(text, tag: "c")])
    ]
    var draft = try VariantTree.draft(
      [
        ("other", [StoredVariant("O"), StoredVariant(text, tag: "c")]),
        ("place", [StoredVariant("P", tag: "c", below)]),
      ],
      limits: limits)
    #expect(draft.dormants.count == 2)
    _ = try show(0..<1, in: &draft)
    #expect(draft.dormants.count == 3)
    #expect(draft.owedFindings.isEmpty)
  }

  @Test func `an empty variant in which nothing is owned is removed instead`() throws {
    var draft = try VariantTree.draft([("place", [StoredVariant(nil, tag: "b")])])
    _ = try show(0..<1, in: &draft)
    #expect(try VariantTree.text(of: draft) == "place:0 *")
  }

  @Test(arguments: ["place", "", "a\u{1}b", "\u{1}", "\u{1}7", "place\u{1}7", "place\u{1}7\u{1}8"])
  func `the name of a variant reads back, whatever the place is called`(_ text: String) {
    let place = RestorationIdentifier(text)
    for number in [0, 1, 64, 1 << 40] {
      let name = VariantName(place, number: number)
      #expect(VariantName(name.stored) == name)
    }
  }

  @Test func `objects that are called like variants keep their places`() throws {
    var draft = try VariantTree.draft([])
    let like = LiveObject(key: 7, identifier: "place\u{1}1")
    var batch = CaptureBatch()
    batch.place(like)
    batch.record(like, "like")
    _ = try draft.commit(batch)
    _ = try show(0..<2, in: &draft)
    #expect(try VariantTree.text(of: draft) == "place:1 *|0  place\u{1}1:like*")
    // And the other way round: the name is taken by a variant when the object comes.
    draft = try VariantTree.draft([])
    _ = try show(0..<2, in: &draft)
    _ = try draft.commit(batch)
    #expect(try VariantTree.text(of: draft) == "place:1 *|0  place\u{1}1:like*")
    #expect(try draft.hasConsistentBindings)
  }

  @Test(arguments: [
    "place\u{1}99999999999999999999", "place\u{1}-5", "place\u{1}", "place", "\u{1}", "place\u{1}+7",
    "place\u{1}9223372036854775807",
  ])
  func `a dormant root with a name that is no variant's is read, bounded and kept`(_ name: String) throws {
    var writer = RestorationArchive.Writer(context: RestorationConfiguration().context)
    let attributes = RestorationArchive.Attributes(classTag: "b", flags: .dormant)
    let node = try writer.insert(RestorationIdentifier(name), attributes: attributes)
    try writer.setRecord(of: node, entries: [.init(key: "value", value: "S")], attributes: attributes)
    let reader = try RestorationArchive.Reader(base: .init(try writer.makeArchive()))
    let plan = try RestorePlan(reader: reader)
    let dormants = plan.allDormants
    #expect(plan.nodes.count == 1 && dormants.map(\.node) == [node] && dormants[0].byteCount > 0)
    var draft = try ArchiveDraft(continuing: reader, dormants: dormants, limits: .default, nodeBudget: 64 << 10)
    _ = try show(0..<3, in: &draft)
    #expect(draft.dormants.count == 3)
    #expect(try draft.hasConsistentBindings)
    var context = RestorationConfiguration().context
    #expect(try draft.merge(reader, &context).count == 1)
  }

  @Test func `an overlay whose lists of children form a circle ends`() throws {
    let handmade = HandmadeArchive(
      blocks: [
        .init(id: 0, name: "top", children: [(step: 2, further: 0)]),
        .init(id: 1, parent: 0, name: "place", children: [(step: 0, further: 0)]),
      ], roots: [(step: 0, further: 0)])
    let reader = try RestorationArchive.Reader(base: .init(handmade.bytes()))
    let top = try #require(try reader.roots.first)
    let place = try #require(try reader.children(of: top).first)
    #expect(try reader.children(of: place) == [top])
    #expect(throws: ArchiveError.self) { try RestorePlan(reader: reader) }
    var draft = try VariantTree.draft([("top", [StoredVariant("P")])])
    var context = RestorationConfiguration().context
    _ = try? draft.merge(reader, &context)
    #expect(draft.writer.nodeCount <= 3)
  }
}
