import FaultyFileSystem
import FileSystem
import Foundation
import OwnThread
import Patience
import Testing

@testable import DataProtection

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// One writer has a slot at a time; everybody else is told who.
@Suite struct OneWriterTests {
  let rig = StoreRig()
  let memory = MemoryFileSystem()
  let first = StoreScenario.first

  private func error(_ body: () throws -> Void) -> ProtectionError? {
    do { try body() } catch let error as ProtectionError { return error } catch {}
    return nil
  }

  @Test func `a second writer gets inUse with the holder's process, and changes nothing`() throws {
    let holder = try rig.archives(memory)
    let newest = try holder.publish(first).generation
    let second = try rig.archives(memory)
    let calls: [() throws -> Void] = [
      { try second.open() }, { try second.publish(StoreScenario.second) }, { try second.publishPending(first) },
      { try second.deleteAll() }, { try second.requireDurable() },
      { _ = try second.append(first, to: newest) },
    ]
    let before = memory.revision
    for call in calls {
      let refusal = try #require(error(call))
      #expect(refusal.code == .inUse)
      #expect(refusal.processIdentifier == ProcessInfo.processInfo.processIdentifier)
    }
    #expect(memory.revision == before)
    // It can look, and the holder notices nothing.
    #expect(try second.openNewest().readAll() == first)
    #expect(try holder.append(StoreScenario.frames[0], to: newest)?.durability == .durable)
    #expect(try second.openNewest().frames == [StoreScenario.frames[0]])
  }

  @Test func `the slot is free when its writer closes it or goes`() throws {
    let holder = try rig.archives(memory)
    try holder.publish(first)
    holder.close()
    do {
      let second = try rig.archives(memory)
      try second.publish(StoreScenario.second)
    }
    #expect(try rig.archives(memory).openNewest().readAll() == StoreScenario.second)
    // The one that closed it takes it again, and goes on from what is there now.
    #expect(try holder.append(first, to: Generation(rawValue: 1)) == nil)
    try holder.publish(StoreScenario.third)
    #expect(try holder.openPredecessor().readAll() == StoreScenario.second)
  }

  @Test func `who waits for the slot gets it when it is let go, and inUse after its patience`() throws {
    let holder = try rig.archives(memory)
    try holder.publish(first)
    let second = try rig.archives(memory)
    #expect(error { try second.open(waiting: .seconds(1)) }?.code == .inUse)
    #expect(memory.waited >= .seconds(1))
    let faulty = FaultyFileSystem(memory)
    let third = try rig.archives(faulty)
    faulty.onCall { _, operation in if operation == .lock { holder.close() } }
    try third.open(waiting: .seconds(1))
    #expect(third.isOpen)
  }

  @Test func `a slot that is let go while its holder is looked up is taken`() throws {
    let holder = try rig.archives(memory)
    try holder.publish(first)
    let faulty = FaultyFileSystem(memory)
    let second = try rig.archives(faulty)
    faulty.onLockHolder { holder.close() }
    try second.open()
    #expect(second.isOpen)
    faulty.onLockHolder(nil)
    #expect(error { try holder.open() }?.code == .inUse)
  }

  @Test func `who waited while the slot was deleted gets the new one, and no deleted directory`() throws {
    let holder = try rig.archives(memory)
    try holder.publish(first)
    let faulty = FaultyFileSystem(memory)
    let second = try rig.archives(faulty)
    faulty.onCall { _, operation in
      guard operation == .lock else { return }
      faulty.onCall(nil)
      try? holder.deleteAll()
    }
    try second.open(waiting: .seconds(1))
    #expect(throws: ProtectionError.self) { try second.openNewest() }
    try second.publish(StoreScenario.second)
    second.close()
    #expect(try rig.observe(memory) == .saved(StoreScenario.second))
  }

  @Test func `a look while the writer goes on finds one of its states at every step`() throws {
    let holder = try rig.archives(memory)
    try holder.publish(Data([0]))
    for step in 1... {
      let faulty = FaultyFileSystem(memory)
      let reader = try rig.archives(faulty)
      let start = faulty.callCount
      faulty.onCall { number, _ in
        guard number == start + step else { return }
        for round in 0..<3 { _ = try? holder.publish(Data([UInt8(round)])) }
      }
      #expect(try reader.openNewest().standing == .current, "step \(step)")
      if faulty.callCount < start + step { break }
    }
  }

  /// A process of its own saves until it kills itself at a call, and logs what it was told is durable.
  ///
  /// Meanwhile this process asks for the slot.
  @Test func `a holder killed at any call is the only one until then, and leaves what it acknowledged`() async throws {
    let path = NSTemporaryDirectory() + "one-writer-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Self.archives(path).publish(Data("0".utf8))
    var refusals = 0
    // Opening, an append with all that a run's first one makes durable, another one, and a whole generation.
    for call in 1...Self.lastCall {
      for file in ["/holder", "/asked"] { try? FileManager.default.removeItem(atPath: path + file) }
      // The holder waits for this process. Meanwhile an exit test blocks the thread that it runs on.
      let end = Task(executorPreference: OwnThreads.shared) { await Self.expectDeath(path, call) }
      // The holder says that it has the slot; a kill before that leaves nothing to wait for.
      try await waitUntil("the holder of call \(call)") { FileManager.default.fileExists(atPath: path + "/holder") }
      let second = try Self.archives(path)
      if let refusal = error({ try second.open() }) {
        let holder = try String(contentsOfFile: path + "/holder", encoding: .utf8)
        #expect(refusal.code == .inUse, "call \(call)")
        refusals += 1
        // Also when it was killed before, or has just taken the slot.
        #expect(refusal.processIdentifier.map { "\($0)" } == holder, "call \(call)")
      }
      try Data().write(to: URL(filePath: path + "/asked"))
      await end.value
      try second.open()
      let log = try? String(contentsOfFile: path + "/log", encoding: .utf8)
      let opened = try second.openNewest()
      let last = try #require(Int(String(decoding: opened.frames.last ?? opened.readAll(), as: UTF8.self)))
      #expect(last >= log.flatMap { Int($0) } ?? 0 && opened.standing == .current, "call \(call)")
      second.close()
    }
    #expect(refusals > 20)
    #expect(FileManager.default.fileExists(atPath: path + "/log"))
  }

  /// So many calls the holder makes at least, before it has made each kind of save.
  private static let lastCall = 60

  /// Runs a holder that saves and dies before a call.
  private static func expectDeath(_ path: String, _ call: Int) async {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, call = call as Int] in
      let disk = FaultyFileSystem(LinuxFileSystem())
      let identifier = Data("\(getpid())".utf8)
      disk.onCall { number, operation in
        guard number == call else { return }
        try? identifier.write(to: URL(filePath: path + "/holder"), options: .atomic)
        // Until somebody has asked for the slot while this one is in the middle of something.
        for _ in 0..<60_000 where !FileManager.default.fileExists(atPath: path + "/asked") {
          usleep(1_000)
        }
        kill(getpid(), SIGKILL)
      }
      let store = try Self.archives(path, disk)
      try store.open()
      let opened = try store.openNewest()
      var newest = opened.generation
      let first = try Int(String(decoding: opened.frames.last ?? opened.readAll(), as: UTF8.self))! + 1
      for number in first... {
        let content = Data("\(number)".utf8)
        var receipt: PublishReceipt?
        if number % 3 != 0 { receipt = try store.append(content, to: newest) }
        if receipt == nil { receipt = try store.publish(content) }
        newest = receipt!.generation
        try content.write(to: URL(filePath: path + "/log"))
      }
    }
  }

  @Test func `another process is told which process has the slot`() async throws {
    let path = NSTemporaryDirectory() + "one-writer-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: path) }
    let holder = try Self.archives(path)
    try holder.publish(Data("mine".utf8))
    await #expect(processExitsWith: .success) { [path = path as String, holder = getpid() as Int32] in
      let second = try Self.archives(path)
      do {
        try second.open()
        exit(1)
      } catch let error as ProtectionError {
        guard error.code == .inUse, error.processIdentifier == holder else { exit(2) }
      }
      guard try second.openNewest().readAll() == Data("mine".utf8) else { exit(3) }
    }
  }

  @Test func `a writer whose slot was moved away saves nothing over another one's`() throws {
    let holder = try rig.archives(memory)
    let newest = try holder.publish(first).generation
    memory.move(fromPath: rig.path(), toPath: "/moved")
    let second = try rig.archives(memory)
    try second.open()
    let calls: [() throws -> Void] = [
      { try holder.publish(first) }, { try holder.append(first, to: newest) }, { try holder.deleteAll() },
    ]
    for call in calls { #expect(error(call)?.code == .inUse) }
    try second.publish(StoreScenario.second)
    second.close()
    // When the other one is done, it takes the slot again and goes on from there.
    #expect(try holder.append(first, to: newest) == nil)
    try holder.publish(StoreScenario.third)
    #expect(try holder.openPredecessor().readAll() == StoreScenario.second)
  }

  /// What may become of a file that a writer has open.
  enum Removal: CaseIterable { case cutShort, removed, replaced, slotRemoved }

  @Test(arguments: Removal.allCases) func `nothing is appended where nobody finds it`(_ removal: Removal) throws {
    let store = try rig.archives(memory)
    let newest = try store.publish(first).generation
    #expect(try store.append(StoreScenario.frames[0], to: newest)?.durability == .durable)
    let path = rig.path() + "/g-\(newest.rawValue)"
    let content = try #require(memory.content(atPath: path))
    switch removal {
    case .cutShort: memory.plant(Array(content[..<100]), atPath: path)
    case .removed: memory.remove(atPath: path)
    case .replaced:
      memory.remove(atPath: path)
      memory.plant(content, atPath: path)
    case .slotRemoved: memory.remove(atPath: rig.path())
    }
    #expect(try store.append(first, to: newest) == nil)
    let receipt = try store.publish(StoreScenario.third)
    #expect(receipt.durability == .durable && receipt.isRemade == (removal == .slotRemoved))
    #expect(try rig.observe(memory).content == StoreScenario.third)
  }

  /// Between a fork and the child's `exec` the child has copies of all descriptors.
  @Test func `a slot that is let go is free, whatever copies of its descriptors there are`() throws {
    let path = NSTemporaryDirectory() + "one-writer-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: path) }
    let first = try Self.archives(path)
    try first.open()
    let own = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }.filter {
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
      return target?.hasPrefix(path + "/archives/") == true
    }
    let copies = own.map { dup($0) }
    defer { for copy in copies { close(copy) } }
    #expect(copies.count == 1 && copies.allSatisfy { $0 >= 0 })
    first.close()
    try Self.archives(path).open()
  }

  private static func archives(_ path: String, _ disk: any FileSystem = LinuxFileSystem()) throws -> ArchiveStore {
    let root = OwnedDescriptor(disk, try disk.openDirectory(atPath: path))
    return try StoreDirectory(disk, in: root, keys: ToyKeys(), sealer: ToySealing())
      .archives(for: ArchiveSlot(application: "one"), protection: .complete)
  }
}
