import ApplicationLifecycle
import DataProtection
import TestTraits
import Testing

@testable import StateRestoration

@MainActor @Suite(.tags(.threads)) struct ReopenableHandleTests {
  let fake = FakeApplication()

  @Test(arguments: ProtectionClass.allCases)
  func `only handles of complete files are closed while inactive`(protection: ProtectionClass) async throws {
    let handle = FakeHandle(protection, fake.log)
    fake.application.keep(handle)
    try await fake.application.launch()
    fake.log.clear()
    try await fake.lifecycle.resignActive()
    try await fake.lifecycle.becomeActive()
    let calls = fake.log.all.filter { $0.hasPrefix("close") || $0.hasPrefix("reopen") }
    #expect(calls == (protection == .complete ? ["close complete", "reopen complete"] : []))
  }

  @Test func `handles are closed after willResignActive and opened before didBecomeActive`() async throws {
    let handle = FakeHandle(.complete, fake.log)
    fake.application.keep(handle)
    try await fake.application.launch()
    fake.log.clear()
    try await fake.lifecycle.resignActive()
    try await fake.lifecycle.becomeActive()
    #expect(fake.log.all == ["willResignActive", "close complete", "reopen complete", "didBecomeActive"])
  }

  @Test func `a handle refused because of the lock is opened after the unlock`() async throws {
    let handle = FakeHandle(.complete, fake.log)
    fake.application.keep(handle)
    try await fake.application.launch()
    try await fake.lifecycle.resignActive()
    handle.refusal = .locked
    try await fake.lifecycle.becomeActive()
    #expect(!fake.log.all.contains("reopen complete"))
    handle.refusal = nil
    fake.device.announce(true)
    for _ in 0..<100 where !fake.log.all.contains("reopen complete") { await Task.yield() }
    #expect(fake.log.all.contains("reopen complete"))
  }

  @Test func `an unlock while the program is inactive opens nothing before it is active`() async throws {
    let handle = FakeHandle(.complete, fake.log)
    fake.application.keep(handle)
    try await fake.application.launch()
    try await fake.lifecycle.resignActive()
    fake.log.clear()
    fake.device.announce(true)
    // The delegate is told in the same turn in which handles would be opened.
    for _ in 0..<1_000 where !fake.log.all.contains("didBecomeAvailable") { await Task.yield() }
    for _ in 0..<100 { await Task.yield() }
    #expect(fake.log.all == ["didBecomeAvailable"])
    try await fake.lifecycle.becomeActive()
    #expect(fake.log.all == ["didBecomeAvailable", "reopen complete", "didBecomeActive"])
  }

  @Test func `an unlock while the program is active opens handles anew that the lock may have killed`() async throws {
    let handles = [FakeHandle(.complete, fake.log), FakeHandle(.none, fake.log)]
    for handle in handles { fake.application.keep(handle) }
    try await fake.application.launch()
    fake.device.announce(false)
    fake.device.announce(true)
    for _ in 0..<1_000 where !fake.log.all.contains("reopen complete") { await Task.yield() }
    #expect(
      fake.log.all.filter { $0.hasPrefix("close") || $0.hasPrefix("reopen") } == ["close complete", "reopen complete"])
  }

  @Test func `a handle that is being opened when the program resigns active is closed again`() async throws {
    let handle = FakeHandle(.complete, fake.log)
    fake.application.keep(handle)
    try await fake.application.launch()
    try await fake.lifecycle.resignActive()
    handle.refusal = .locked
    try await fake.lifecycle.becomeActive()
    handle.refusal = nil
    fake.log.clear()
    // The unlock opens it, and the program resigns active meanwhile.
    let gate = OpeningGate()
    handle.gate = gate
    fake.device.announce(true)
    await gate.waitForArrival()
    try await fake.lifecycle.resignActive()
    gate.open()
    for _ in 0..<1_000 where !fake.log.all.contains("close complete") { await Task.yield() }
    #expect(fake.log.all.filter { $0.hasSuffix("complete") } == ["reopen complete", "close complete"])
    handle.gate = nil
    try await fake.lifecycle.becomeActive()
    #expect(fake.log.all.last { $0.hasSuffix("complete") } == "reopen complete")
  }

  @Test func `a handle is opened once, however many ask for it at a time`() async throws {
    let handle = FakeHandle(.complete, fake.log)
    fake.application.keep(handle)
    try await fake.application.launch()
    try await fake.lifecycle.resignActive()
    let gate = OpeningGate()
    handle.gate = gate
    let lifecycle = fake.lifecycle
    let active = Task { try await lifecycle.becomeActive() }
    await gate.waitForArrival()
    fake.device.announce(true)
    for _ in 0..<200 { await Task.yield() }
    gate.open()
    try await active.value
    for _ in 0..<200 { await Task.yield() }
    #expect(fake.log.all.count { $0 == "reopen complete" } == 1)
  }

  @Test func `an unlock while another handle is being opened opens the one that the lock had refused`() async throws {
    let handles = [FakeHandle(.complete, fake.log), FakeHandle(.complete, fake.log)]
    for handle in handles { fake.application.keep(handle) }
    try await fake.application.launch()
    try await fake.lifecycle.resignActive()
    handles[0].refusal = .locked
    let gate = OpeningGate()
    handles[1].gate = gate
    let lifecycle = fake.lifecycle
    let active = Task { try await lifecycle.becomeActive() }
    await gate.waitForArrival()
    handles[0].refusal = nil
    fake.device.announce(true)
    for _ in 0..<1_000 where !fake.log.all.contains("didBecomeAvailable") { await Task.yield() }
    gate.open()
    try await active.value
    for _ in 0..<1_000 where fake.log.all.count(where: { $0 == "reopen complete" }) < 2 { await Task.yield() }
    #expect(fake.log.all.count { $0 == "reopen complete" } == 2)
  }

  @Test(arguments: [true, false])
  func `a handle that a lock meets while it is being opened is opened again after the unlock`(isRefused: Bool)
    async throws
  {
    let handle = FakeHandle(.complete, fake.log)
    fake.application.keep(handle)
    try await fake.application.launch()
    let gate = OpeningGate()
    handle.gate = gate
    if isRefused { handle.refusal = .locked }
    fake.device.announce(true)
    await gate.waitForArrival()
    fake.log.clear()
    fake.device.announce(false)
    fake.device.announce(true)
    for _ in 0..<1_000 where !fake.log.all.contains("didBecomeAvailable") { await Task.yield() }
    handle.refusal = nil
    gate.open()
    let opened = isRefused ? 1 : 2
    for _ in 0..<1_000 where fake.log.all.count(where: { $0 == "reopen complete" }) < opened { await Task.yield() }
    #expect(
      fake.log.all.filter { $0.hasSuffix("complete") }
        == (isRefused ? ["reopen complete"] : ["reopen complete", "close complete", "reopen complete"]))
  }

  @Test func `an unlock during the launch opens a handle anew that the lock may have killed`() async throws {
    let handle = FakeHandle(.complete, fake.log)
    fake.application.keep(handle)
    fake.engine.onRestore = { [fake] in
      fake.device.announce(false)
      fake.device.announce(true)
      for _ in 0..<1_000 where !fake.log.all.contains("didBecomeAvailable") { await Task.yield() }
    }
    try await fake.application.launch()
    for _ in 0..<1_000 where !fake.log.all.contains("reopen complete") { await Task.yield() }
    #expect(fake.log.all.filter { $0.hasSuffix("complete") } == ["close complete", "reopen complete"])
  }

  @Test func `handles are not retained`() async throws {
    var gone: FakeHandle? = FakeHandle(.complete, fake.log)
    weak let watch = gone
    fake.application.keep(try #require(gone))
    gone = nil
    #expect(watch == nil)
    try await fake.application.launch()
    try await fake.lifecycle.resignActive()
    #expect(!fake.log.all.contains("close complete"))
  }
}
