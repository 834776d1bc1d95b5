import FaultyFileSystem
import FileSystem
import Foundation
import Testing

@testable import DataProtection

/// The store with the real sealing code, on real and on simulated disks.
@Suite struct RealSealingTests {
  let keys: TestClassKeys
  let sealer: FileSealer
  let slot = ArchiveSlot(application: "com.example.notes")
  let base = Data((0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
  let frames = (0..<6).map { Data("frame \($0)".utf8) + Data(repeating: 5, count: $0 * 100) }

  init() throws {
    keys = try TestClassKeys()
    sealer = FileSealer(keys: keys)
  }

  private func store(
    _ fileSystem: any FileSystem, at path: String = "/", _ protection: ProtectionClass = .complete
  ) throws(ProtectionError) -> ArchiveStore {
    let root = try attempt("open the root") { () throws(FileSystemError) in
      try fileSystem.openDirectory(atPath: path)
    }
    defer { fileSystem.close(root) }
    return try StoreDirectory.open(fileSystem, in: root, keys: ToyKeys(), sealer: sealer)
      .archives(for: slot, protection: protection)
  }

  /// A directory on the real disk, and its removal.
  private func onDisk(_ body: (String) throws -> Void) throws {
    let path = NSTemporaryDirectory() + "store-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
  }

  @Test func `saving, appending, saving while locked and changing the class work on a real disk`() throws {
    try onDisk { path in
      let disk = LinuxFileSystem()
      let first = try store(disk, at: path)
      try first.publish(base)
      for frame in frames { try first.append(frame) }
      let second = try store(disk, at: path)
      let opened = try second.openNewest()
      #expect(try opened.readAll() == base && opened.frames == frames && opened.standing == .current)
      keys.lock()
      #expect(throws: ProtectionError.self) { try opened.read(0..<1) }
      try second.publishPending(Data("away".utf8), kind: .whole)
      keys.unlock()
      let third = try store(disk, at: path)
      let pending = try #require(try third.openPending().archives.first)
      #expect(pending.isBaseUnchanged)
      try third.promotePending(pending)
      #expect(try third.openNewest().readAll() == Data("away".utf8))
      try third.publish(base)
      try third.setProtection(.none)
      keys.lock()
      #expect(try store(disk, at: path, .none).openNewest().readAll() == base)
      #expect(throws: ProtectionError.self) { try store(disk, at: path).openNewest() }
      let names = try FileManager.default.contentsOfDirectory(atPath: path + "/archives")
      #expect(names.count == 3, "\(names)")
      for name in names {
        let mode = try FileManager.default.attributesOfItem(atPath: path + "/archives/" + name)[.posixPermissions]
        #expect(mode as? Int == 0o600, "\(name)")
      }
    }
  }

  @Test func `after a lock and an unlock, appending goes on in a new journal`() throws {
    let memory = MemoryFileSystem()
    let saving = try store(memory)
    try saving.publish(base)
    try saving.append(frames[0])
    keys.lock()
    #expect(throws: ProtectionError.self) { try saving.append(frames[1]) }
    keys.unlock()
    try saving.append(frames[1])
    keys.lock()
    keys.unlock()
    try saving.append(frames[2])
    #expect(try store(memory.afterPowerCut(.dropAll)).openNewest().frames == Array(frames.prefix(3)))
  }

  @Test func `one node's bytes cost the chunks that hold them and no more`() throws {
    let memory = MemoryFileSystem()
    try store(memory).publish(base)
    let opened = try store(memory).openNewest()
    let before = opened.chunksOpened
    #expect(try opened.read(20_000..<20_300) == base[20_000..<20_300])
    #expect(opened.chunksOpened - before == 1)
  }

  /// Appends twice and compacts; returns how far it came for sure.
  private func appendAndCompact(_ memory: MemoryFileSystem) -> Int {
    var reached = 0
    do {
      let archives = try store(memory)
      _ = try archives.openNewest()
      if try archives.append(frames[1]).durability == .durable { reached = 1 }
      if try archives.append(frames[2]).durability == .durable { reached = 2 }
      archives.freezeJournal()
      if try archives.publish(frames[3]).durability == .durable { reached = 3 }
    } catch {
      // The power is gone.
    }
    return reached
  }

  @Test func `a power cut anywhere leaves the old or the new state, whole, with real keys`() throws {
    let start = MemoryFileSystem()
    let first = try store(start)
    try first.publish(base)
    try first.append(frames[0])
    let settled = start.afterPowerCut(.dropAll)
    let whole = settled.afterPowerCut(.dropAll)
    #expect(appendAndCompact(whole) == 3)
    for call in whole.cutPoints(after: 0) {
      let memory = settled.afterPowerCut(.dropAll)
      memory.cutPower(afterCall: call)
      let reached = appendAndCompact(memory)
      for policy in memory.powerCutPolicies {
        let opened = try store(memory.afterPowerCut(policy)).openNewest()
        #expect(opened.standing == .current)
        let content = try opened.readAll()
        let state = content == frames[3] ? 3 : try opened.frames.count - 1
        if state < 3 { #expect(try content == base && opened.frames == Array(frames[...state])) }
        #expect(state >= reached, "cut after \(call), \(policy)")
        for bytes in memory.afterPowerCut(policy).allContents {
          #expect(Data(bytes).range(of: Data("frame ".utf8)) == nil, "plaintext on the disk")
        }
      }
    }
  }

  @Test(arguments: [0o000, 0o077, 0o777])
  func `the umask changes nothing`(_ mask: Int) async throws {
    let path = NSTemporaryDirectory() + "store-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: path) }
    await #expect(processExitsWith: .success) { [path = path as String, mask = mask as Int] in
      umask(mode_t(mask))
      try RealSealingTests().saveTwice(path)
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: path + "/archives")
    #expect(names.count == 4)
    for name in names {
      let mode = try FileManager.default.attributesOfItem(atPath: path + "/archives/" + name)[.posixPermissions]
      #expect(mode as? Int == 0o600, "\(name)")
    }
    let mode = try FileManager.default.attributesOfItem(atPath: path + "/archives")[.posixPermissions]
    #expect(mode as? Int == 0o700)
  }

  private func saveTwice(_ path: String) throws {
    let archives = try store(LinuxFileSystem(), at: path)
    try archives.publish(base)
    try archives.publish(base)
  }

  @Test func `a note is on the disk at once, in a turn of restoring and after it`() throws {
    try onDisk { path in
      let disk = LinuxFileSystem()
      let mine = try store(disk, at: path)
      try mine.publish(base)
      let others = try store(disk, at: path)
      let seen = try others.openNewest()
      var attempt: RestorationAttempt? = try mine.beginAttempt(for: mine.openNewest())
      func expectNote(_ node: UInt32, _ meaning: InterruptedAttempt.Meaning) throws {
        let found = try others.interruptedAttempt(for: seen)
        #expect(found?.node == node && found?.meaning == meaning)
      }
      attempt?.note(node: 1)
      try expectNote(1, .livePeer)
      attempt?.beginTurn()
      try expectNote(1, .livePeer)
      for node in 2...200 as ClosedRange<UInt32> {
        attempt?.note(node: node)
        try expectNote(node, .livePeer)
      }
      attempt?.endTurn()
      attempt?.note(node: 201)
      try expectNote(201, .livePeer)
      attempt?.beginTurn()
      attempt?.note(node: 202)
      attempt = nil
      try expectNote(202, .died)
    }
  }

  @Test func `a real directory of somebody else's, one open to the group, and a link are refused`() throws {
    try onDisk { path in
      let store = path + "/archives"
      try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: false)
      for mode in [0o770, 0o707, 0o701] {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: store)
        #expect(throws: ProtectionError.self) { try self.store(LinuxFileSystem(), at: path) }
      }
      try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: store)
      if geteuid() == 0 {
        #expect(unsafe chown(store, 4711, 4711) == 0)
        #expect(throws: ProtectionError.self) { try self.store(LinuxFileSystem(), at: path) }
        #expect(unsafe chown(store, 0, 0) == 0)
      }
      try self.store(LinuxFileSystem(), at: path).publish(base)
      try FileManager.default.moveItem(atPath: store, toPath: path + "/moved")
      try FileManager.default.createSymbolicLink(atPath: store, withDestinationPath: path + "/moved")
      #expect(throws: ProtectionError.self) { try self.store(LinuxFileSystem(), at: path) }
    }
  }

  @Test(arguments: ["link", "hard link", "FIFO", "foreign owner"])
  func `something else in a real archive's place is not read, and saving goes on`(_ kind: String) throws {
    try onDisk { path in
      let archives = try store(LinuxFileSystem(), at: path)
      try archives.publish(base)
      let folder = path + "/archives/"
      let name = try #require(
        try FileManager.default.contentsOfDirectory(atPath: folder).first { $0.hasSuffix(".archive") })
      switch kind {
      case "link":
        try FileManager.default.moveItem(atPath: folder + name, toPath: path + "/away")
        try FileManager.default.createSymbolicLink(atPath: folder + name, withDestinationPath: path + "/away")
      case "hard link": try FileManager.default.linkItem(atPath: folder + name, toPath: path + "/second")
      case "FIFO":
        try FileManager.default.removeItem(atPath: folder + name)
        #expect(unsafe mkfifo(folder + name, 0o600) == 0)
      default:
        guard geteuid() == 0 else { return }
        #expect(unsafe chown(folder + name, 4711, 4711) == 0)
      }
      do throws(ProtectionError) {
        _ = try archives.openNewest()
        Issue.record("opened")
      } catch {
        #expect(error.code == .corrupt)
      }
      try archives.publish(frames[0])
      #expect(try archives.openNewest().readAll() == frames[0])
    }
  }

  @Test func `two processes that save at once lose nothing that was acknowledged last`() async throws {
    let path = NSTemporaryDirectory() + "store-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: path) }
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<2 {
        group.addTask {
          await #expect(processExitsWith: .success) { [path = path as String] in
            try SharedCounter(path).raise(40)
          }
        }
      }
    }
    let counter = try SharedCounter(path)
    let opened = try counter.archives.openNewest()
    #expect(opened.standing == .current)
    #expect(try counter.value(opened) == 80)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: path + "/archives").filter { $0.hasPrefix("tmp-") }.isEmpty)
  }
}
