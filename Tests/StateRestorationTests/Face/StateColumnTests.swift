import RestorationArchive
import Testing

@testable import StateRestoration

/// Values of one class, side by side.
@MainActor @Suite struct StateColumnTests {
  /// A value whose life can be watched.
  nonisolated final class Token: Codable, Sendable {
    let number: Int

    init(_ number: Int) { self.number = number }
  }

  final class Holder: RestorableController, StatefulObject {
    let restoration: RestorationIdentity = "holder"
    var restorableState: Token

    init(_ token: Token) { restorableState = token }
  }

  struct WeakToken { weak let token: Token? }

  @Test(arguments: [1, 63, 64, 65, 200]) func `a column has every value in its row`(count: Int) throws {
    let column = ValueColumn<Holder>()
    for number in 0..<count { #expect(column.append(from: Holder(Token(number))) == number) }
    for number in 0..<count {
      let entry = column.entry(at: number)
      #expect(entry.key == "$state")
      #expect(try #require(entry.value as? Token).number == number)
    }
  }

  @Test(arguments: [1, 63, 64, 65, 200]) func `a column keeps its values until it goes`(count: Int) {
    var tokens: [WeakToken] = []
    var column: ValueColumn<Holder>? = ValueColumn()
    for number in 0..<count {
      let token = Token(number)
      tokens.append(WeakToken(token: token))
      _ = column?.append(from: Holder(token))
    }
    #expect(tokens.allSatisfy { $0.token != nil })
    column = nil
    #expect(tokens.allSatisfy { $0.token == nil })
  }
}
