import Synchronization

/// A mark that any thread can raise.
final class Flag: Sendable {
  private let value = Atomic<Bool>(false)
  func raise() { value.store(true, ordering: .releasing) }
  var isRaised: Bool { value.load(ordering: .acquiring) }
}

/// A count that any thread can raise.
final class Counter: Sendable {
  private let count = Atomic<Int>(0)
  func increment() { count.add(1, ordering: .relaxed) }
  var value: Int { count.load(ordering: .relaxed) }
}
