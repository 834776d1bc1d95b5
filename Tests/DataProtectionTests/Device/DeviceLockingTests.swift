import DataProtection
import Dispatch
import FaultyFileSystem
import FileSystem
import Foundation
import OwnThread
import Patience
import SimulatedTime
import Synchronization
import TestTraits
import Testing

@Suite(.tags(.threads)) struct DeviceLockingTests {
  let world = TestWorld()

  /// An unlocked device with the passcode "1234".
  func makeDevice(grace: Duration = .seconds(10)) async throws -> (TestWorld, ProtectedDevice) {
    var world = world
    world.options.gracePeriod = grace
    let device = try await world.open()
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    return (world, device)
  }

  @Test func `a lock screen unlocks with the text of its field, and says why it can't`() async throws {
    let (world, device) = try await makeDevice()
    device.lock()
    try await world.finishLock(device)
    func answer(to text: String) async -> String {
      do {
        try await device.unlock(passcode: text)
        return "unlocked"
      } catch  where error.code == .wrongPasscode {
        return "wrong"
      } catch {
        return "\(error.code)"
      }
    }
    #expect(await answer(to: "") == "wrong")
    #expect(await answer(to: "1243") == "wrong")
    #expect(await answer(to: "1234") == "unlocked")
    #expect(device.isProtectedDataAvailable)
  }

  @Test func `a lock runs from unlocked over locking to locked, and an unlock back`() async throws {
    let (world, device) = try await makeDevice()
    let log = Log<String>()
    let observation = device.observeProtectedData { [unowned device] notification in
      log.append("\(notification) \(device.lockState) \(device.isProtectedDataAvailable)")
    }
    device.lock()
    #expect(device.lockState == .locking)
    #expect(device.isProtectedDataAvailable)
    try await world.finishLock(device)
    #expect(device.lockState == .locked)
    #expect(!device.isProtectedDataAvailable)
    device.lock()
    try await device.unlock(passcode: ProtectedDevice.Passcode("1234"))
    #expect(
      log.all == [
        "protectedDataWillBecomeUnavailable locking true", "protectedDataDidBecomeAvailable unlocked true",
      ])
    _ = observation
  }

  @Test func `a grace period longer than any clock counts is ten years`() async throws {
    let (world, device) = try await makeDevice(grace: .seconds(Int64.max))
    device.lock()
    #expect(device.lockState == .locking)
    await world.clock.waitForSleepers(1)
    world.clock.advance(by: .seconds(10 * 366 * 86_400))
    for _ in 0..<10_000 where device.lockState == .locking { await Task.yield() }
    #expect(device.lockState == .locked)
  }

  @Test func `with no grace period the keys are gone when lock returns`() async throws {
    let (_, device) = try await makeDevice(grace: .zero)
    let log = Log<ProtectedDevice.LockState>()
    let observation = device.observeProtectedData { [unowned device] _ in log.append(device.lockState) }
    device.lock()
    #expect(device.lockState == .locked)
    #expect(log.all == [.locked])
    _ = observation
  }

  @Test func `a lock may have a grace period of its own, and one without ends another's at once`() async throws {
    let (_, device) = try await makeDevice(grace: .zero)
    let log = Log<String>()
    let observation = device.observeProtectedData { log.append("\($0)") }
    device.lock(gracePeriod: .seconds(10))
    #expect(device.lockState == .locking)
    try device.files().create("x", protection: .complete)
    device.lock(gracePeriod: .seconds(20))
    #expect(device.lockState == .locking)
    device.lock(gracePeriod: .zero)
    #expect(device.lockState == .locked && !device.isProtectedDataAvailable)
    #expect(await code { try device.files().create("y", protection: .complete) } == .locked)
    #expect(await code { try device.files().create("z", protection: .completeUntilFirstUserAuthentication) } == nil)
    #expect(log.all == ["protectedDataWillBecomeUnavailable"])
    _ = observation
  }

  @Test func `an observer that hangs keeps no key, and lock returns to everybody else`() async throws {
    let (_, device) = try await makeDevice(grace: .zero)
    let (isHanging, mayGo) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let observation = device.observeProtectedData { _ in
      isHanging.signal()
      mayGo.wait()
    }
    Thread.detachNewThread { device.lock() }
    await waitOnThread(isHanging)
    #expect(device.lockState == .locked)
    #expect(await code { try device.files().create("x", protection: .complete) } == .locked)
    device.lock()
    device.reboot()
    #expect(await code { try device.files().create("y", protection: .completeUntilFirstUserAuthentication) } == .locked)
    mayGo.signal()
    _ = observation
  }

  @Test func `a custody that hangs keeps no lock from wiping`() async throws {
    var world = world
    let custody = StoppedCustody()
    world.options.custody = custody
    world.options.gracePeriod = .zero
    let device = try await world.open()
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    custody.hangs.set()
    Task.detached(executorPreference: OwnThreads.shared) {
      try await device.unlock(passcode: ProtectedDevice.Passcode("1234"))
    }
    await waitOnThread(custody.isHanging)
    #expect(device.lockState == .unlocked)
    let didLock = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      device.lock()
      didLock.signal()
    }
    try await waitUntil("the lock") { device.lockState == .locked }
    #expect(await code { try device.files().create("x", protection: .complete) } == .locked)
    custody.mayGo.signal()
    await waitOnThread(didLock)
    #expect(custody.entries.isEmpty)
  }

  @Test func `a custody that hangs after one lock keeps no later lock from wiping`() async throws {
    let custody = StoppedCustody()
    var options = ProtectedDevice.Options()
    options.gracePeriod = .milliseconds(20)
    options.custody = custody
    // The real clock, whose grace periods end on threads of their own.
    let device = try await ProtectedDevice.open(
      at: .directory(TestWorld.path), options: options,
      environment: DeviceEnvironment(fileSystem: world.memory, scrypt: .test, variables: { _ in nil }))
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    custody.hangsForgetting.set()
    await onThread { device.lock() }
    await waitOnThread(custody.isHanging)
    #expect(device.lockState == .locked)
    Task.detached(executorPreference: OwnThreads.shared) {
      try await device.unlock(passcode: ProtectedDevice.Passcode("1234"))
    }
    try await waitUntil("the unlock") { device.lockState == .unlocked }
    device.lock()
    try await waitUntil("the lock") { device.lockState == .locked }
    #expect(await code { try device.files().create("x", protection: .complete) } == .locked)
    for _ in 0..<4 { custody.mayGo.signal() }
  }

  @Test func `the keys go when every thread of the cooperative pool is blocked`() async {
    await #expect(processExitsWith: .success) {
      let path = FileManager.default.temporaryDirectory.appending(path: "pool-\(UUID().uuidString)").path()
      var options = ProtectedDevice.Options()
      options.gracePeriod = .milliseconds(200)
      let device = try await ProtectedDevice.open(
        at: .directory(path), options: options, environment: DeviceEnvironment(scrypt: .test))
      try await device.setPasscode(ProtectedDevice.Passcode("1234"))
      Thread.detachNewThread {
        // Long enough for all the tasks below to block their threads.
        Thread.sleep(forTimeInterval: 0.5)
        device.lock()
        guard device.lockState == .locking else { exit(3) }
        for _ in 0..<500 where device.lockState == .locking { Thread.sleep(forTimeInterval: 0.01) }
        try? FileManager.default.removeItem(atPath: path)
        exit(device.lockState == .locked ? EXIT_SUCCESS : 4)
      }
      for _ in 0..<2 * ProcessInfo.processInfo.processorCount {
        Task.detached { blockThread() }
      }
      blockThread()
    }
  }

  /// Waits on a thread that isn't the concurrency's; a test that waits for ever is stopped by its suite's limit.
  private func waitOnThread(_ semaphore: DispatchSemaphore) async {
    #expect(await onThread { semaphore.wait(timeout: .now() + 60) } == .success)
  }

  @Test func `an unlock in the grace period undoes the lock, and its end comes to nothing`() async throws {
    let (world, device) = try await makeDevice()
    device.lock()
    await world.clock.waitForSleepers(1)
    world.clock.advance(by: .seconds(4))
    try await device.unlock(passcode: ProtectedDevice.Passcode("1234"))
    device.lock()
    await world.clock.waitForSleepers(2)
    // The first lock's period ends; the second's has six seconds to go.
    world.clock.advance(by: .seconds(6))
    for _ in 0..<100 { await Task.yield() }
    #expect(device.lockState == .locking)
    world.clock.advance(by: .seconds(4))
    try await waitUntil("the lock's end") { device.lockState != .locking }
    #expect(device.lockState == .locked)
  }

  @Test func `observers may lock and unlock, and all hear everything in one order`() async throws {
    let (_, device) = try await makeDevice(grace: .zero)
    let (first, second) = (Log<ProtectedDevice.Notification>(), Log<ProtectedDevice.Notification>())
    let relocks = Mutex(3)
    let one = device.observeProtectedData { [unowned device] notification in
      first.append(notification)
      guard notification == .protectedDataDidBecomeAvailable else { return }
      let isDue = relocks.withLock { count in
        count -= 1
        return count >= 0
      }
      if isDue { device.lock() }
    }
    let two = device.observeProtectedData { second.append($0) }
    for _ in 0..<3 {
      device.lock()
      try await device.unlock(passcode: ProtectedDevice.Passcode("1234"))
      #expect(device.lockState == .locked)
    }
    let round: [ProtectedDevice.Notification] = [
      .protectedDataWillBecomeUnavailable, .protectedDataDidBecomeAvailable,
    ]
    #expect(first.all == round + round + round + [.protectedDataWillBecomeUnavailable])
    #expect(second.all == first.all)
    withExtendedLifetime((one, two)) {}
  }

  @Test func `observers may reboot and do I/O, and nothing hangs`() async throws {
    let device = try await world.open()
    let files = try device.files()
    try files.create("x", contents: Data([1])).close()
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    let heard = Log<String>()
    let observation = device.observeProtectedData { [weak device] notification in
      guard let device else { return }
      heard.append("\(notification), read: \((try? files.read("x")) != nil)")
      switch notification {
      case .protectedDataWillBecomeUnavailable:
        // In the grace period everything still works; a reboot from here ends it at once.
        try? files.write(Data([2]), to: "x")
        device.reboot()
        heard.append("read after the reboot: \((try? files.read("x")) != nil)")
      case .protectedDataDidBecomeAvailable:
        device.reboot()
        device.lock()
      }
    }
    device.lock()
    #expect(device.lockState == .locked)
    try await device.unlock(passcode: ProtectedDevice.Passcode("1234"))
    #expect(device.lockState == .locked)
    #expect(!device.isProtectedDataAvailable)
    #expect(
      heard.all == [
        "protectedDataWillBecomeUnavailable, read: true", "read after the reboot: false",
        "protectedDataDidBecomeAvailable, read: true",
      ])
    observation.cancel()
    try await device.unlock(passcode: ProtectedDevice.Passcode("1234"))
    #expect(try files.read("x") == Data([2]))
  }

  @Test func `the sequence gives every notification in order`() async throws {
    let (_, device) = try await makeDevice(grace: .zero)
    let notifications = device.protectedDataNotifications
    for _ in 0..<5 {
      device.lock()
      try await device.unlock(passcode: ProtectedDevice.Passcode("1234"))
    }
    var seen: [ProtectedDevice.Notification] = []
    for await notification in notifications {
      seen.append(notification)
      if seen.count == 10 { break }
    }
    #expect(
      seen
        == Array(
          repeating: [.protectedDataWillBecomeUnavailable, .protectedDataDidBecomeAvailable], count: 5
        ).flatMap { $0 })
  }

  @Test func `a cancelled observation hears nothing more, even when cancelled by an observer`() async throws {
    let (_, device) = try await makeDevice(grace: .zero)
    let log = Log<Int>()
    let later = Mutex<ProtectedDataObservation?>(nil)
    let one = device.observeProtectedData { _ in
      log.append(1)
      later.withLock { $0 }?.cancel()
    }
    later.withLock { $0 = device.observeProtectedData { _ in log.append(2) } }
    device.lock()
    #expect(log.all == [1])
    withExtendedLifetime(one) {}
  }

  @Test(arguments: [Duration.zero, .seconds(10)])
  func `a lock while the first passcode is being set locks as soon as there is one`(grace: Duration) async throws {
    var world = world
    world.options.gracePeriod = grace
    let log = Log<String>()
    let faulty = FaultyFileSystemProbe(world)
    let device = try await world.open(through: faulty.fileSystem)
    let observation = device.observeProtectedData { log.append("\($0)") }
    faulty.onNextCall { [unowned device] in device.lock() }
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    #expect(device.lockState == (grace == .zero ? .locked : .locking))
    if grace > .zero { try await world.finishLock(device) }
    #expect(!device.isProtectedDataAvailable)
    #expect(await code { try device.files().create("x", protection: .complete) } == .locked)
    #expect(log.all == ["protectedDataWillBecomeUnavailable"])
    try await device.unlock(passcode: ProtectedDevice.Passcode("1234"))
    #expect(device.isProtectedDataAvailable)
    _ = observation
  }

  @Test func `a lock before there was a passcode locks nothing later`() async throws {
    let device = try await world.open()
    device.lock()
    try await device.unlock(passcode: ProtectedDevice.Passcode("any"))
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    #expect(device.lockState == .unlocked)
  }

  @Test func `a lock while the passcode is removed leaves the device open, without one`() async throws {
    let (world, _) = try await makeDevice(grace: .zero)
    for number in 1... {
      let copy = TestWorld(
        memory: world.memory.afterProcessDeath(), clock: world.clock, bootClock: world.bootClock,
        options: world.options)
      let faulty = FaultyFileSystem(copy.memory)
      let device = try await copy.open(through: faulty)
      let last = faulty.callCount + number
      let hasLocked = SharedFlag()
      faulty.onCall { [unowned device] call, _ in
        guard call == last else { return }
        hasLocked.set()
        device.lock()
      }
      let outcome = await code { try await device.removePasscode(ProtectedDevice.Passcode("1234")) }
      faulty.onCall(nil)
      #expect(outcome == nil || outcome == .locked, "call \(number)")
      #expect(device.hasPasscode == (outcome != nil), "call \(number)")
      #expect(device.isProtectedDataAvailable == (outcome == nil), "call \(number)")
      #expect(try await copy.open().hasPasscode == (outcome != nil), "call \(number)")
      if outcome == nil { try device.files().create("x", protection: .complete) }
      if !hasLocked.isSet { break }
    }
  }

  @Test func `a lock during the check of a passcode wins`() async throws {
    let (world, _) = try await makeDevice(grace: .zero)
    let faulty = FaultyFileSystemProbe(world)
    let device = try await world.open(through: faulty.fileSystem)
    faulty.onNextCall { [unowned device] in device.lock() }
    #expect(await code { try await device.unlock(passcode: ProtectedDevice.Passcode("1234")) } == .locked)
    #expect(device.lockState == .locked)
    try await device.unlock(passcode: ProtectedDevice.Passcode("1234"))
    #expect(device.lockState == .unlocked)
  }

  @Test func `a reboot locks at once, without a word`() async throws {
    let (_, device) = try await makeDevice()
    let log = Log<ProtectedDevice.Notification>()
    let observation = device.observeProtectedData { log.append($0) }
    device.reboot()
    #expect(device.lockState == .locked)
    #expect(!device.isProtectedDataAvailable)
    #expect(log.all.isEmpty)
    try await device.unlock(passcode: ProtectedDevice.Passcode("1234"))
    #expect(log.all == [.protectedDataDidBecomeAvailable])
    _ = observation
  }

  @Test func `a hanging observer doesn't keep the keys after the grace period`() async throws {
    let (world, device) = try await makeDevice()
    let log = Log<ProtectedDevice.LockState>()
    let observation = device.observeProtectedData { [unowned device] _ in
      while world.clock.sleeperCount == 0 {}
      world.clock.advance(by: .seconds(10))
      // It hangs until the lock is over, which doesn't wait for it.
      while device.lockState == .locking {}
      log.append(device.lockState)
    }
    await onThread { device.lock() }
    #expect(log.all == [.locked])
    _ = observation
  }
}

/// Keeps a thread from everybody else, for longer than a test waits.
private func blockThread() { Thread.sleep(forTimeInterval: 60) }

/// A custody that stops working when it is told to.
private final class StoppedCustody: ProtectedDevice.KeyCustody {
  let (isHanging, mayGo) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
  let (hangs, hangsForgetting) = (SharedFlag(), SharedFlag())
  private let kept = Mutex<Set<ProtectedDevice.KeyCustodyEntry>>([])

  var entries: Set<ProtectedDevice.KeyCustodyEntry> {
    kept.withLock { $0 }.filter { $0.protection != .completeUntilFirstUserAuthentication }
  }

  func keep(_ key: Span<UInt8>, for entry: ProtectedDevice.KeyCustodyEntry) {
    if hangs.isSet, entry.protection == .complete {
      isHanging.signal()
      mayGo.wait()
    }
    kept.withLock { _ = $0.insert(entry) }
  }

  func lend(_ entry: ProtectedDevice.KeyCustodyEntry, to body: (Span<UInt8>) -> Void) {}

  func forget(_ entry: ProtectedDevice.KeyCustodyEntry) {
    kept.withLock { _ = $0.remove(entry) }
    if hangsForgetting.isSet, entry.protection == .complete {
      isHanging.signal()
      mayGo.wait()
    }
  }
}
