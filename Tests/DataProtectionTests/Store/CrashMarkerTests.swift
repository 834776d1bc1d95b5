import FaultyFileSystem
import FileSystem
import Foundation
import Synchronization
import TestTraits
import Testing

@testable import DataProtection

/// Whether another process waits for this one to let a file go.
private let isWaitedFor = Atomic(false)

/// What the next run learns of an attempt at restoring.
@Suite(.tags(.threads)) struct CrashMarkerTests {
  let rig = StoreRig()
  let memory = MemoryFileSystem()

  private func saved() throws { try rig.archives(memory).publish(StoreScenario.first) }

  /// One run: looks, begins, notes nodes, and ends or dies.
  private func run(
    _ rig: StoreRig? = nil, notes: [UInt32?] = [], isRequest: Bool = false, ends: Bool = false
  ) throws -> CrashMarker.Record? {
    let store = try (rig ?? self.rig).archives(memory)
    let opened = try store.openNewest()
    let before = try store.attempts(at: opened)
    let attempt = try store.beginAttempt(at: opened, isRequest: isRequest)
    for note in notes { attempt.note(node: note) }
    if ends { attempt.end() }
    return before
  }

  @Test func `a death counts with its node, until an attempt ends well`() throws {
    try saved()
    #expect(try run(notes: [3, 7]) == nil)
    let first = try #require(try run(notes: [nil]))
    #expect(first.deaths == 1 && first.node == 7)
    let second = try #require(try run(ends: true))
    #expect(second.deaths == 2 && second.node == CrashMarker.noNode)
    let third = try #require(try run())
    #expect(third.deaths == 0 && third.node == CrashMarker.noNode)
  }

  @Test func `a note after the end marks the generation once more`() throws {
    try saved()
    let store = try rig.archives(memory)
    let attempt = try store.beginAttempt(at: try store.openNewest())
    attempt.note(node: 1)
    attempt.end()
    attempt.note(node: 9)
    store.close()
    let record = try #require(try run())
    #expect(record.deaths == 1 && record.node == 9)
  }

  @Test func `a restart of the machine is nobody's fault the first time`() throws {
    try saved()
    _ = try run(notes: [3])
    let first = try #require(try run(rig.booted(2), notes: [4]))
    #expect(first.deaths == 0 && first.node == CrashMarker.noNode)
    let second = try #require(try run(rig.booted(3)))
    #expect(second.deaths == 1 && second.node == 4)
  }

  @Test func `a request's death is one bit, and counts no death`() throws {
    try saved()
    _ = try run(notes: [5], isRequest: true)
    let first = try #require(try run(notes: [6], isRequest: true))
    #expect(first.requestDied && first.deaths == 0 && first.node == 5)
    let second = try #require(try run(isRequest: true, ends: true))
    #expect(second.requestDied && second.node == 6)
    #expect(try run()?.requestDied == false)
  }

  @Test func `each generation has its own count, and changes appended to it keep it`() throws {
    try saved()
    _ = try run(notes: [1])
    do {
      let store = try rig.archives(memory)
      let opened = try store.openNewest()
      try store.append(Data("frame".utf8), to: opened.generation)
      #expect(try store.attempts(at: store.openNewest())?.deaths == 1)
      try store.publish(StoreScenario.second)
      #expect(try store.attempts(at: store.openNewest()) == nil)
      #expect(try store.attempts(at: store.openPredecessor())?.deaths == 1)
    }
    _ = try run(notes: [2])
    let store = try rig.archives(memory)
    #expect(try store.attempts(at: store.openPredecessor())?.node == 1)
    #expect(try store.attempts(at: store.openNewest())?.node == 2)
  }

  @Test func `an attempt of the same run that was not ended counts no death`() throws {
    try saved()
    let store = try rig.archives(memory)
    let opened = try store.openNewest()
    let first = try store.beginAttempt(at: opened)
    first.note(node: 1)
    #expect(try store.attempts(at: opened)?.deaths == 0)
    let second = try store.beginAttempt(at: opened)
    second.end()
    store.close()
    #expect(try run()?.deaths == 0)
  }

  @Test func `a damaged marker is corrupt, counts as none, and is replaced`() throws {
    try saved()
    _ = try run(notes: [1])
    memory.plant([1, 2, 3], atPath: rig.path() + "/marker")
    let store = try rig.archives(memory)
    let opened = try store.openNewest()
    #expect(try errorCode { try store.attempts(at: opened) } == .corrupt)
    try store.beginAttempt(at: opened).note(node: 2)
    store.close()
    #expect(try run()?.node == 2)
  }

  @Test func `no sync is waited for between opening and the end`() throws {
    try saved()
    let store = try rig.archives(memory)
    let start = memory.callCount
    try store.open()
    let opened = try store.openNewest()
    _ = try opened.readAll()
    _ = try store.openPending()
    _ = try store.attempts(at: opened)
    let calls = memory.calls[start...].map(\.operation)
    let attempt = try store.beginAttempt(at: opened)
    attempt.note(node: 1)
    attempt.end()
    #expect(!calls.contains(.synchronize) && !calls.contains(.synchronizeData))
    // The marker's own two, for its begin and its end, which run beside on a real disk.
    #expect(memory.calls[(start + calls.count)...].map(\.operation).count { $0 == .synchronizeData } == 2)
    #expect(calls.count { $0 == .lock } == 1)
    #expect(calls.count <= 24, "\(calls)")
  }

  @Test func `an attempt that ends soon syncs nothing, and one that lasts has its end synced too`() throws {
    try saved()
    let disk = CountingFileSystem(memory, isPostponing: true)
    func attempt() throws -> RestorationAttempt {
      let store = try rig.archives(disk)
      return try store.beginAttempt(at: try store.openNewest())
    }
    try attempt().end()
    disk.runPostponed()
    #expect(disk.counts.syncs == 0)
    let long = try attempt()
    disk.runPostponed()
    #expect(disk.counts.syncs == 1)
    long.end()
    #expect(disk.counts.syncs == 2)
    // A death that is forgotten is forgotten on the disk.
    try attempt().note(node: 1)
    try attempt().end()
    #expect(disk.counts.syncs == 3)
  }

  @Test func `on a real disk each run learns how the one before has ended`() throws {
    let path = NSTemporaryDirectory() + "marker-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: path) }
    func store() throws -> ArchiveStore {
      let disk = LinuxFileSystem()
      let root = OwnedDescriptor(disk, try disk.openDirectory(atPath: path))
      return try StoreDirectory(disk, in: root, keys: rig.keys, sealer: rig.sealing)
        .archives(for: rig.slot, protection: rig.protection)
    }
    try store().publish(StoreScenario.first)
    for number in 0..<4 {
      let store = try store()
      try store.open()
      let opened = try store.openNewest()
      let record = try store.attempts(at: opened)
      #expect(record?.deaths ?? 0 == number && record?.node == (number == 0 ? nil : UInt32(number)))
      try store.beginAttempt(at: opened).note(node: UInt32(number + 1))
      store.close()
    }
  }

  @Test func `a marker that another process cuts short during an attempt ends nothing`() async throws {
    await #expect(processExitsWith: .success) {
      let path = NSTemporaryDirectory() + "marker-\(UUID().uuidString)"
      defer { try? FileManager.default.removeItem(atPath: path) }
      let device = try await ProtectedDevice.open(
        at: .directory(path), environment: DeviceEnvironment(scrypt: .test))
      let archives = try device.archives(for: ArchiveSlot(application: "a"))
      try archives.publish(StoreScenario.first)
      let opened = try archives.openNewest()
      // As the second run finds it, the file is as long as it gets.
      try archives.beginAttempt(at: opened).end()
      let attempt = try archives.beginAttempt(at: opened)
      let names = try FileManager.default.contentsOfDirectory(atPath: path + "/archives")
      let slot = try #require(names.first { $0.count == 32 })
      // The kernel tells who keeps others waiting.
      isWaitedFor.store(false, ordering: .relaxed)
      _ = signal(SIGURG) { _ in isWaitedFor.store(true, ordering: .relaxed) }
      let other = Process()
      other.executableURL = URL(fileURLWithPath: "/bin/sh")
      other.arguments = ["-c", ": > \"$1\"", "sh", path + "/archives/\(slot)/marker"]
      try other.run()
      while other.isRunning, !isWaitedFor.load(ordering: .relaxed) { await Task.yield() }
      for node: UInt32 in 0..<100 { attempt.note(node: node) }
      attempt.end()
      other.waitUntilExit()
      try #require(archives.openNewest().readAll() == StoreScenario.first)
    }
  }

  @Test func `on a real disk a note is no call until the attempt ends`() throws {
    let path = NSTemporaryDirectory() + "marker-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: path) }
    let disk = CountingFileSystem(LinuxFileSystem())
    let root = OwnedDescriptor(disk, try disk.openDirectory(atPath: path))
    guard try disk.volumeKind(of: root.descriptor) == .overwriting else { return }
    let store = try StoreDirectory(disk, in: root, keys: rig.keys, sealer: rig.sealing)
      .archives(for: rig.slot, protection: rig.protection)
    try store.publish(StoreScenario.first)
    let opened = try store.openNewest()
    for mappings in 1...3 {
      // The second and third begin while the one before goes on.
      let attempt = try store.beginAttempt(at: opened)
      let before = disk.counts[.write]
      for node: UInt32 in 0..<100 { attempt.note(node: node) }
      #expect(disk.counts[.write] == before && disk.counts.mappings == mappings)
      if mappings == 3 {
        attempt.end()
        attempt.note(node: 1)
        #expect(disk.counts[.write] == before + 1)
      }
    }
  }

  @Test func `whatever fails, the next run finds the state and no death that was none`() throws {
    try saved()
    let trial = memory.afterProcessDeath()
    func attempt(_ fileSystem: any FileSystem) throws {
      let store = try rig.archives(fileSystem)
      let attempt = try store.beginAttempt(at: try store.openNewest())
      attempt.note(node: 4)
      attempt.end()
    }
    try attempt(trial)
    for call in 1...trial.callCount {
      let disk = memory.afterProcessDeath()
      let faulty = FaultyFileSystem(disk)
      faulty.fail(call: call, .error(.inputOutput))
      _ = try? attempt(faulty)
      for next in [disk.afterProcessDeath()] + disk.powerCutPolicies.map({ disk.afterPowerCut($0) }) {
        let store = try rig.archives(next)
        let opened = try store.openNewest()
        #expect(try opened.readAll() == StoreScenario.first)
        let record = try? store.attempts(at: opened)
        #expect((record?.deaths ?? 0) <= 1)
      }
    }
  }
}
