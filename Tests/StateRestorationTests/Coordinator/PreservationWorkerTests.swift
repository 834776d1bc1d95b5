import Dispatch
import StateRestoration
import Synchronization
import TestTraits
import Testing

/// Where the work of a save is done (R9.2).
@MainActor @Suite(.tags(.threads)) struct PreservationWorkerTests {
  /// Notes which calls came on the main queue.
  private final class Witness: Sendable {
    private let key = DispatchSpecificKey<Bool>()
    private let calls = Mutex<[(name: String, isOnMain: Bool)]>([])

    init() { DispatchQueue.main.setSpecific(key: key, value: true) }

    deinit { DispatchQueue.main.setSpecific(key: key, value: nil) }

    func note(_ name: String) {
      let isOnMain = DispatchQueue.getSpecific(key: key) ?? false
      calls.withLock { $0.append((name, isOnMain)) }
    }

    var names: [String] { calls.withLock { $0.map(\.name) } }
    var onMain: [String] { calls.withLock { $0.filter(\.isOnMain).map(\.name) } }
  }

  @Test func `what a save asks of the store is asked away from the main queue`() async throws {
    let bench = Bench()
    let witness = Witness()
    bench.store.state.withLock { $0.gate = { witness.note($0) } }
    try await bench.preserve(Screen("root", text: "text"))
    #expect(witness.names.contains("publish"))
    #expect(witness.onMain == [])
  }
}
