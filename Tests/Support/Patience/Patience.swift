/// Something that a test waited for did not come.
package struct TimedOut: Error, CustomStringConvertible {
  package let description: String

  package init(description: String) { self.description = description }
}

/// Waits until a condition holds, and not for ever: a test that hangs tells nobody why.
///
/// The caller's actor is free meanwhile.
///
/// - Parameters:
///   - what: What is waited for, for the error.
///   - patience: How long; much, as other tests and builds share the machine.
package func waitUntil(
  _ what: @autoclosure () -> String, patience: Duration = .seconds(60), _ condition: () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + patience
  // What comes in one of the next turns is not slept over.
  var turns = 0
  while !(try await condition()) {
    guard ContinuousClock.now < end else { throw TimedOut(description: "waited for \(what())") }
    turns += 1
    if turns < 1_000 { await Task.yield() } else { try await Task.sleep(for: .milliseconds(1)) }
  }
}
