import DataProtection
import Dispatch
import FoundationEssentials
import StateRestoration
import Synchronization
import TestTraits
import Testing

/// R9.2: the main actor captures values and nothing else.
///
/// Whatever else is done on it here ends the process.
@Suite(.tags(.threads)) struct OffMainActorTests {
  /// A state that can be encoded and decoded anywhere but on the main actor.
  @MainActor final class Heavy: RestorableController, StatefulObject {
    nonisolated struct State: Codable, Sendable {
      var value = 0

      init(_ value: Int) { self.value = value }

      init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(Int.self) }

      func encode(to encoder: any Encoder) throws {
        dispatchPrecondition(condition: .notOnQueue(.main))
        var container = encoder.singleValueContainer()
        try container.encode(value)
      }
    }

    let restoration: RestorationIdentity = "heavy"
    var restorableState = State(1)
  }

  @Test func `encoding, reading and writing happen off the main actor, locked or not`() async {
    await #expect(processExitsWith: .success) { @MainActor in
      let bench = Bench()
      bench.store.state.withLock { state in
        state.gate = { _ in dispatchPrecondition(condition: .notOnQueue(.main)) }
      }
      let coordinator = bench.launch()
      let root = Heavy()
      _ = try await coordinator.restore(into: root)
      for value in 2...4 {
        bench.store.lock(value == 4)
        root.restorableState = .init(value)
        root.invalidateRestorableState()
        guard case .preserved = try await coordinator.preserve(root) else { fatalError("not preserved") }
      }
      let locked = bench.launch()
      let other = Heavy()
      _ = try await locked.restore(into: other)
      other.restorableState = .init(5)
      guard case .preserved = try await locked.preserve(other) else { fatalError("not preserved while locked") }
      bench.store.lock(false)
      await locked.protectedDataDidBecomeAvailable()
      let again = Heavy()
      _ = try await bench.launch().restore(into: again)
      guard again.restorableState.value == 5 else { fatalError("not restored") }
    }
  }

  @Test func `the same state encoded on the main actor ends the process: the test above can fail`() async {
    await #expect(processExitsWith: .failure) { @MainActor in
      _ = try ArchiveEncoder().encode(Heavy.State(1))
    }
  }
}
