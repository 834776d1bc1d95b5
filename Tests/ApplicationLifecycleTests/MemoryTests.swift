import ApplicationLifecycle
import SimulatedTime
import TestTraits
import Testing

@MainActor @Suite(.tags(.threads)) struct MemoryTests {
  final class Responder: Lifecycle.MemoryWarningResponder {
    let name: String
    let log: NameLog
    init(_ name: String, _ log: NameLog) {
      self.name = name
      self.log = log
    }
    func didReceiveMemoryWarning() { log.names.append(name) }
  }

  @Test func `a warning reaches the delegate, the controllers and the observers, in this order`() async throws {
    let lifecycle = Lifecycle(clock: ManualClock())
    let recorder = Recorder(lifecycle)
    let log = NameLog()
    recorder.responders = [Responder("parent", log), Responder("child", log)]
    recorder.duringCallback["memoryWarning"] = { log.names.append("delegate") }
    var observation: Lifecycle.Observation? = lifecycle.observeMemoryWarnings { log.names.append("observer") }
    try await lifecycle.launch()
    lifecycle.receiveMemoryWarning()
    #expect(log.names == ["delegate", "parent", "child", "observer"])
    observation = nil
    lifecycle.receiveMemoryWarning()
    #expect(log.names.count { $0 == "observer" } == 1)
    withExtendedLifetime(observation) {}
  }

  @Test(arguments: [Lifecycle.State.notRunning, .suspended])
  func `a program that does not run gets no warning`(state: Lifecycle.State) async throws {
    let lifecycle = Lifecycle(clock: ManualClock())
    let recorder = Recorder(lifecycle)
    if state == .suspended {
      try await lifecycle.launch()
      try await lifecycle.enterBackground()
    }
    lifecycle.receiveMemoryWarning()
    #expect(!recorder.names.contains("memoryWarning"))
  }

  @Test func `suspended programs are purged largest first, and running ones never`() {
    let candidates = [
      PurgeOrder.Candidate(name: "small", state: .suspended, footprint: 10, suspendedAt: 1),
      PurgeOrder.Candidate(name: "running", state: .active, footprint: 1_000, suspendedAt: 0),
      PurgeOrder.Candidate(name: "background", state: .background, footprint: 900, suspendedAt: 0),
      PurgeOrder.Candidate(name: "late", state: .suspended, footprint: 50, suspendedAt: 3),
      PurgeOrder.Candidate(name: "early", state: .suspended, footprint: 50, suspendedAt: 2),
      PurgeOrder.Candidate(name: "large", state: .suspended, footprint: 90, suspendedAt: 4),
    ]
    #expect(PurgeOrder.order(candidates).map(\.name) == ["large", "early", "late", "small"])
    #expect(PurgeOrder.purging(candidates, toFree: 0).isEmpty)
    #expect(PurgeOrder.purging(candidates, toFree: 90).map(\.name) == ["large"])
    #expect(PurgeOrder.purging(candidates, toFree: 91).map(\.name) == ["large", "early"])
    #expect(PurgeOrder.purging(candidates, toFree: 10_000).count == 4)
  }
}
