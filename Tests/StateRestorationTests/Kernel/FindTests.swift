import RestorationArchive
import Testing

@testable import StateRestoration

/// The table *Find*, cell by cell.
@Suite struct FindTests {
  private static func row(
    _ tag: RestorationArchive.ClassTag? = "screen", _ model: ModelIdentifier? = nil, isView: Bool = false,
    canBeGiven: Bool = true,
    isAbsent: Bool = false, lastLive: Double? = nil
  ) -> Find.Row {
    Find.Row(
      identity: Identity(classTag: tag, model: model, isView: isView), canBeGiven: canBeGiven, isAbsent: isAbsent,
      lastLive: lastLive)
  }

  private static func asker(
    _ tag: RestorationArchive.ClassTag? = "screen", _ model: ModelIdentifier? = nil,
    accepting others: Set<RestorationArchive.ClassTag> = []
  ) -> Asker {
    Asker(
      identity: Identity(classTag: tag, model: model), version: 1,
      acceptedClasses: others.union(tag.map { [$0] } ?? []))
  }

  // MARK: - What fits

  @Test(
    arguments: [
      (row("screen"), asker("screen"), true),
      (row("panel"), asker("screen"), false),
      (row("base"), asker("screen", accepting: ["base"]), true),
      (row(nil), asker("screen"), true),
      (row("screen", "A"), asker("screen", "A"), true),
      (row("screen", "A"), asker("screen", "B"), false),
      (row("screen", "A"), asker("screen"), true),
      (row("screen"), asker("screen", "A"), true),
      (row("screen", isView: true), asker("screen"), false),
      (row("screen", "A", isAbsent: true), asker("screen", "A"), true),
      (row("screen", "A", isAbsent: true), asker("screen"), false),
      (row("screen", isAbsent: true), asker("screen"), true),
      (row("screen", isAbsent: true), asker("screen", "A"), false),
    ])
  func `a row fits by its class, its model and its presence`(row: Find.Row, asker: Asker, fits: Bool) {
    #expect(Find.order([row], for: asker) == (fits ? [0] : []))
  }

  // MARK: - Which comes first

  @Test(
    arguments: [
      ("given before exactly", [row("screen", "A", canBeGiven: false), row("screen")], [1, 0]),
      ("exactly before present", [row("screen"), row("screen", "A", isAbsent: true)], [1, 0]),
      (
        "present before live last", [row("screen", "A", isAbsent: true, lastLive: 9), row("screen", "A", lastLive: 1)],
        [1, 0]
      ),
      ("live last", [row(lastLive: 1), row(lastLive: 2), row()], [2, 1, 0]),
    ])
  func `rows are tried in the order of the table`(name: String, rows: [Find.Row], expected: [Int]) {
    #expect(Find.order(rows, for: Self.asker("screen", "A")) == expected)
  }

  @Test func `an object without a model has a present row before an absent one that can be given`() {
    let rows = [Self.row(isAbsent: true), Self.row("screen", "A", canBeGiven: false, lastLive: 1)]
    #expect(Find.order(rows, for: Self.asker("screen")) == [1, 0])
  }

  @Test(
    arguments: [
      ("what was on the screen last", [row("screen", lastLive: 1), row("screen", "A")], [1, 0]),
      ("of two that were, exactly its key", [row("screen", "A"), row("screen")], [1, 0]),
      ("what can be given", [row("screen", "A", canBeGiven: false), row("screen", lastLive: 1)], [1, 0]),
      (
        "where nothing can, exactly its key",
        [
          row("screen", "A", canBeGiven: false), row("screen", canBeGiven: false, lastLive: 1),
        ], [1, 0]
      ),
    ])
  func `an object without a model gets`(name: String, rows: [Find.Row], expected: [Int]) {
    #expect(Find.order(rows, for: Self.asker("screen")) == expected)
  }

  /// All facts that the order is made of.
  private static var allRows: [Find.Row] {
    var rows: [Find.Row] = []
    for model in [nil, "A"] as [ModelIdentifier?] {
      for canBeGiven in [false, true] {
        for isAbsent in [false, true] {
          for lastLive in [nil, 1, 2] as [Double?] {
            for save: UInt32 in 1...2 {
              var row = row("screen", model, canBeGiven: canBeGiven, isAbsent: isAbsent, lastLive: lastLive)
              (row.newestSave, row.number) = (save, UInt32(rows.count))
              rows.append(row)
            }
          }
        }
      }
    }
    return rows
  }

  @Test func `the order is total, and no order in which rows are found changes it`() {
    // Absent rows without a model fit nobody who names one.
    let (rows, asker) = (Self.allRows.filter { !$0.isAbsent || $0.identity.model != nil }, Self.asker("screen", "A"))
    let order = Find.order(rows, for: asker).map { rows[$0].number }
    #expect(order.count == rows.count)
    let turned = Array(rows.reversed())
    #expect(Find.order(turned, for: asker).map { turned[$0].number } == order)
    for (first, second) in zip(order, order.dropFirst()) {
      let pair = [second, first].compactMap { number in rows.first { $0.number == number } }
      #expect(Find.order(pair, for: asker) == [1, 0], "\(pair)")
    }
  }

  @Test(
    arguments: [
      ([row(lastLive: 1), row(lastLive: 2)], 1), ([row(lastLive: 1), row(isAbsent: true)], 0),
      ([row(isAbsent: true), row(isAbsent: true)], nil), ([], nil),
    ] as [([Find.Row], Int?)])
  func `of the present rows of a place the one that was live last is made`(rows: [Find.Row], expected: Int?) {
    #expect(Find.made(rows) == expected)
  }
}
