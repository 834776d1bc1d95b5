import Synchronization

/// Sessions and epochs that wait to be used again.
final class Pool<Item>: Sendable {
  private struct Waiting: @unchecked Sendable {
    // Sendable: an item that is taken out has one user until it is given back.
    var items: [Item] = []
  }

  private let limit: Int
  private let waiting = Mutex(Waiting())

  /// Makes an empty pool; items beyond a limit are freed when they are given back.
  init(limit: Int) { self.limit = limit }

  /// Takes the item given back last, or of those that are preferred the last one; nil when none waits.
  func take(preferring isPreferred: (Item) -> Bool = { _ in true }) -> Item? {
    waiting.withLock {
      guard let index = $0.items.lastIndex(where: isPreferred) else { return $0.items.popLast() }
      return $0.items.remove(at: index)
    }
  }

  /// Gives an item back.
  func giveBack(_ item: Item) {
    waiting.withLock { if $0.items.count < limit { $0.items.append(item) } }
  }
}
