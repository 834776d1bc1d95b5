import DataProtection
import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Testing

/// The list of a directory of protected files is what decides whether a file exists: it is never guessed.
@Suite struct FileListTests {
  let world = TestWorld()

  /// The path of the store in which the list and the contents are.
  func store() throws -> String {
    let root = TestWorld.path + "/files"
    return "\(root)/\(try #require(world.memory.names(atPath: root).first))/archives"
  }

  /// The paths of all generations in the store.
  func generations() throws -> [String] {
    let place = try store()
    return world.memory.names(atPath: place).flatMap { slot in
      world.memory.names(atPath: "\(place)/\(slot)").filter { $0.hasPrefix("g-") }.map { "\(place)/\(slot)/\($0)" }
    }
  }

  /// Damages the newest list: it is the only slot that every change writes.
  func damageNewestList(_ damage: (String) -> Void) throws {
    let newest = try generations().max { left, right in
      func number(_ path: String) -> Int { Int(path.split(separator: "-").last!)! }
      return number(left) < number(right)
    }
    damage(try #require(newest))
  }

  @Test(arguments: [false, true])
  func `an older list never passes for the newest one, and deletes nothing`(isRemoved: Bool) async throws {
    do {
      let files = try await world.open().files()
      try files.create("one", contents: Data([1])).close()
      try files.create("two", contents: Data([2])).close()
    }
    try damageNewestList { path in
      if isRemoved {
        world.memory.remove(atPath: path)
      } else {
        var bytes = world.memory.content(atPath: path) ?? []
        bytes[bytes.count - 1] ^= 1
        world.memory.plant(bytes, atPath: path)
      }
    }
    let expected: ProtectionError.Code = isRemoved ? .missing : .corrupt
    let contents = try world.memory.names(atPath: store()).count
    let device = try await world.open()
    let files = try device.files()
    // "two" is not in the older list; that must not look like a file that was never there.
    #expect(await code { _ = try files.read("two") } == expected)
    #expect(await code { _ = try files.list() } == expected)
    #expect(await code { try files.write(Data([3]), to: "two") } == expected)
    #expect(await code { try files.create("three") } == expected)
    #expect(await code { try files.delete("one") } == expected)
    #expect(try world.memory.names(atPath: store()).count == contents)

    try files.adoptOlderList()
    #expect(try files.read("one") == Data([1]))
    #expect(await code { _ = try files.read("two") } == .notFound)
    try files.create("three", contents: Data([3])).close()
    #expect(try await world.open().files().list().map(\.name) == ["one", "three"])
  }

  /// The slot of the list, by how often it has been saved.
  private func list(savedTimes count: Int) throws -> String {
    let place = try store()
    let slot = world.memory.names(atPath: place).first { slot in
      world.memory.content(atPath: "\(place)/\(slot)/g-\(count)") != nil
    }
    return "\(place)/\(try #require(slot))"
  }

  @Test func `an old list put back deletes nothing, and says so until the right one is back`() async throws {
    do {
      let files = try await world.open().files()
      for name in ["one", "two", "three"] { try files.create(name, contents: Data(name.utf8)).close() }
    }
    let path = try list(savedTimes: 4)
    let old = try #require(world.memory.content(atPath: path + "/ledger"))
    let predecessor = try #require(world.memory.content(atPath: path + "/g-4"))
    try await world.open().files().create("four", contents: Data("four".utf8)).close()
    let newest = try #require(world.memory.content(atPath: path + "/ledger"))
    #expect(world.memory.content(atPath: path + "/g-4") == predecessor)
    world.memory.plant(old, atPath: path + "/ledger")

    let files = try await world.open().files()
    for _ in 0..<2 {
      #expect(await code { _ = try files.read("four") } == .rolledBack)
      #expect(await code { _ = try files.list() } == .rolledBack)
      #expect(await code { try files.create("five") } == .rolledBack)
      _ = try await world.open().files()
    }
    world.memory.plant(newest, atPath: path + "/ledger")
    for files in [files, try await world.open().files()] {
      #expect(try files.read("four") == Data("four".utf8))
      #expect(try files.list().count == 4)
    }
    // Or the program goes on from the old one: what that does not name is deleted.
    world.memory.plant(old, atPath: path + "/ledger")
    let again = try await world.open().files()
    let contents = try world.memory.names(atPath: store()).count
    try again.adoptOlderList()
    #expect(try again.list().map(\.name) == ["one", "three", "two"])
    #expect(try world.memory.names(atPath: store()).count == contents - 1)
    #expect(try await world.open().files().list().count == 3)
  }

  enum Change: CaseIterable { case create, delete, setProtection }

  /// Killed, or cut off from power, at any call; then opened, and everything is as before or after, with nothing left over.
  @Test(arguments: Change.allCases)
  func `a change that was cut short leaves no content without a name`(_ change: Change) async throws {
    let start = TestWorld()
    try await start.open().files().create("old", contents: Data("old".utf8)).close()
    func perform(_ files: ProtectedFiles) throws {
      switch change {
      case .create: try files.create("new", contents: Data("new".utf8)).close()
      case .delete: try files.delete("old")
      case .setProtection: try files.setProtection(.none, of: "old")
      }
    }
    let trial = TestWorld(memory: start.memory.afterProcessDeath())
    let files = try await trial.open().files()
    let before = trial.memory.callCount
    try perform(files)
    for point in trial.memory.cutPoints(after: before) {
      let cut = TestWorld(memory: start.memory.afterProcessDeath())
      let files = try await cut.open().files()
      cut.memory.cutPower(afterCall: cut.memory.callCount + point)
      try? perform(files)
      let policies = cut.memory.powerCutPolicies.map(Optional.some) + [nil]
      for policy in policies {
        let next = TestWorld(
          memory: policy.map { cut.memory.afterPowerCut($0) } ?? cut.memory.afterProcessDeath())
        let found = try await next.open().files().list()
        let root = TestWorld.path + "/files"
        let place = "\(root)/\(try #require(next.memory.names(atPath: root).first))/archives"
        let slots = next.memory.names(atPath: place).filter { $0.utf8.count == 32 }
        #expect(slots.count == found.count + 1, "cut after \(point), \(String(describing: policy))")
        let marked = slots.filter { next.memory.names(atPath: "\(place)/\($0)").contains("unnamed") }
        #expect(marked.isEmpty, "cut after \(point), \(String(describing: policy))")
      }
    }
  }

  @Test func `adopting does nothing while the newest list is there`() async throws {
    let files = try await world.open().files()
    try files.adoptOlderList()
    try files.create("one").close()
    try files.create("two").close()
    try files.adoptOlderList()
    #expect(try files.list().map(\.name) == ["one", "two"])
  }

  @Test func `without list and ledger the contents are missed, not swept`() async throws {
    do {
      let files = try await world.open().files()
      try files.create("one", contents: Data([1])).close()
    }
    let place = try store()
    // The list's slot has been saved twice, the content's once.
    let list = try #require(
      world.memory.names(atPath: place).first { slot in
        world.memory.content(atPath: "\(place)/\(slot)/g-2") != nil
      })
    for name in ["g-1", "g-2", "ledger"] { world.memory.remove(atPath: "\(place)/\(list)/\(name)") }
    world.memory.remove(atPath: place.replacing("/archives", with: "/slots"))
    let left = try generations()
    let files = try await world.open().files()
    #expect(await code { _ = try files.list() } == .missing)
    #expect(await code { try files.create("two") } == .missing)
    #expect(try generations() == left)
  }

  @Test(arguments: [true, false])
  func `a list of slots that calls the index new deletes no content`(isIndexGone: Bool) async throws {
    let list = Log<[UInt8]>()
    do {
      let files = try await world.open().files()
      // A first file that is given up leaves the list as it is during the first save.
      let place = try store().replacing("/archives", with: "/slots")
      let (faulty, memory) = (FaultyFileSystem(world.memory), world.memory)
      faulty.onCall { _, _ in
        if let bytes = memory.content(atPath: place), bytes != list.all.last { list.append(bytes) }
      }
      try await world.open(through: faulty).files().create("one", contents: Data([1])).close()
      faulty.onCall(nil)
      try files.create("two", contents: Data([2])).close()
    }
    let place = try store()
    #expect(list.all.count == 2)
    world.memory.plant(list.all[0], atPath: place.replacing("/archives", with: "/slots"))
    let index = try #require(
      world.memory.names(atPath: place).first { world.memory.content(atPath: "\(place)/\($0)/g-3") != nil })
    world.memory.remove(atPath: "\(place)/\(index)" + (isIndexGone ? "" : "/ledger"))
    let left = try generations()
    let files = try await world.open().files()
    if isIndexGone {
      #expect(await code { _ = try files.list() } == .missing)
      #expect(await code { try files.create("three") } == .missing)
      _ = try await world.open().files()
    } else {
      #expect(try files.list().map(\.name) == ["one", "two"])
    }
    #expect(try generations() == left)
  }

  @Test func `a handle doesn't write to a file that was deleted or changed its class`() async throws {
    let device = try await world.open()
    let files = try device.files()
    let handle = try files.create("one", contents: Data([1]))
    try files.setProtection(.none, of: "one")
    #expect(await code { try handle.write(Data([2])) } == .superseded)
    #expect(try files.read("one") == Data([1]))
    let second = try files.open("one")
    try files.rename("one", to: "two")
    try second.write(Data([3]))
    #expect(try files.read("two") == Data([3]))
    try files.delete("two")
    #expect(await code { try second.write(Data([4])) } == .superseded)
    #expect(try await world.open().files().list().isEmpty)
  }

  @Test func `a write that meets a change of class at any step is never lost`() async throws {
    try await TestWorld.interrupt { other in
      try other.create("x", contents: Data("old".utf8)).close()
    } with: { other in
      // Where the writer holds the lock this is busy, and changes nothing.
      try? other.setProtection(.none, of: "x")
    } _: { (files, other, step) async throws in
      try files.write(Data("new".utf8), to: "x")
      #expect(try other.read("x") == Data("new".utf8), "step \(step)")
    }
  }

  @Test func `a name stays whatever fails when a directory is first made`() async throws {
    let trial = TestWorld()
    let counting = FaultyFileSystem(trial.memory)
    let device = try await trial.open(through: counting)
    let start = counting.callCount
    try device.files().create("x", contents: Data([1])).close()
    for step in 1...counting.callCount - start {
      let world = TestWorld()
      let faulty = FaultyFileSystem(world.memory)
      let device = try await world.open(through: faulty)
      faulty.fail(call: faulty.callCount + step, .error(.inputOutput))
      _ = try? device.files().create("x", contents: Data([1]))
      // The next try is acknowledged, so that it must survive a power cut.
      let next = TestWorld(memory: world.memory.afterProcessDeath())
      try await next.open().files().write(Data([2]), to: "x")
      let after = TestWorld(memory: next.memory.afterPowerCut(.dropAll))
      let found = try? await after.open().files().read("x")
      #expect(
        found == Data([2]),
        "step \(step) of \(trial.memory.callCount): \(after.memory.names(atPath: TestWorld.path)) \(world.memory.calls.suffix(4))"
      )
    }
  }

  @Test func `a name stays wherever a program is killed when a directory is first made`() async throws {
    let trial = TestWorld()
    let device = try await trial.open()
    try device.files().create("x", contents: Data([1])).close()
    for step in 0...trial.memory.callCount {
      let world = TestWorld()
      world.memory.cutPower(afterCall: step)
      _ = try? await world.open().files().create("x", contents: Data([1]))
      // Killed, not cut off from power: what it did is there, durable or not.
      let next = TestWorld(memory: world.memory.afterProcessDeath())
      try await next.open().files().write(Data([2]), to: "x")
      let after = TestWorld(memory: next.memory.afterPowerCut(.dropAll))
      let found = try? await after.open().files().read("x")
      #expect(
        found == Data([2]),
        "step \(step) of \(trial.memory.callCount): \(after.memory.names(atPath: TestWorld.path)) \(world.memory.calls.suffix(4))"
      )
    }
  }
}
