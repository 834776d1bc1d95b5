import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Testing

@testable import DataProtection

/// The power goes, or a call fails, at every step of everything that changes keys.
@Suite struct DevicePowerCutTests {
  @Test func `a first creation that is cut short is begun again`() async throws {
    let trial = TestWorld()
    do { _ = try await trial.open() }
    for number in trial.memory.cutPoints(after: 0) {
      let world = TestWorld()
      world.memory.cutPower(afterCall: number)
      let outcome = await code { _ = try await world.open() }
      #expect(world.memory.unsynchronizedCount <= PowerCutPolicy.exhaustiveCount, "any subset is tried")
      for policy in world.memory.powerCutPolicies {
        let next = TestWorld(memory: world.memory.afterPowerCut(policy))
        let device = try await next.open()
        #expect(device.isProtectedDataAvailable, "call \(number), \(policy)")
        #expect(next.names.count == 4, "call \(number), \(policy): \(next.names)")
        if outcome == nil { try device.files().create("x") }
      }
    }
  }

  @Test(arguments: [false, true])
  func `a first creation that fails or is killed anywhere is begun again, and then stays`(isKilled: Bool) async throws {
    let trial = TestWorld()
    do { _ = try await trial.open() }
    for number in 1...trial.memory.callCount {
      let world = TestWorld()
      let faulty = FaultyFileSystem(world.memory)
      if isKilled {
        world.memory.cutPower(afterCall: number)
      } else {
        faulty.fail(call: number, .error(.inputOutput))
      }
      _ = try? await world.open(through: faulty)
      let next = TestWorld(memory: world.memory.afterProcessDeath())
      let device = try await next.open()
      try device.files().create("x", contents: Data([1]), protection: ProtectionClass.none).close()
      let later = TestWorld(memory: next.memory.afterPowerCut(.dropAll))
      #expect(try await later.open().files().read("x") == Data([1]), "call \(number)")
      // The lock file, whose name a failed sync may have lost, is made again when it is needed.
      #expect(later.names.count { $0 != "lock" } == 4, "call \(number): \(later.names)")
    }
  }

  @Test func `a file of keys whose name can't be made durable is not there`() async throws {
    let world = TestWorld()
    _ = try await world.open()
    let faulty = FaultyFileSystem(world.memory)
    let directory = try DeviceDirectory.open(TestWorld.path, faulty, options: ProtectedDevice.Options())
    let names = world.names
    // The file's own sync goes well, that of its name does not.
    faulty.fail(call: faulty.callCount + 5, .error(.inputOutput))
    let bytes: [UInt8] = [1, 2, 3]
    let found = await code { try unsafe directory.create("keybag-0000000000000007", bytes.span.bytes) }
    #expect(faulty.hits == [.synchronize] && found == .durabilityUnknown)
    #expect(world.names == names)
  }

  enum Change: CaseIterable, Sendable {
    case set, change, remove, erase
  }

  /// A device on which a change can be made, with a file to watch.
  func makeWorld(_ change: Change) async throws -> TestWorld {
    let world = TestWorld()
    let device = try await world.open()
    try device.files().create("x", contents: Data("abc".utf8))
    if change != .set { try await device.setPasscode(ProtectedDevice.Passcode("old")) }
    return world
  }

  func perform(_ change: Change, _ device: ProtectedDevice) async throws {
    switch change {
    case .set: try await device.setPasscode(ProtectedDevice.Passcode("new"))
    case .change:
      try await device.changePasscode(from: ProtectedDevice.Passcode("old"), to: ProtectedDevice.Passcode("new"))
    case .remove: try await device.removePasscode(ProtectedDevice.Passcode("old"))
    case .erase: try await device.eraseAllContent()
    }
  }

  /// Which passcodes open the device: "old", "new", "none" or, after an erase, "missing".
  func working(_ world: TestWorld) async throws -> [String] {
    // The keys are gone, or half overwritten by an erase that was torn.
    if [.keysMissing, .corrupt].contains(await code(of: { _ = try await world.open() })) { return ["missing"] }
    if try await !world.open().hasPasscode { return ["none"] }
    var working: [String] = []
    for passcode in ["old", "new"] {
      if try await world.opens(passcode) { working.append(passcode) }
    }
    return working
  }

  func check(_ change: Change, _ world: TestWorld, isDone: Bool, _ comment: Comment) async throws {
    let found = try await working(world)
    let before = change == .set ? "none" : "old"
    let after = change == .set || change == .change ? "new" : "none"
    if change == .erase, found == ["missing"] {
      #expect(!isDone, comment)
      try await world.erase()
      #expect(try await world.open().isProtectedDataAvailable, comment)
      return
    }
    #expect(found == [after] || (!isDone && found == [before]), comment)
    let device = try await world.open()
    if let passcode = found.first, passcode != "none" {
      try await device.unlock(passcode: ProtectedDevice.Passcode(passcode))
    }
    let content = try? device.files().read("x")
    #expect(content == (change == .erase && found == ["none"] ? nil : Data("abc".utf8)), comment)
    #expect(!world.names.contains { $0.hasPrefix("tmp-") }, comment)
    #expect(world.names.filter { $0.hasPrefix("keybag-") }.count == 1, comment)
    #expect(world.names.filter { $0.hasPrefix("effaceable-") }.count == 1, comment)
  }

  @Test(arguments: Change.allCases)
  func `after a power cut exactly one passcode opens the device`(_ change: Change) async throws {
    let start = try await makeWorld(change)
    let trial = TestWorld(memory: start.memory.afterProcessDeath())
    let trialDevice = try await trial.open()
    let opening = trial.memory.callCount
    try await perform(change, trialDevice)
    let calls = trial.memory.callCount - opening
    let cutPoints = trial.memory.cutPoints(after: opening)
    #expect(cutPoints.count > 5)
    for number in cutPoints {
      let world = TestWorld(memory: start.memory.afterProcessDeath())
      let device = try await world.open()
      world.memory.cutPower(afterCall: world.memory.callCount + number)
      let outcome = await code { try await perform(change, device) }
      // Of an erase's many removals some subsets are: what they bring back has lost its keys.
      #expect(change == .erase || world.memory.unsynchronizedCount <= PowerCutPolicy.exhaustiveCount)
      for policy in world.memory.powerCutPolicies {
        let next = TestWorld(memory: world.memory.afterPowerCut(policy))
        try await check(change, next, isDone: outcome == nil && number == calls, "call \(number), \(policy)")
      }
    }
  }

  @Test(arguments: Change.allCases, [FileSystemError.Code.inputOutput, .noSpace, .interrupted])
  func `after a failed call exactly one passcode opens the device`(
    _ change: Change, _ failure: FileSystemError.Code
  ) async throws {
    let start = try await makeWorld(change)
    let trial = TestWorld(memory: start.memory.afterProcessDeath())
    let counting = FaultyFileSystem(trial.memory)
    let trialDevice = try await trial.open(through: counting)
    let opening = counting.callCount
    try await perform(change, trialDevice)
    let calls = counting.callCount - opening
    for number in 1...calls {
      let world = TestWorld(memory: start.memory.afterProcessDeath())
      let faulty = FaultyFileSystem(world.memory)
      let outcome = await code {
        let device = try await world.open(through: faulty)
        faulty.fail(call: faulty.callCount + number, .error(failure))
        try await perform(change, device)
      }
      if failure == .interrupted { #expect(outcome == nil, "call \(number)") }
      if world.memory.revision == start.memory.revision {
        // Nothing was touched: the device is what it was, and nobody may say that it has changed.
        #expect(outcome != nil, "call \(number)")
        continue
      }
      let next = TestWorld(memory: world.memory.afterProcessDeath())
      try await check(change, next, isDone: outcome == nil, "call \(number)")
      // The next process has gone on from what it found; what it found must then survive a power cut as well.
      let later = TestWorld(memory: next.memory.afterPowerCut(.dropAll))
      let works = try await working(next)
      let survived = try await working(later)
      #expect(survived == works, "call \(number), then a power cut")
      if change != .erase, outcome != nil, outcome != .durabilityUnknown {
        #expect(works == [change == .set ? "none" : "old"], "call \(number), \(String(describing: outcome))")
      }
      let cut = TestWorld(memory: world.memory.afterPowerCut(.dropAll))
      try await check(change, cut, isDone: outcome == nil, "call \(number), cut at once")
    }
  }

  @Test(arguments: Change.allCases)
  func `signals that cut every call short, three times over, change nothing`(_ change: Change) async throws {
    let start = try await makeWorld(change)
    let trial = TestWorld(memory: start.memory.afterProcessDeath())
    let counting = FaultyFileSystem(trial.memory)
    let trialDevice = try await trial.open(through: counting)
    let opening = counting.callCount
    try await perform(change, trialDevice)
    let expected = try await working(trial)
    for number in 1...counting.callCount - opening {
      let world = TestWorld(memory: start.memory.afterProcessDeath())
      let faulty = FaultyFileSystem(world.memory)
      let device = try await world.open(through: faulty)
      for again in 0..<3 { faulty.fail(call: faulty.callCount + number + again, .error(.interrupted)) }
      try await perform(change, device)
      let next = TestWorld(memory: world.memory.afterPowerCut(.dropAll))
      #expect(try await working(next) == expected, "call \(number): \(faulty.hits)")
    }
  }

  @Test(arguments: [Change.change, .erase])
  func `old keys are overwritten, durably, before any name goes`(_ change: Change) async throws {
    let world = try await makeWorld(change)
    let memory = world.memory
    let key = try #require(memory.content(atPath: world.only("effaceable-")))[56..<88]
    let faulty = FaultyFileSystem(memory)
    let device = try await world.open(through: faulty)
    let tooEarly = Log<Int>()
    faulty.onCall { number, operation in
      guard operation == .unlink || operation == .removeDirectory else { return }
      let disk = memory.afterPowerCut(.dropAll)
      if disk.allContents.contains(where: { $0.count == 120 && $0[56..<88] == key }) { tooEarly.append(number) }
    }
    try await perform(change, device)
    faulty.onCall(nil)
    #expect(tooEarly.all == [])
  }

  /// What a change leaves that is killed right after it gave a file its name.
  func leftovers(of change: Change) async throws -> [MemoryFileSystem] {
    let start = try await makeWorld(change)
    let trial = TestWorld(memory: start.memory.afterProcessDeath())
    let trialDevice = try await trial.open()
    let opening = trial.memory.callCount
    try await perform(change, trialDevice)
    let calls = trial.memory.calls
    var leftovers: [MemoryFileSystem] = []
    // What comes after the change, the list of slots that learns its revision, is no part of it.
    for index in calls.indices
    where index >= opening && calls[index].operation == .rename && calls[index].name != "slots.new" {
      let world = TestWorld(memory: start.memory.afterProcessDeath())
      let device = try await world.open()
      world.memory.cutPower(afterCall: index + 1)
      #expect(await code { try await perform(change, device) } != nil)
      leftovers.append(world.memory.afterProcessDeath())
    }
    return leftovers
  }

  @Test func `a new key whose name a kill left unsynced is durable before the old one is destroyed`() async throws {
    let leftovers = try await leftovers(of: .change)
    #expect(leftovers.count > 1)
    for leftover in leftovers {
      let trial = TestWorld(memory: leftover.afterProcessDeath())
      do { _ = try await trial.open() }
      for number in 0...trial.memory.callCount {
        let next = TestWorld(memory: leftover.afterProcessDeath())
        next.memory.cutPower(afterCall: number)
        _ = try? await next.open()
        let cut = TestWorld(memory: next.memory.afterPowerCut(.dropAll))
        try await check(.change, cut, isDone: false, "call \(number)")
      }
    }
  }

  @Test func `an erase of a device that nobody opens survives a power cut, or is asked for again`() async throws {
    let start = try await makeWorld(.erase)
    let trial = TestWorld(memory: start.memory.afterProcessDeath())
    try await trial.erase()
    for number in 0...trial.memory.callCount {
      let world = TestWorld(memory: start.memory.afterProcessDeath())
      world.memory.cutPower(afterCall: number)
      let isDone = await code { try await world.erase() } == nil
      for policy in world.memory.powerCutPolicies {
        let next = TestWorld(memory: world.memory.afterPowerCut(policy))
        try await check(.erase, next, isDone: isDone, "call \(number), \(policy)")
      }
    }
  }

  @Test func `an erase that fails before the newest key is destroyed leaves everything as it was`() async throws {
    let world = TestWorld(memory: try #require(await leftovers(of: .change).last))
    #expect(world.names.filter { $0.hasPrefix("effaceable-") }.count == 2)
    let trial = TestWorld(memory: world.memory.afterProcessDeath())
    try await trial.erase()
    let writes = trial.memory.calls.indices.filter { trial.memory.calls[$0].operation == .write }
    #expect(writes.count >= 2)
    let faulty = FaultyFileSystem(world.memory)
    faulty.fail(from: writes[1] + 1, [.write], .error(.inputOutput))
    let outcome = await code {
      try await ProtectedDevice.eraseAllContent(
        at: .directory(TestWorld.path), environment: world.environment(faulty))
    }
    #expect(outcome == .io)
    try await check(.change, TestWorld(memory: world.memory.afterProcessDeath()), isDone: true, "new passcode")
  }

  @Test func `a device key that appears while one is made is left alone`() async throws {
    let world = TestWorld()
    let memory = world.memory
    let faulty = FaultyFileSystem(memory)
    let path = TestWorld.path + "/device.key"
    let planted = [UInt8](repeating: 7, count: 32)
    faulty.onCall { _, operation in
      if operation == .rename, memory.content(atPath: path) == nil { memory.plant(planted, atPath: path) }
    }
    #expect(await code { _ = try await world.open(through: faulty) } == .alreadyExists)
    #expect(memory.content(atPath: path) == planted)
    #expect(try await world.open().isProtectedDataAvailable)
  }

  @Test(arguments: ["device.key", "effaceable-"])
  func `a lost key is missed even if nothing was ever sealed`(_ prefix: String) async throws {
    let world = TestWorld()
    do { _ = try await world.open() }
    world.memory.remove(atPath: try world.only(prefix))
    #expect(await code { _ = try await world.open() } == .keysMissing)
  }

  @Test(arguments: [FileSystemError.Operation.write, .synchronize, .rename])
  func `a change that fails takes its temporary file away at once`(
    _ operation: FileSystemError.Operation
  ) async throws {
    let world = try await makeWorld(.change)
    let faulty = FaultyFileSystem(world.memory)
    let device = try await world.open(through: faulty)
    faulty.fail(from: 1, [operation], .error(.inputOutput))
    #expect(await code { try await perform(.change, device) } == .io)
    #expect(!faulty.hits.isEmpty)
    #expect(!world.names.contains { $0.hasPrefix("tmp-") }, "\(world.names)")
  }

  @Test func `short writes change nothing`() async throws {
    let world = TestWorld()
    let faulty = FaultyFileSystem(world.memory)
    faulty.fail(from: 1, [.write], .shortWrite)
    do {
      let device = try await world.open(through: faulty)
      try device.files().create("x", contents: Data("abc".utf8))
      try await device.setPasscode(ProtectedDevice.Passcode("old"))
      try await device.changePasscode(from: ProtectedDevice.Passcode("old"), to: ProtectedDevice.Passcode("new"))
    }
    #expect(try await world.opens("new"))
    #expect(!faulty.hits.isEmpty)
  }
}
