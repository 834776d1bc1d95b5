import FaultyFileSystem
import FileSystem
import Foundation
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

  @Test func `a killed holder leaves the slot free, whatever it was doing`() throws {
    let path = NSTemporaryDirectory() + "one-writer-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: path) }
    let disk = LinuxFileSystem()
    func archives() throws -> ArchiveStore {
      let root = OpenDirectory(disk, try disk.openDirectory(atPath: path))
      return try StoreDirectory.open(disk, in: root, keys: rig.keys, sealer: rig.sealing)
        .archives(for: rig.slot, protection: .complete)
    }
    try archives().publish(Data("0".utf8))
    var last = 0
    for round in 0..<20 {
      var pipes: [Int32] = [0, 0]
      #expect(unsafe pipe(&pipes) == 0)
      let child = try #require(forkProcess() as Int32?)
      if child == 0 {
        // Saves until it is killed, and says each time when it is durable.
        guard let store = try? archives(), var newest = try? store.openNewest().generation else { _exit(1) }
        for number in (last + 1)... {
          let content = Data("\(number)".utf8)
          if number % 3 == 0 || (try? store.append(content, to: newest)) == nil {
            guard let receipt = try? store.publish(content) else { _exit(2) }
            newest = receipt.generation
          }
          var value = Int32(number)
          unsafe withUnsafeBytes(of: &value) { _ = unsafe write(pipes[1], $0.baseAddress, 4) }
        }
      }
      close(pipes[1])
      var acknowledged: Int32 = 0
      for _ in 0...(round % 7) { unsafe withUnsafeMutableBytes(of: &acknowledged) { _ = unsafe read(pipes[0], $0.baseAddress, 4) } }
      #expect(error { try archives().open() }?.processIdentifier == child)
      kill(child, SIGKILL)
      var status: Int32 = 0
      unsafe waitpid(child, &status, 0)
      while unsafe withUnsafeMutableBytes(of: &acknowledged, { unsafe read(pipes[0], $0.baseAddress, 4) }) == 4 {}
      close(pipes[0])
      let next = try archives()
      try next.open()
      let opened = try next.openNewest()
      let text = try opened.frames.last ?? opened.readAll()
      last = try #require(Int(String(decoding: text, as: UTF8.self)))
      #expect(last >= Int(acknowledged) && opened.standing == .current)
    }
  }
}
