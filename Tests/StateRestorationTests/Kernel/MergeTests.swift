import FoundationEssentials
import RestorationArchive
import Testing

@testable import StateRestoration

/// What was saved while locked is added to what is stored, over hand-made captures.
@Suite struct MergeTests {
  private let key: CaptureBatch.Key = 2

  private func editor(_ text: String?, model: ModelIdentifier? = nil, given: CaptureBatch.Given? = nil)
    -> HandTable.Object
  {
    HandTable.Object(key, "e", text, model: model, given: given)
  }

  /// A run in which the editor had something, and was edited.
  private func stored(_ text: String, model: ModelIdentifier? = nil) throws -> HandTable {
    var hand = HandTable()
    for one in ["blank", text] { try hand.save([editor(one, model: model)]) }
    return try hand.reloaded()
  }

  /// What a run on a locked device saved: objects as they were met, and as they were then.
  private func locked(_ met: [HandTable.Object], _ edited: [HandTable.Object]) throws -> RestorationArchive.PartedReader
  {
    var hand = HandTable(isLocked: true)
    try hand.save(
      met.map { object in
        var object = object
        object.given = .nothing
        return object
      }, isMeeting: true)
    try hand.save(edited)
    return try hand.reader
  }

  private func merge(_ run: RestorationArchive.PartedReader, into hand: inout HandTable) throws {
    var context = RestorationArchive.Context.test
    _ = try hand.table.merge(run, PartClasses(.complete), &context)
  }

  @Test func `records of one key lie in one row, those of later runs last`() throws {
    var hand = try stored("stored")
    for text in ["one", "two"] { try merge(try locked([editor("")], [editor(text)]), into: &hand) }
    #expect(try hand.rows == ["e: stored, one, two"])
    let saves = try ["stored", "one", "two"].compactMap { try hand.record($0)?.save }
    #expect(saves == saves.sorted() && Set(saves).count == 3)
  }

  @Test func `a record of another model has a row of its own`() throws {
    var hand = try stored("of A", model: "A")
    try merge(try locked([editor("", model: "B")], [editor("of B", model: "B")]), into: &hand)
    #expect(try hand.rows == ["e A: of A", "e B: of B"])
  }

  @Test func `a record of an object without a model does not land in a model's row`() throws {
    var hand = try stored("of A", model: "A")
    try merge(try locked([editor("")], [editor("of none")]), into: &hand)
    #expect(try hand.rows == ["e A: of A", "e: of none"])
  }

  @Test func `a container without a record leads to the row that it fits, also to a model's`() throws {
    var hand = HandTable()
    let page = HandTable.Object(3, "page", "stored", below: key)
    try hand.save([editor("of A", model: "A"), page])
    hand = try hand.reloaded()
    let (met, typed) = (
      HandTable.Object(3, "page", "", below: key), HandTable.Object(3, "page", "typed", below: key)
    )
    try merge(try locked([editor(nil), met], [typed]), into: &hand)
    #expect(try hand.rows == ["e A: of A first", "  page: stored first, typed"])
  }

  @Test func `a container without a record leads to the row that was on the screen last`() throws {
    var hand = HandTable()
    try hand.save([editor("of none")])
    try hand.save([editor("of A", model: "A")])
    #expect(try hand.rows == ["e absent: of none first", "e A: of A"])
    hand = try hand.reloaded()
    let page = HandTable.Object(3, "page", "typed", below: key)
    try merge(try locked([editor(nil)], [page]), into: &hand)
    #expect(try hand.rows == ["e absent: of none first", "e A: of A", "  page: typed first"])
  }

  @Test func `siblings have the order that they had while locked`() throws {
    var hand = HandTable()
    try hand.save([HandTable.Object(3, "a", "one"), HandTable.Object(4, "b", "one")])
    hand = try hand.reloaded()
    let typed = [HandTable.Object(4, "b", "two"), HandTable.Object(3, "a", "two")]
    try merge(try locked([], typed), into: &hand)
    #expect(try hand.rows == ["b: one first, two first", "a: one first, two first"])
  }

  @Test func `a row that its object left while locked is absent`() throws {
    var hand = try stored("stored", model: "A")
    var run = HandTable(isLocked: true)
    try run.save([], isMeeting: true)
    try run.save([editor("of A", model: "A")])
    try run.save([HandTable.Object(3, "e", "of B", model: "B")], outgrowing: [key])
    try merge(try run.reader, into: &hand)
    #expect(try hand.rows == ["e A absent: stored, of A first", "e B: of B first"])
  }

  @Test func `a first record stays one`() throws {
    var hand = try stored("stored")
    var run = HandTable(isLocked: true)
    try run.save([HandTable.Object(3, "other", "")], isMeeting: true)
    try run.save([editor("default")])
    try merge(try run.reader, into: &hand)
    #expect(try hand.rows.contains("e: stored, default first"))
  }

  @Test func `an object that is new is a row more`() throws {
    var hand = try stored("stored")
    try merge(try locked([], [HandTable.Object(3, "new", "typed")]), into: &hand)
    #expect(try hand.rows == ["e: stored", "new: typed first"])
  }

  @Test func `of present rows of one place that of the locked run was live last`() throws {
    var hand = try stored("of A", model: "A")
    try hand.table.markUnheld()
    try merge(try locked([editor("", model: "B")], [editor("of B", model: "B")]), into: &hand)
    let plan = try RestorePlan(reader: try hand.reader)
    let made = plan.nodes.indices.first { plan.nodes[$0].leads && plan.paths[$0] == ["root", "e"] }
    #expect(made.map { plan.identity(of: $0).model } == "B")
  }

  @Test func `a quarantined row is open again once a locked run has written there`() throws {
    var hand = try stored("stored")
    let record = try #require(try hand.record("stored")).record
    try hand.table.quarantine(record)
    #expect(try hand.rows == ["e closed: stored quarantined"])
    try merge(try locked([editor("")], [editor("typed")]), into: &hand)
    #expect(try hand.rows == ["e: stored quarantined, typed"])
  }
}
