import Testing

@testable import StateRestoration

/// The table *Give*, cell by cell: which records of one row an object gets.
@Suite struct GiveTests {
  private static func record(_ save: UInt32, _ obstacle: Give.Obstacle? = nil, isFirst: Bool = false) -> Give.Record {
    Give.Record(save: save, obstacle: obstacle, isFirst: isFirst)
  }

  @Test func `a row without records gives nothing, and hides nothing`() {
    #expect(Give.choose([]) == Give.Gift(candidates: [], hasUnread: false))
  }

  @Test(arguments: [Give.Obstacle.newerVersion, .damaged, .quarantined, .notAskedFor, .shed])
  func `a record that can't be given is unread`(obstacle: Give.Obstacle) {
    #expect(Give.choose([Self.record(1, obstacle)]) == Give.Gift(candidates: [], hasUnread: true))
    let beside = [Self.record(1), Self.record(2, obstacle)]
    #expect(Give.choose(beside) == Give.Gift(candidates: [0], hasUnread: true))
  }

  @Test(
    arguments: [
      ("the newest", [record(1), record(3), record(2)], [1, 2, 0]),
      ("one that is not first", [record(1), record(2, isFirst: true)], [0, 1]),
      ("a first one alone", [record(2, isFirst: true)], [0]),
      ("a first one where no other can be given", [record(1, .damaged), record(2, isFirst: true)], [1]),
      ("the oldest of first ones", [record(1, isFirst: true), record(2, isFirst: true)], [0, 1]),
      ("of one save the later one", [record(1), record(1)], [1, 0]),
    ])
  func `the object gets the best record`(name: String, records: [Give.Record], expected: [Int]) {
    #expect(Give.choose(records).candidates == expected)
  }

  @Test func `every record is a candidate or unread, whatever lies beside it`() {
    let obstacles: [Give.Obstacle?] = [nil, .newerVersion, .quarantined]
    for one in obstacles {
      for other in obstacles {
        for third in obstacles {
          for firsts in 0..<8 {
            let records = [one, other, third].enumerated().map { index, obstacle in
              Self.record(UInt32(index), obstacle, isFirst: firsts & (1 << index) != 0)
            }
            let gift = Give.choose(records)
            let readable = records.indices.filter { records[$0].obstacle == nil }
            #expect(gift.candidates.sorted() == readable)
            #expect(gift.hasUnread == (readable.count < 3))
            let marks = gift.candidates.map { records[$0].isFirst }
            #expect(marks == marks.filter { !$0 } + marks.filter { $0 })
          }
        }
      }
    }
  }
}
