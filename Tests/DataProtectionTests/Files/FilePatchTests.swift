import DataProtection
import FaultyFileSystem
import FileSystem
import FoundationEssentials
import SeededRandom
import TestTraits
import Testing

/// Appending to protected files and changing a range of them, without writing them anew.
@Suite(.tags(.threads)) struct FilePatchTests {
  let world = TestWorld()

  private func bytes(_ count: Int, from seed: UInt8 = 1) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) &+ seed })
  }

  /// The generations of the contents of the only directory, newest last by number.
  private var generations: [String] {
    let root = TestWorld.path + "/files"
    guard let place = world.memory.names(atPath: root).first else { return [] }
    let archives = "\(root)/\(place)/archives"
    return world.memory.names(atPath: archives).flatMap { slot in
      world.memory.names(atPath: "\(archives)/\(slot)").filter { $0.hasPrefix("g-") }.map {
        "\(archives)/\(slot)/\($0)"
      }
    }.sorted()
  }

  @Test func `what is appended or changed is there in every handle that is opened later`() async throws {
    let files = try await world.open().files()
    try files.create("x", contents: Data("0123456789".utf8)).close()
    try files.append(Data("abc".utf8), to: "x")
    try files.write(Data("XY".utf8), at: 3, to: "x")
    try files.write(Data("Z!".utf8), at: 13, to: "x")
    let expected = Data("012XY56789abcZ!".utf8)
    #expect(try files.read("x") == expected)
    #expect(try files.attributes(of: "x").byteCount == expected.count)
    let again = try await world.open().files()
    #expect(try again.read("x") == expected)
    #expect(try again.list().map(\.byteCount) == [expected.count])
    let handle = try again.open("x")
    #expect(try handle.read(2..<5) == Data("2XY".utf8) && handle.read(9..<14) == Data("9abcZ".utf8))
    #expect(try handle.read(15..<15).isEmpty)
    #expect(await code { _ = try handle.read(15..<16) } == .invalidArgument)
  }

  @Test func `appending makes a file, and changing a range needs one`() async throws {
    let files = try await world.open().files()
    try files.append(Data("a".utf8), to: "log")
    try files.append(Data("b".utf8), to: "log")
    #expect(try files.read("log") == Data("ab".utf8))
    #expect(await code { try files.write(Data("c".utf8), at: 0, to: "none") } == .notFound)
    #expect(await code { try files.write(Data("c".utf8), at: 3, to: "log") } == .invalidArgument)
    #expect(await code { try files.write(Data("c".utf8), at: -1, to: "log") } == .invalidArgument)
    #expect(try files.read("log") == Data("ab".utf8))
  }

  @Test func `a change of a large file writes the change and no more`() async throws {
    let files = try await world.open().files()
    let large = bytes(1 << 20)
    let handle = try files.create("large", contents: large)
    let before = generations
    let sizes = { generations.compactMap { world.memory.content(atPath: $0)?.count }.reduce(0, +) }
    let size = sizes()
    for number in 0..<100 { try handle.append(bytes(100, from: UInt8(number))) }
    try handle.write(bytes(300), at: 500_000)
    #expect(generations == before, "no generation was written anew")
    #expect(sizes() - size < 64 << 10)
    var expected = large + (0..<100).reduce(Data()) { $0 + bytes(100, from: UInt8($1)) }
    expected.replaceSubrange(500_000..<500_300, with: bytes(300))
    #expect(try handle.read(0..<expected.count) == expected)
    #expect(try await world.open().files().read("large") == expected)
  }

  @Test func `appending through one handle syncs once and reads nothing back`() async throws {
    let faulty = FaultyFileSystem(world.memory)
    let files = try await world.open(through: faulty).files()
    let handle = try files.create("log", contents: bytes(200_000))
    try handle.append(bytes(10))
    let calls = faulty.callCount
    try handle.append(bytes(10))
    let perAppend = faulty.callCount - calls
    for _ in 0..<50 { try handle.append(bytes(10)) }
    #expect(faulty.callCount - calls <= 51 * perAppend + 8, "the cost doesn't grow with what was appended before")
    #expect(perAppend < 60)
  }

  @Test(arguments: 0..<12)
  func `any order of changes, handles and restarts gives what a plain file would have`(seed: Int) async throws {
    var random = SplitMix64(seed: UInt64(seed))
    let protection = ProtectionClass.allCases[seed % ProtectionClass.allCases.count]
    var files = try await world.open().files()
    var model = bytes(Int.random(in: 0...40_000, using: &random))
    var handles = [try files.create("x", contents: model, protection: protection)]
    for step in 0..<60 {
      let piece = bytes(Int.random(in: 0...3_000, using: &random), from: UInt8(step))
      let handle = handles.randomElement(using: &random)!
      switch Int.random(in: 0..<9, using: &random) {
      case 0, 1, 2:
        try handle.append(piece)
        model += piece
      case 3, 4, 5:
        let offset = Int.random(in: 0...model.count, using: &random)
        try handle.write(piece, at: offset)
        model.replaceSubrange(offset..<min(model.count, offset + piece.count), with: piece)
      case 6: handles.append(try files.open("x"))
      case 7:
        // Another process, which dies some time.
        files = try await world.open().files()
        if Bool.random(using: &random) { handles = [] }
        handles.append(try files.open("x"))
      default:
        try handle.write(piece)
        model = piece
      }
      #expect(try files.read("x") == model, "seed \(seed), step \(step)")
      #expect(try files.attributes(of: "x").byteCount == model.count, "seed \(seed), step \(step)")
      if model.count > 10 {
        let range = model.count / 3..<model.count / 2
        #expect(try files.open("x").read(range) == model[range])
      }
    }
  }

  @Test func `two programs that append in turn lose nothing of each other`() async throws {
    let handles = [
      try (try await world.open()).files().create("log", contents: bytes(30_000)),
      try (try await world.open()).files().open("log"),
    ]
    var expected = bytes(30_000)
    for number in 0..<40 {
      let piece = bytes(200, from: UInt8(number))
      try handles[(number / 3) % 2].append(piece)
      expected += piece
    }
    #expect(try await world.open().files().read("log") == expected)
    #expect(try handles[1].read(0..<handles[1].byteCount) == expected)
  }

  @Test func `a torn change leaves the content before it, and the next one follows that`() async throws {
    let start = Data("content".utf8)
    for cut in [1, 4, 20, 70] {
      let world = TestWorld()
      let files = try await world.open().files()
      let handle = try files.create("x", contents: start)
      try handle.append(Data(" one".utf8))
      let one = world.memory.afterProcessDeath()
      try handle.append(Data(" two".utf8))
      // The file as it is after the second append, with the last bytes of that not written.
      let path = try #require(
        FilePatchTests.paths(world.memory).max { left, right in
          FilePatchTests.written(world.memory, left) < FilePatchTests.written(world.memory, right)
        })
      let whole = try #require(world.memory.content(atPath: path))
      let torn = TestWorld(memory: one)
      var content = whole
      let end = whole.lastIndex { $0 != 0 }! + 1
      for index in end - cut..<content.count { content[index] = 0 }
      torn.memory.plant(content, atPath: path)
      let again = try await torn.open().files()
      #expect(try again.read("x") == Data("content one".utf8), "\(cut) bytes are missing")
      try again.append(Data(" three".utf8), to: "x")
      #expect(try again.read("x") == Data("content one three".utf8))
      #expect(try await torn.open().files().read("x") == Data("content one three".utf8))
    }
  }

  private static func paths(_ memory: MemoryFileSystem) -> [String] {
    let root = TestWorld.path + "/files"
    guard let place = memory.names(atPath: root).first else { return [] }
    let archives = "\(root)/\(place)/archives"
    return memory.names(atPath: archives).flatMap { slot in
      memory.names(atPath: "\(archives)/\(slot)").filter { $0.hasPrefix("g-") }.map { "\(archives)/\(slot)/\($0)" }
    }
  }

  private static func written(_ memory: MemoryFileSystem, _ path: String) -> Int {
    memory.content(atPath: path)?.count ?? 0
  }

  @Test func `changes can't be exchanged, left out in the middle, or put behind another file`() async throws {
    let files = try await world.open().files()
    try files.create("x", contents: Data("x".utf8)).append(Data("1".utf8))
    try files.append(Data("2".utf8), to: "x")
    let path = try #require(
      FilePatchTests.paths(world.memory).max {
        FilePatchTests.written(world.memory, $0) < FilePatchTests.written(world.memory, $1)
      })
    let content = try #require(world.memory.content(atPath: path))
    for index in content.indices where content[index] != 0 {
      var damaged = content
      damaged[index] ^= 4
      let next = TestWorld(memory: world.memory.afterProcessDeath())
      next.memory.plant(damaged, atPath: path)
      let files = try await next.open().files()
      do {
        let found = try files.read("x")
        #expect([Data("x".utf8), Data("x1".utf8), Data("x12".utf8)].contains(found), "byte \(index)")
      } catch {
        let damage: [ProtectionError.Code] = [
          .corrupt, .unsupportedVersion, .wrongIdentity, .wrongClass, .otherDevice, .rolledBack,
        ]
        #expect(damage.contains(error.code), "byte \(index): \(error)")
      }
    }
  }

  @Test func `a class change, a first passcode and a restart keep what was appended`() async throws {
    let device = try await world.open()
    let files = try device.files()
    try files.create("x", contents: Data("a".utf8), protection: ProtectionClass.complete)
    try files.append(Data("b".utf8), to: "x")
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    try files.append(Data("c".utf8), to: "x")
    try files.setProtection(.completeUntilFirstUserAuthentication, of: "x")
    try files.append(Data("d".utf8), to: "x")
    #expect(try files.read("x") == Data("abcd".utf8))
    let next = try await world.open()
    try await next.unlock(passcode: ProtectedDevice.Passcode("1234"))
    #expect(try next.files().read("x") == Data("abcd".utf8))
    #expect(try next.files().attributes(of: "x").byteCount == 4)
  }

  @Test func `a completeUnlessOpen file created while locked can be appended to until it is closed`() async throws {
    let device = try await world.open()
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    device.lock(gracePeriod: .zero)
    let files = try device.files()
    let handle = try files.create("draft", contents: Data("a".utf8), protection: .completeUnlessOpen)
    try handle.append(Data("b".utf8))
    try handle.write(Data("A".utf8), at: 0)
    #expect(try handle.read(0..<2) == Data("Ab".utf8))
    #expect(try files.attributes(of: "draft").byteCount == 2)
    handle.close()
    #expect(await code { try files.append(Data("c".utf8), to: "draft") } == .locked)
    try await device.unlock(passcode: ProtectedDevice.Passcode("1234"))
    #expect(try files.read("draft") == Data("Ab".utf8))
  }

  @Test func `a locked complete file is neither appended to nor told the content of`() async throws {
    let device = try await world.open()
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    let files = try device.files()
    let handle = try files.create("x", contents: Data("a".utf8), protection: .complete)
    try handle.append(Data("bc".utf8))
    device.lock(gracePeriod: .zero)
    #expect(await code { try handle.append(Data("d".utf8)) } == .locked)
    #expect(await code { _ = try handle.read(0..<1) } == .locked)
    #expect(await code { try await handle.reopen() } == .locked)
    #expect(try files.attributes(of: "x").byteCount == 3)
    try await device.unlock(passcode: ProtectedDevice.Passcode("1234"))
    #expect(await code { _ = try handle.read(0..<1) } == .locked, "dead until it is opened again")
    try await handle.reopen()
    try handle.append(Data("d".utf8))
    #expect(try handle.read(0..<4) == Data("abcd".utf8))
  }

  @Test func `a suspended handle gives nothing until it is opened again, with the newest content`() async throws {
    let files = try await world.open().files()
    let handle = try files.create("x", contents: Data("a".utf8))
    handle.suspend()
    #expect(await code { _ = try handle.read(0..<1) } == .invalidHandle)
    #expect(await code { try handle.append(Data("b".utf8)) } == .invalidHandle)
    try files.append(Data("b".utf8), to: "x")
    try await handle.reopen()
    #expect(try handle.read(0..<2) == Data("ab".utf8))
    try handle.append(Data("c".utf8))
    #expect(try files.read("x") == Data("abc".utf8))
    handle.suspend()
    handle.close()
    try await handle.reopen()
    #expect(await code { _ = try handle.read(0..<1) } == .invalidHandle, "closed for good")
  }

  @Test func `a handle whose file has gone says so when it is opened again, and when it is appended to`() async throws {
    let files = try await world.open().files()
    for isDeleted in [true, false] {
      let handle = try files.create("x", contents: Data("a".utf8))
      if isDeleted { try files.delete("x") } else { try files.setProtection(.none, of: "x") }
      #expect(await code { try handle.append(Data("b".utf8)) } == .superseded)
      handle.suspend()
      #expect(await code { try await handle.reopen() } == .superseded)
    }
    try files.append(Data("b".utf8), to: "x")
    #expect(try files.read("x") == Data("ab".utf8))
  }
}
