import DataProtection
import FaultyFileSystem
import FileSystem
import FoundationEssentials
import TestTraits
import Testing

@Suite(.tags(.threads)) struct ProtectedFilesTests {
  @Test func `a file that is deleted or changes its class at any step of a listing is no error`() async throws {
    for isDeleted in [true, false] {
      try await TestWorld.interrupt { other in
        for name in ["x", "y"] { try other.create(name).close() }
      } with: { other in
        if isDeleted { try? other.delete("x") } else { try? other.setProtection(.none, of: "x") }
      } _: { (files, _, step) async throws in
        let found = try files.list().map(\.name)
        #expect(found == ["x", "y"] || (isDeleted && found == ["y"]), "step \(step)")
      }
    }
  }

  let world = TestWorld()

  @Test func `files come back in a new process, by name`() async throws {
    let files = try await world.open().files(in: "drafts")
    try files.create("a", contents: Data("one".utf8))
    try files.write(Data("two".utf8), to: "b")
    try files.write(Data("three".utf8), to: "a")
    let again = try await world.open().files(in: "drafts")
    #expect(try again.list().map(\.name) == ["a", "b"])
    #expect(try again.read("a") == Data("three".utf8))
    #expect(try again.read("b") == Data("two".utf8))
    #expect(try await world.open().files(in: "other").list().isEmpty)
  }

  @Test func `no name and no content is readable on the disk`() async throws {
    let marker = "a very recognisable marker"
    let files = try await world.open().files(in: marker)
    for protection in ProtectionClass.allCases {
      try files.create("\(marker) \(protection)", contents: Data(marker.utf8), protection: protection)
    }
    for content in world.memory.allContents {
      #expect(!String(decoding: content, as: UTF8.self).contains(marker))
    }
  }

  @Test(arguments: [false, true])
  func `a lock frees what was written through a handle of a complete file`(isReplaced: Bool) async throws {
    let device = try await world.open()
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    let isFreed = SharedFlag()
    func contents() -> Data {
      let buffer = UnsafeMutableRawPointer.allocate(byteCount: 6000, alignment: 16)
      unsafe buffer.initializeMemory(as: UInt8.self, repeating: 65, count: 6000)
      return unsafe Data(
        bytesNoCopy: buffer, count: 6000,
        deallocator: .custom { pointer, _ in
          isFreed.set()
          unsafe pointer.deallocate()
        })
    }
    func handle(in files: ProtectedFiles) throws -> ProtectedFiles.Handle {
      guard isReplaced else { return try files.create("letter", contents: contents(), protection: .complete) }
      let handle = try files.create("letter", protection: .complete)
      try handle.write(contents())
      return handle
    }
    let written = try handle(in: device.files())
    #expect(try written.byteCount == 6000 && written.read(1..<3) == Data([65, 65]))
    device.lock(gracePeriod: .zero)
    #expect(await code { _ = try written.read(0..<3) } == .locked)
    #expect(isFreed.isSet)
  }

  @Test(arguments: ["", String(repeating: "x", count: 1025)])
  func `names that are empty or too long are refused`(_ name: String) async throws {
    let files = try await world.open().files()
    #expect(await code { try files.create(name) } == .invalidArgument)
    #expect(await code { try files.write(Data(), to: name) } == .invalidArgument)
  }

  @Test(arguments: ["../../etc/passwd", "/", ".", "a\0b", "\n", "é", "\u{1F600}", String(repeating: "y", count: 1024)])
  func `any other name is just a name`(_ name: String) async throws {
    let files = try await world.open().files(in: name)
    try files.create(name, contents: Data([1]))
    #expect(try files.list().map(\.name) == [name])
    #expect(try files.read(name) == Data([1]))
  }

  @Test func `names with other bytes are other files and directories, whatever Swift calls equal`() async throws {
    let names = ["\u{E9}", "e\u{301}"]
    try #require(names[0] == names[1])
    let device = try await world.open()
    for (number, name) in names.enumerated() {
      let files = try device.files(in: name)
      #expect(try files.list().isEmpty)
      try files.create(names[0], contents: Data([UInt8(number), 0]))
      try files.create(names[1], contents: Data([UInt8(number), 1]))
      #expect(await code { try files.rename(names[0], to: names[1]) } == .alreadyExists)
    }
    // The same in a process that opens them in another order.
    let again = try await world.open()
    for (number, name) in names.enumerated().reversed() {
      let files = try again.files(in: name)
      #expect(try files.list().map { Array($0.name.utf8) } == names.map { Array($0.utf8) }.sorted { $0[0] < $1[0] })
      #expect(try files.read(names[0]) == Data([UInt8(number), 0]))
      #expect(try files.read(names[1]) == Data([UInt8(number), 1]))
    }
  }

  @Test func `a directory that was emptied is missing until it is begun anew`() async throws {
    try await world.open().files().create("x", contents: Data([1]))
    let root = TestWorld.path + "/files"
    let archives = "\(root)/\(try #require(world.memory.names(atPath: root).first))/archives"
    for name in world.memory.names(atPath: archives) where name != "lock" {
      world.memory.remove(atPath: "\(archives)/\(name)")
    }
    let files = try await world.open().files()
    #expect(await code { _ = try files.list() } == .missing)
    #expect(await code { try files.create("y") } == .missing)
    try files.adoptOlderList()
    #expect(try files.list().isEmpty)
    try files.create("y", contents: Data([2]))
    #expect(try await world.open().files().read("y") == Data([2]))
  }

  @Test func `missing files, taken names and closed handles have outcomes of their own`() async throws {
    let files = try await world.open().files()
    #expect(await code { _ = try files.read("x") } == .notFound)
    #expect(await code { try files.delete("x") } == .notFound)
    #expect(await code { try files.rename("x", to: "y") } == .notFound)
    #expect(await code { try files.setProtection(.none, of: "x") } == .notFound)
    let handle = try files.create("x", contents: Data("abc".utf8))
    #expect(await code { try files.create("x") } == .alreadyExists)
    try files.create("y")
    #expect(await code { try files.rename("x", to: "y") } == .alreadyExists)
    #expect(await code { _ = try handle.read(2..<4) } == .invalidArgument)
    handle.close()
    #expect(await code { _ = try handle.readAll() } == .invalidHandle)
    #expect(await code { try handle.write(Data()) } == .invalidHandle)
  }

  @Test func `a range of a large file opens only the chunks that hold it`() async throws {
    let files = try await world.open().files()
    let bytes = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try files.create("large", contents: bytes).close()
    let handle = try files.open("large")
    #expect(try handle.byteCount == bytes.count)
    for range in [0..<1, 16_383..<16_385, 999_999..<1_000_000, 400_000..<440_000, 5..<5] {
      #expect(try handle.read(range) == bytes[range])
    }
    #expect(try files.attributes(of: "large").byteCount == bytes.count)
  }

  @Test func `a change of class keeps name, content and date, and leaves nothing of the old`() async throws {
    let files = try await world.open().files()
    try files.create("x", contents: Data("abc".utf8), protection: ProtectionClass.none)
    let old = try files.attributes(of: "x")
    let names = Set(contentNames)
    try files.setProtection(.complete, of: "x")
    let new = try files.attributes(of: "x")
    #expect(new.protection == .complete)
    #expect(new.creationDate == old.creationDate)
    #expect(try files.read("x") == Data("abc".utf8))
    // The index went on by one generation, the content is another: two of three names are new at least.
    #expect(contentNames.count <= names.count + 1)
  }

  /// The sealed files of the only directory.
  var contentNames: [String] {
    let root = TestWorld.path + "/files"
    guard let place = world.memory.names(atPath: root).first else { return [] }
    let archives = "\(root)/\(place)/archives"
    return world.memory.names(atPath: archives).flatMap { slot in
      world.memory.names(atPath: "\(archives)/\(slot)").filter { $0.hasPrefix("g-") }.map { "\(slot)/\($0)" }
    }
  }

  @Test func `new files take the directory's default class`() async throws {
    let files = try await world.open().files()
    #expect(try files.defaultProtection == .complete)
    try files.setDefaultProtection(.completeUnlessOpen)
    try files.create("x")
    try files.write(Data(), to: "y")
    #expect(try files.list().map(\.protection) == [.completeUnlessOpen, .completeUnlessOpen])
    #expect(try await world.open().files().defaultProtection == .completeUnlessOpen)
  }

  @Test func `the backup mark is set and taken away, and archives always have it`() async throws {
    let device = try await world.open()
    let files = try device.files()
    #expect(try !files.isExcludedFromBackup)
    try files.setExcludedFromBackup(true)
    #expect(try files.isExcludedFromBackup)
    let root = TestWorld.path + "/files"
    let place = try #require(world.memory.names(atPath: root).first)
    let tag = try #require(world.memory.content(atPath: "\(root)/\(place)/CACHEDIR.TAG"))
    #expect(String(decoding: tag, as: UTF8.self).hasPrefix("Signature: 8a477f597d28d172789f06886806bc55"))
    try files.setExcludedFromBackup(false)
    #expect(try !files.isExcludedFromBackup)
    _ = try device.archives(for: ArchiveSlot(application: "a"))
    #expect(world.memory.content(atPath: TestWorld.path + "/archives/CACHEDIR.TAG") != nil)
  }

  @Test func `a list that was removed or damaged is never taken for an empty directory`() async throws {
    let files = try await world.open().files()
    try files.create("x", contents: Data("abc".utf8))
    let root = TestWorld.path + "/files"
    let place = try #require(world.memory.names(atPath: root).first)
    for name in contentNames { world.memory.remove(atPath: "\(root)/\(place)/archives/\(name)") }
    let again = try await world.open().files()
    #expect(await code { _ = try again.list() } == .missing)
    #expect(await code { try again.create("x") } == .missing)
  }

  @Test func `a deleted file can still be read through a handle`() async throws {
    let files = try await world.open().files()
    try files.create("x", contents: Data("abc".utf8)).close()
    let handle = try files.open("x")
    try files.delete("x")
    #expect(try handle.readAll() == Data("abc".utf8))
    #expect(await code { _ = try files.open("x") } == .notFound)
  }

  @Test func `two programs creating files don't lose each other's`() async throws {
    let (one, two) = (try await world.open(), try await world.open())
    let (first, second) = (try one.files(), try two.files())
    for number in 0..<10 {
      try first.create("first \(number)")
      try second.create("second \(number)")
    }
    #expect(try first.list().count == 20)
    #expect(try second.list() == first.list())
  }
}
