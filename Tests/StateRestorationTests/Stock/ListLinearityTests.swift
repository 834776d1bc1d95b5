import Foundation
import StateRestoration
import Testing

/// Eight times the selected rows take about eight times the work.
///
/// Processor time, the fastest of some passes: linear is eight, quadratic 64.
@MainActor @Suite(.timeLimit(.minutes(2))) struct ListLinearityTests {
  /// Rows that are their own identifiers, found without searching.
  final class Rows: DataSourceModelAssociation {
    let isInSections: Bool

    init(isInSections: Bool) { self.isInSections = isInSections }

    func path(_ row: Int) -> IndexPath { isInSections ? [row, 0] : [0, row] }

    func modelIdentifier(forElementAt indexPath: IndexPath, in list: ListController) -> ModelIdentifier? {
      ModelIdentifier("\(indexPath[isInSections ? 0 : 1])")
    }

    func indexPath(forElementWithModelIdentifier identifier: ModelIdentifier, in list: ListController) -> IndexPath? {
      Int(identifier.rawValue).map(path)
    }
  }

  /// The growth from which on a body is not linear: between eight and 64.
  private static let tooMuch = 24.0

  /// How many times the processor time of 400 rows a body takes for 3 200, measured again while it is too much.
  private func growth(_ body: (Int) throws -> Void) rethrows -> Double {
    var least = Double.infinity
    for _ in 0..<5 where least >= Self.tooMuch { least = min(least, try time(3_200, body) / time(400, body)) }
    return least
  }

  /// The least processor time of a body in three passes.
  private func time(_ count: Int, _ body: (Int) throws -> Void) rethrows -> Double {
    var best = Double.infinity
    for _ in 0..<3 {
      let begun = processorTime()
      try body(count)
      best = min(best, processorTime() - begun)
    }
    return best
  }

  private func list(_ count: Int, _ rows: Rows, isAssociated: Bool = true) -> ListController {
    let list = ListController("list", association: isAssociated ? rows : nil)
    list.dataSourceDidLoad(elementCounts: rows.isInSections ? Array(repeating: 1, count: count) : [count])
    return list
  }

  @Test(arguments: [false, true]) func `very many rows that are selected`(isInSections: Bool) {
    let rows = Rows(isInSections: isInSections)
    let growth = growth { count in
      let list = list(count, rows)
      list.select((0..<count).map(rows.path) + [rows.path(0)])
      #expect(list.selection.count == count)
    }
    #expect(growth < Self.tooMuch)
  }

  @Test(arguments: [false, true], [false, true])
  func `very many selected rows that follow a change of the data`(isInSections: Bool, isAssociated: Bool) {
    let rows = Rows(isInSections: isInSections)
    let growth = growth { count in
      let list = list(count, rows, isAssociated: isAssociated)
      list.select((0..<count).map(rows.path))
      list.dataSourceDidLoad(elementCounts: list.elementCounts)
      #expect(list.selection.count == count)
    }
    #expect(growth < Self.tooMuch)
  }
}
