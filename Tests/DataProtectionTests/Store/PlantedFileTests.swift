import FaultyFileSystem
import FileSystem
import Foundation
import Testing

@testable import DataProtection

/// Files, names and directories that somebody without the keys has put into a store.
@Suite struct PlantedFileTests {
  let rig = StoreRig()
  let memory = MemoryFileSystem()

  private func saved(_ generations: Int = 2) throws {
    let store = try rig.archives(memory)
    for number in 1...generations { try store.publish(Data("\(number)".utf8)) }
    store.close()
  }

  private func path(_ name: String) -> String { rig.path() + "/" + name }

  // MARK: Numbers

  @Test(arguments: [true, false])
  func `thousands of planted copies hide nothing and are not kept`(hasLedger: Bool) throws {
    try saved()
    let copied = try #require(memory.content(atPath: path("g-2")))
    for number in 3...3000 { memory.plant(copied, atPath: path("g-\(number)")) }
    if !hasLedger { memory.remove(atPath: path("ledger")) }
    #expect(try rig.observe(memory).content == Data("2".utf8))
    let counting = CountingFileSystem(memory)
    let store = try rig.archives(counting)
    #expect(try store.publish(Data("3".utf8)).durability == .durable)
    #expect(counting.counts.opens < (hasLedger ? 20 : 3100))
    store.close()
    #expect(rig.generations(memory).count < 10)
    #expect(try rig.observe(memory) == .saved(Data("3".utf8), aside: hasLedger ? 0 : Ledger.setAsideLimit))
    #expect(try rig.archives(memory).openPredecessor().readAll() == Data("2".utf8))
  }

  /// Two losses of the ledger, each with files of high numbers beside, and saves after each.
  @Test(arguments: [1 << 20, 1 << 48, 1 << 56, UInt64.max])
  func `the newest authentic generation counts, whatever numbers are planted`(_ limit: UInt64) throws {
    try saved(3)
    for round in 0..<3 {
      memory.remove(atPath: path("ledger"))
      for number in (limit - 1_100)...(limit - 1) { memory.plant([1, 2, 3], atPath: path("g-\(number)")) }
      let newest = Data(round == 0 ? "3".utf8 : "saved \(round - 1), 1".utf8)
      let found = try rig.observe(memory)
      #expect(found.content == newest && found.standing == .rollbackUnverifiable, "round \(round): \(found)")
      let store = try rig.archives(memory)
      for number in 0..<2 {
        #expect(try store.publish(Data("saved \(round), \(number)".utf8)).durability == .durable)
      }
      store.close()
      #expect(try rig.observe(memory).content == Data("saved \(round), 1".utf8))
      #expect(try rig.archives(memory).openPredecessor().readAll() == Data("saved \(round), 0".utf8))
    }
  }

  @Test func `authentic generations are set aside before damaged ones`() throws {
    try saved(2)
    memory.remove(atPath: path("ledger"))
    for number in 3...1_200 { memory.plant([1, 2, 3], atPath: path("g-\(number)")) }
    let store = try rig.archives(memory)
    try store.publish(Data("next".utf8))
    let aside = try store.setAsideRecords().filter { !$0.flags.contains(.damaged) }
    #expect(aside.map(\.generation) == [1])
    #expect(try store.openSetAside(Generation(rawValue: 1)).readAll() == Data("1".utf8))
  }

  @Test func `planted names and numbers neither stop saving nor are counted`() throws {
    try saved()
    for name in ["g-\(UInt64.max)", "g-4611686018427387900", "g-007", "p-99", "g-3", "aside-1", "g--1", "ledger.new"] {
      memory.plant([1, 2, 3], atPath: path(name))
    }
    memory.plant(.directory, atPath: path("g-4"))
    let store = try rig.archives(memory)
    for number in 3...40 {
      #expect(try store.publish(Data("\(number)".utf8)).durability == .durable)
    }
    store.close()
    #expect(try rig.observe(memory) == .saved(Data("40".utf8)))
    #expect(rig.generations(memory).filter { $0.count < 5 }.count <= 3)
    memory.remove(atPath: path("ledger"))
    memory.plant([], atPath: path("g-\(UInt64(1) << 62)"))
    #expect(try rig.observe(memory).content == Data("40".utf8))
    let next = try rig.archives(memory)
    for _ in 0..<20 { #expect(try next.publish(Data("again".utf8)).generation.rawValue < 1 << 49) }
  }

  // MARK: Versions

  @Test(arguments: ["ledger", "/slots", "marker"])
  func `a planted file of a later version stops nothing`(_ name: String) throws {
    let file = name.hasPrefix("/") ? name : path(name)
    for version in [2, 0xFFFF] as [UInt16] {
      try saved()
      let attempted = try rig.archives(memory)
      _ = try attempted.beginAttempt(at: attempted.openNewest())
      attempted.close()
      var bytes = try #require(memory.content(atPath: file))
      bytes[8] = UInt8(truncatingIfNeeded: version)
      bytes[9] = UInt8(version >> 8)
      for planted in [bytes, bytes.prefix(28) + [UInt8](repeating: 7, count: 500)] {
        memory.plant(planted, atPath: file)
        let store = try rig.archives(memory)
        try store.open()
        let opened = try store.openNewest()
        #expect(try opened.readAll() == Data("2".utf8))
        _ = try store.beginAttempt(at: opened)
        try store.publish(Data("1".utf8))
        #expect(try store.publish(Data("2".utf8)).durability == .durable)
        store.close()
        #expect(try rig.observe(memory).standing == .current)
        #expect(try StoreInspection(rig.directory(memory)).listProblem == nil)
      }
    }
  }

  @Test func `without a ledger a planted generation of a later version hides none`() throws {
    try saved()
    memory.remove(atPath: path("ledger"))
    let bytes = try #require(memory.content(atPath: path("g-2")))
    memory.plant([2] + bytes.dropFirst(), atPath: path("g-3"))
    #expect(try rig.observe(memory).content == Data("2".utf8))
    let store = try rig.archives(memory)
    #expect(try store.publish(Data("next".utf8)).durability == .durable)
    // It may be a later program's all the same.
    #expect(try store.setAsideRecords().map(\.generation) == [1, 3])
  }

  // MARK: Slots

  /// More directories than the list takes slots, before the one that counts by their names.
  @Test func `planted directories hide no slot from a check, a rebuilt list or the first passcode`() throws {
    let url = FileManager.default.temporaryDirectory.appending(path: "planted-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: url) }
    let fileSystem = LinuxFileSystem()
    func directory() throws -> StoreDirectory {
      let root = OwnedDescriptor(fileSystem, try fileSystem.openDirectory(atPath: url.path))
      return try StoreDirectory(fileSystem, in: root, keys: rig.keys, sealer: rig.sealing)
    }
    let store = try directory().archives(for: rig.slot, protection: .complete)
    store.keepState()
    let saved = try store.publish(Data("saved".utf8)).generation
    store.close()
    let parent = try fileSystem.openDirectory(atPath: url.path + "/archives")
    defer { fileSystem.close(parent) }
    for number in 0..<(SlotList.entryLimit + 10) {
      let digits = String(number, radix: 16)
      try fileSystem.makeDirectory(String(repeating: "0", count: 32 - digits.count) + digits, in: parent, mode: 0o700)
    }
    #expect(try directory().slotNames().count == SlotList.entryLimit + 11)
    #expect(try directory().resealAll())
    #expect(try store.openNewest().generation > saved)
    try FileManager.default.removeItem(at: url.appending(path: "slots"))
    #expect(try directory().hasSavedSlots())
    try store.publish(Data("again".utf8))
    store.close()
    #expect(try directory().readList().value?.entries.count == 1)
  }
}
