/// The operations of a coordinator that exclude each other, in the order in which they were asked for.
@MainActor final class ExclusiveOperations {
  /// What an operation does.
  enum Kind {
    case loading, restoring, saving, discarding, forgetting
  }

  /// The operation in progress; nil when there is none.
  private(set) var current: Kind?
  private var waiting: [(kind: Kind, start: () -> Void)] = []

  /// Begins an operation at once; false when another one is in progress.
  func beginNow(_ kind: Kind) -> Bool {
    guard current == nil else { return false }
    current = kind
    return true
  }

  /// Begins an operation after all that were asked for before.
  func begin(_ kind: Kind) async {
    if beginNow(kind) { return }
    await withCheckedContinuation { continuation in waiting.append((kind, { continuation.resume() })) }
  }

  /// Begins an operation after all that were asked for before: calls a function that does it, at once if it may begin now.
  func begin(_ kind: Kind, then start: @escaping () -> Void) {
    if beginNow(kind) { return start() }
    waiting.append((kind, start))
  }

  /// Ends the operation in progress; the next one begins at once, so that none gets in between.
  func end() {
    guard !waiting.isEmpty else { return current = nil }
    let next = waiting.removeFirst()
    current = next.kind
    next.start()
  }

  /// Whether an operation of a kind is in progress or waits.
  func isPlanned(_ kinds: Kind...) -> Bool {
    current.map(kinds.contains) ?? false || waiting.contains { kinds.contains($0.kind) }
  }

  /// Runs a body as one operation.
  func run<Value, Failure: Error>(
    _ kind: Kind, _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    await begin(kind)
    defer { end() }
    return try await body()
  }
}
