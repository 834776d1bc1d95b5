import RestorationArchive
import Testing

@testable import StateRestoration

/// The table *Save*, cell by cell, over hand-made captures.
@Suite struct SaveTests {
  private let key: CaptureBatch.Key = 2

  private func editor(_ text: String?, model: ModelIdentifier? = nil, given: CaptureBatch.Given? = nil)
    -> HandTable.Object
  {
    HandTable.Object(key, "e", text, model: model, given: given)
  }

  /// A table whose row has records that other runs wrote, none of them *first*.
  private func stored(_ texts: String...) throws -> HandTable {
    var hand = HandTable()
    for (run, text) in texts.enumerated() {
      if run > 0 { hand = try hand.reloaded() }
      let met = run > 0 ? try hand.unread(texts[run - 1]) : nil
      try hand.save([editor("met", given: met)], isMeeting: met != nil)
      try hand.save([editor(text)])
    }
    return try hand.reloaded()
  }

  // MARK: - Objects that were given a record

  @Test func `values that are those of the given record change nothing`() throws {
    var hand = try stored("one", "two")
    try hand.save([editor("two", given: try hand.given("two", superseding: ["one"]))], isMeeting: true)
    let before = try #require(try hand.record("two")).save
    try hand.save([editor("two")])
    #expect(try hand.rows == ["e: one, two"])
    #expect(try hand.record("two")?.save == before)
  }

  @Test func `other values take the place of the given record, as the newest, and all others stay`() throws {
    var hand = try stored("unread", "given", "newer")
    try hand.save([editor("given", given: try hand.given("given"))], isMeeting: true)
    try hand.save([editor("edited")])
    #expect(try hand.rows == ["e: unread, newer, edited"])
  }

  @Test func `what a migration makes of a record is no edit`() throws {
    var hand = try stored("one")
    try hand.save([editor("one, migrated", given: try hand.given("one", isChanged: true))], isMeeting: true)
    try hand.save([editor("one, migrated")])
    #expect(try hand.rows == ["e: one"])
    try hand.save([editor("edited")])
    #expect(try hand.rows == ["e: edited"])
  }

  @Test func `what a program makes of a record in the turn that gives it is an edit`() throws {
    var hand = try stored("one")
    try hand.save([editor("one, counted", given: try hand.given("one"))], isMeeting: true)
    #expect(try hand.rows == ["e: one, counted"])
  }

  @Test func `joined values take the place of all records that were joined`() throws {
    var hand = try stored("one", "two")
    try hand.save([editor("one+two", given: try hand.given("two", joining: ["one"]))], isMeeting: true)
    try hand.save([editor("one+two")])
    #expect(try hand.rows == ["e: one+two"])
  }

  // MARK: - Objects that wrote one

  @Test func `an object that wrote a record replaces it`() throws {
    var hand = HandTable()
    for text in ["one", "two", "three"] { try hand.save([editor(text)]) }
    #expect(try hand.rows == ["e: three"])
  }

  // MARK: - Objects met with unread records

  @Test func `an object that is met with unread records writes nothing until it is edited`() throws {
    var hand = try stored("unread")
    try hand.save([editor("blank", given: try hand.unread("unread"))], isMeeting: true)
    try hand.save([editor("blank")])
    #expect(try hand.rows == ["e: unread"])
    try hand.save([editor("edited")])
    #expect(try hand.rows == ["e: unread, edited"])
    try hand.save([editor("edited again")])
    #expect(try hand.rows == ["e: unread, edited again"])
  }

  // MARK: - Objects that came by themselves

  @Test func `an object that came by itself writes a first record, until it is edited`() throws {
    var hand = HandTable()
    try hand.save([editor("blank")])
    #expect(try hand.rows == ["e: blank first"])
    try hand.save([editor("blank")])
    #expect(try hand.rows == ["e: blank first"])
    try hand.save([editor("edited")])
    #expect(try hand.rows == ["e: edited"])
  }

  @Test func `an object that came by itself lies beside what is stored under its key`() throws {
    var hand = try stored("unread")
    try hand.save([editor("blank")])
    #expect(try hand.rows == ["e: unread, blank first"])
    try hand.save([editor("edited")])
    #expect(try hand.rows == ["e: unread, edited"])
  }

  @Test func `a gift takes the first record away, and leaves the oldest of its row`() throws {
    var hand = try stored("old")
    try hand.save([editor("blank")])
    try hand.save([editor("old", given: try hand.given("old"))])
    #expect(try hand.rows == ["e: old"])
  }

  @Test func `an object without a model never writes into a model's row`() throws {
    var hand = HandTable()
    try hand.save([editor("of A", model: "A")])
    hand = try hand.reloaded()
    try hand.save([editor("of none")])
    try hand.save([editor("edited")])
    #expect(try hand.rows == ["e A: of A first", "e: edited"])
  }

  // MARK: - What can't be encoded, or has no room

  @Test func `values that can't be encoded change nothing, and are a finding`() throws {
    var hand = try stored("one")
    try hand.save([editor("one", given: try hand.given("one"))], isMeeting: true)
    var failing = editor("edited")
    failing.fails = true
    let findings = try hand.save([failing, HandTable.Object(3, "beside", "saved")])
    guard case .encodingFailed(["root", "e"], _)? = findings.first else {
      Issue.record("\(findings)")
      return
    }
    #expect(findings.count == 1)
    #expect(try hand.rows == ["e: one", "beside: saved first"])
  }

  @Test func `where eight unread records are a ninth has no room`() throws {
    var hand = try stored("1", "2", "3", "4", "5", "6", "7", "8")
    try hand.save([editor("blank", given: try hand.unread("8"))], isMeeting: true)
    try hand.save([editor("9")])
    #expect(try hand.rows == ["e: 1, 2, 3, 4, 5, 6, 7, 8"])
    #expect(hand.table.owedFindings == [.noRoomForRecord(path: ["root", "e"])])
  }

  @Test func `a first record that nobody has read makes no room`() throws {
    var hand = HandTable()
    try hand.save([editor("first")])
    for number in 2...8 {
      hand = try hand.reloaded()
      try hand.save([editor("blank", given: try hand.unread("first"))], isMeeting: true)
      try hand.save([editor("\(number)")])
    }
    hand = try hand.reloaded()
    try hand.save([editor("blank", given: try hand.unread("first"))], isMeeting: true)
    try hand.save([editor("9")])
    #expect(try hand.record("first") != nil && hand.record("9") == nil)
  }

  @Test func `on a locked device nothing is written for an object that has nothing`() throws {
    var hand = HandTable(isLocked: true)
    try hand.save([editor("blank", given: .nothing), HandTable.Object(3, "scope", nil)], isMeeting: true)
    #expect(hand.table.writer.nodeCount == 0)
    try hand.save([editor("edited")])
    #expect(try hand.rows == ["e: edited"])
  }
}
