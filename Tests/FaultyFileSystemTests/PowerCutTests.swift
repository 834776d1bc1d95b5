import FaultyFileSystem
import FileSystem
import Testing

/// What a power cut leaves, as `Docs/Durability.md` assumes it.
@Suite struct PowerCutTests {
  let memory = MemoryFileSystem()

  private func root() throws -> Descriptor { try memory.openDirectory(atPath: "/") }

  private func write(_ bytes: [UInt8], to file: Descriptor, at offset: Int64 = 0) throws {
    try unsafe memory.writeAll(file, bytes.span.bytes, at: offset)
  }

  /// A durable file, open.
  private func durableFile(_ bytes: [UInt8]) throws -> Descriptor {
    let root = try root()
    let file = try memory.openFile("a", in: root, [.write, .create])
    try write(bytes, to: file)
    try memory.synchronize(file)
    try memory.synchronize(root)
    return file
  }

  @Test func `without syncs nothing stays but what another process sees`() throws {
    let file = try memory.openFile("a", in: root(), [.write, .create])
    try write([1], to: file)
    #expect(memory.afterProcessDeath().content(atPath: "/a") == [1])
    #expect(memory.afterPowerCut(.dropAll).names(atPath: "/") == [])
  }

  @Test func `a synced file without a synced name is gone, and a synced name without content is empty`() throws {
    let file = try memory.openFile("a", in: root(), [.write, .create])
    try write([1], to: file)
    try memory.synchronize(file)
    #expect(memory.afterPowerCut(.dropAll).names(atPath: "/") == [])
    let other = try memory.openFile("b", in: root(), [.write, .create])
    try write([2], to: other)
    try memory.synchronize(root())
    let after = memory.afterPowerCut(.dropAll)
    #expect(after.content(atPath: "/a") == [1])
    #expect(after.content(atPath: "/b") == [])
  }

  @Test func `unsynced changes survive in any subset, and torn`() throws {
    let file = try durableFile([0, 0, 0, 0])
    try write([1], to: file, at: 0)
    try write([2], to: file, at: 1)
    try write([3, 3], to: file, at: 2)
    let found = try memory.powerCutPolicies.map { policy in
      try #require(memory.afterPowerCut(policy).content(atPath: "/a"))
    }
    let expected: Set<[UInt8]> = [
      [0, 0, 0, 0], [1, 0, 0, 0], [1, 2, 0, 0], [1, 2, 3, 3], [0, 2, 3, 3], [1, 0, 3, 3], [1, 2, 3, 0],
      [0, 2, 0, 0], [0, 0, 3, 3],
    ]
    #expect(Set(found) == expected)
    #expect(found.count == expected.count, "no outcome is tried twice")
    try memory.synchronizeData(file)
    #expect(memory.powerCutPolicies == [.dropAll])
    #expect(memory.afterPowerCut(.dropAll).content(atPath: "/a") == [1, 2, 3, 3])
  }

  @Test func `a mask names the unsynced changes that are lost`() throws {
    let file = try durableFile([0, 0, 0])
    for index in 0..<3 { try write([UInt8(index + 1)], to: file, at: Int64(index)) }
    func content(losing mask: UInt64) -> [UInt8]? { memory.afterPowerCut(.lose(mask: mask)).content(atPath: "/a") }
    #expect(content(losing: 0) == [1, 2, 3])
    #expect(content(losing: 0b101) == [0, 2, 0])
    #expect(content(losing: .max) == [0, 0, 0])
  }

  @Test func `a write of several pages may survive in part`() throws {
    let file = try durableFile([])
    try write([UInt8](repeating: 7, count: 10_000), to: file)
    let lengths = Set(memory.powerCutPolicies.map { memory.afterPowerCut($0).content(atPath: "/a")?.count ?? -1 })
    #expect(lengths.isSuperset(of: [0, 4096, 8192, 10_000]))
  }

  @Test func `a rename is one step: the old or the new, never neither`() throws {
    _ = try durableFile([1])
    let root = try root()
    let new = try memory.openFile("tmp", in: root, [.write, .create])
    try write([2], to: new)
    try memory.synchronize(new)
    try memory.synchronize(root)
    try memory.rename("tmp", to: "a", in: root, replacing: true)
    for policy in memory.powerCutPolicies {
      let after = memory.afterPowerCut(policy)
      let isNew = after.content(atPath: "/a") == [2]
      #expect(isNew || after.content(atPath: "/a") == [1])
      #expect(after.names(atPath: "/") == (isNew ? ["a"] : ["a", "tmp"]))
    }
  }

  @Test func `after a failed sync what it was for never becomes durable, whatever later syncs report`() throws {
    let file = try durableFile([0])
    let faulty = FaultyFileSystem(memory)
    try write([1], to: file)
    faulty.fail(call: 1, .error(.inputOutput))
    #expect(throws: FileSystemError.self) { try faulty.synchronize(file) }
    try faulty.synchronize(file)
    #expect(memory.afterProcessDeath().content(atPath: "/a") == [1])
    #expect(memory.afterPowerCut(.dropAll).content(atPath: "/a") == [0])
    try write([2], to: file)
    try faulty.synchronize(file)
    #expect(memory.afterPowerCut(.dropAll).content(atPath: "/a") == [2])
  }

  @Test func `after the cut every call fails and changes nothing`() throws {
    let file = try durableFile([1])
    memory.cutPower(afterCall: memory.callCount + 1)
    #expect(!memory.isPowerCut)
    try write([2], to: file)
    #expect(memory.isPowerCut)
    #expect(throws: FileSystemError.self) { try write([3], to: file) }
    #expect(throws: FileSystemError.self) { try memory.synchronize(file) }
    #expect(memory.content(atPath: "/a") == [2])
    #expect(memory.afterPowerCut(.dropAll).content(atPath: "/a") == [1])
  }

  /// The images that a power cut may leave, as far as names and contents go.
  private func images(_ memory: MemoryFileSystem) -> [String] {
    memory.powerCutPolicies.map { policy in
      let disk = memory.afterPowerCut(policy)
      let files = disk.names(atPath: "/").map { "\($0) \(disk.content(atPath: "/\($0)") ?? [])" }
      return "\(policy): \(files)"
    }
  }

  @Test func `cut points leave out only the calls after which a power cut finds what it found before`() throws {
    let start = memory.afterProcessDeath()
    /// Replaces a file, looking about before, meanwhile and afterwards.
    func replace(_ memory: MemoryFileSystem) throws {
      let root = try memory.openDirectory(atPath: "/")
      _ = try memory.names(in: root)
      let file = try memory.openFile("new", in: root, [.write, .create])
      _ = try memory.status(of: file)
      try unsafe memory.writeAll(file, ([1, 2, 3] as [UInt8]).span.bytes, at: 0)
      try memory.synchronize(file)
      try memory.synchronize(file)
      try memory.rename("new", to: "a", in: root, replacing: true)
      _ = try memory.names(in: root)
      try memory.synchronize(root)
      _ = try memory.names(in: root)
      _ = try memory.status(of: file)
    }
    let trial = start.afterProcessDeath()
    try replace(trial)
    #expect(trial.callCount == 12)
    let cutPoints = trial.cutPoints(after: 0)
    #expect(cutPoints == [0, 3, 5, 6, 8, 10, 11, 12])
    var last: [String]?
    for number in 0...trial.callCount {
      let cut = start.afterProcessDeath()
      cut.cutPower(afterCall: number)
      try? replace(cut)
      let images = images(cut)
      #expect(cutPoints.contains(number) || images == last, "after \(number)")
      last = images
    }
  }

  @Test func `what another program plants is durable at once`() {
    memory.plant([1, 2], atPath: "/planted", mode: 0o644)
    memory.plant(.symbolicLink, atPath: "/link")
    memory.plantLink(from: "/planted", toPath: "/second")
    memory.setOwner(7, atPath: "/planted")
    let after = memory.afterPowerCut(.dropAll)
    #expect(after.names(atPath: "/") == ["link", "planted", "second"])
    #expect(after.status(atPath: "/planted")?.linkCount == 2)
    #expect(after.status(atPath: "/planted")?.owner == 7)
    #expect(after.status(atPath: "/planted")?.mode == 0o644)
    #expect(after.status(atPath: "/link")?.kind == .symbolicLink)
  }

  @Test func `somebody else's files can't be opened unless one is root`() throws {
    memory.plant([1], atPath: "/a")
    memory.setOwner(7, atPath: "/a")
    #expect(throws: FileSystemError(.accessDenied, .openFile, name: "a")) {
      _ = try memory.openFile("a", in: root(), [])
    }
    let superuser = MemoryFileSystem(user: 0)
    superuser.plant([1], atPath: "/a")
    superuser.setOwner(7, atPath: "/a")
    _ = try superuser.openFile("a", in: superuser.openDirectory(atPath: "/"), [])
  }
}
