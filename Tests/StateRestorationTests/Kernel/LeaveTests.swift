import RestorationArchive
import Testing

@testable import StateRestoration

/// The table *Leave*, and what becomes of a row whose object shows another model, over hand-made captures.
@Suite struct LeaveTests {
  private let key: CaptureBatch.Key = 2

  private func editor(
    _ text: String?, model: ModelIdentifier? = nil, version: StateVersion = 1, given: CaptureBatch.Given? = nil
  ) -> HandTable.Object {
    var object = HandTable.Object(key, "e", text, model: model, given: given)
    object.version = version
    return object
  }

  /// A row with records that runs of some versions of a program wrote, each of which could not read those before.
  private func stored(_ records: (text: String, version: StateVersion)...) throws -> HandTable {
    var hand = HandTable()
    for (text, version) in records {
      hand = try hand.reloaded()
      let before = records.first?.text ?? ""
      let met = try hand.unread(before)
      try hand.save([editor("met", version: version, given: met)], isMeeting: met != nil)
      try hand.save([editor(text, version: version)])
    }
    return try hand.reloaded()
  }

  // MARK: - Leaving

  @Test func `what was given goes with its object, and the row`() throws {
    var hand = try stored(("one", 1))
    try hand.save([editor("one", given: try hand.given("one"))], isMeeting: true)
    try hand.save([], leaving: [key])
    #expect(try hand.rows.isEmpty)
  }

  @Test func `what was written goes, and what is superseded`() throws {
    var hand = try stored(("one", 1), ("two", 1))
    try hand.save([editor("two", given: try hand.given("two", superseding: ["one"]))], isMeeting: true)
    try hand.save([editor("edited")])
    #expect(try hand.rows == ["e: one, edited"])
    try hand.save([], leaving: [key])
    #expect(try hand.rows.isEmpty)
  }

  @Test func `a record that an object could not be given stays, also when the object has moved`() throws {
    var hand = try stored(("does not decode", 1))
    try hand.save([editor("met", given: try hand.unread("does not decode"))], isMeeting: true)
    var moved = HandTable.Object(key, "renamed", "met")
    try hand.save([moved])
    moved.text = "typed"
    try hand.save([moved])
    #expect(try hand.rows == ["renamed: does not decode, typed"])
    try hand.save([], leaving: [key])
    #expect(try hand.rows == ["renamed absent: does not decode"])
  }

  @Test func `a row that has something unread waits for an object`() throws {
    var hand = try stored(("unread", 9), ("one", 1))
    try hand.save([editor("one", given: try hand.given("one"))], isMeeting: true)
    try hand.save([], leaving: [key])
    #expect(try hand.rows == ["e absent: unread"])
  }

  @Test func `an object that came by itself takes what it could have been given, and nothing that it could not`() throws
  {
    var hand = try stored(("newer", 9), ("older", 1))
    try hand.save([editor("typed")])
    try hand.save([], leaving: [key])
    #expect(try hand.rows == ["e absent: newer"])
  }

  @Test func `a row goes with the rows below it, unless one has something unread`() throws {
    for hasUnread in [false, true] {
      var hand = HandTable()
      try hand.save([editor("one"), HandTable.Object(3, "page", "page", below: key)])
      hand = try hand.reloaded()
      try hand.save([editor("one", given: try hand.given("one"))], isMeeting: true)
      let given = hasUnread ? try hand.unread("page") : try hand.given("page")
      try hand.save([HandTable.Object(3, "page", "page", below: key, given: given)], isMeeting: true)
      try hand.save([], leaving: [3, key])
      #expect(try hand.rows == (hasUnread ? ["e absent: ", "  page absent: page first"] : []))
    }
  }

  @Test func `a shared object that died has not left`() throws {
    var hand = try stored(("one", 1))
    try hand.save([editor("one", given: try hand.given("one"))], isMeeting: true)
    try hand.save([editor("edited")])
    try hand.save([], releasing: [key])
    #expect(try hand.rows == ["e: edited"])
  }

  // MARK: - Another model

  @Test func `the first model that an object names takes its row along if nothing was edited`() throws {
    var hand = HandTable()
    try hand.save([editor("text")])
    try hand.save([editor("text", model: "A")])
    #expect(try hand.rows == ["e A: text first"])
  }

  @Test func `the first model of edited values leaves the row without a model as it was`() throws {
    var hand = HandTable()
    try hand.save([editor("text")])
    try hand.save([editor("of A", model: "A")])
    #expect(try hand.rows.sorted() == ["e A: of A", "e absent: text first"])
  }

  @Test func `so does that of an object that could not be given the row's record`() throws {
    var hand = try stored(("unread", 9))
    try hand.save([editor("met", given: try hand.unread("unread"))], isMeeting: true)
    try hand.save([editor("typed", model: "A")])
    #expect(try hand.rows.sorted() == ["e A: typed", "e absent: unread"])
  }

  @Test func `another model leaves the row absent and whole, and what was live below it`() throws {
    var hand = HandTable()
    try hand.save([editor("of A", model: "A"), HandTable.Object(3, "page", "page of A", below: key)])
    try hand.save(
      [HandTable.Object(4, "e", "of B", model: "B"), HandTable.Object(5, "page", "page of B", below: 4)],
      outgrowing: [key])
    #expect(
      try hand.rows.sorted() == [
        "  page: page of A first", "  page: page of B first", "e A absent: of A first", "e B: of B first",
      ])
  }

  @Test func `a model that was shown before is found by its key, and lies beside`() throws {
    var hand = HandTable()
    try hand.save([editor("of A", model: "A")])
    try hand.save([HandTable.Object(3, "e", "of B", model: "B")], outgrowing: [key])
    try hand.save([HandTable.Object(4, "e", "of A again", model: "A")], outgrowing: [3])
    #expect(try hand.rows.sorted() == ["e A: of A first, of A again first", "e B absent: of B first"])
  }

  @Test func `present rows of other models wait where an object shows one`() throws {
    var hand = HandTable()
    try hand.save([editor("of A", model: "A")])
    hand = try hand.reloaded()
    try hand.save([editor("of B", model: "B")])
    #expect(try hand.rows.sorted() == ["e A absent: of A first", "e B: of B first"])
  }

  // MARK: - Bounds, and on request

  @Test func `of more than sixty-four absent rows those that were live longest ago go, with a finding each`() throws {
    var hand = HandTable()
    for number in 0...66 {
      try hand.save(
        [HandTable.Object(10 + number, "e", "\(number)", model: ModelIdentifier("\(number)"))],
        outgrowing: number == 0 ? [] : [9 + number])
    }
    let rows = try hand.rows
    #expect(rows.count == 65 && hand.table.owedFindings.count == 2)
    #expect(try hand.record("0") == nil && hand.record("1") == nil && hand.record("2") != nil)
  }

  @Test func `what nobody has is forgotten on request, and what is live stays`() throws {
    var hand = try stored(("one", 1))
    try hand.save([editor("of A", model: "A")])
    #expect(try hand.table.forget(["root", "e"]))
    #expect(try hand.rows == ["e A: of A first"])
    #expect(try hand.table.forget(["root", "e"]) == false)
  }
}
