import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Synchronization
import Testing

@testable import DataProtection

/// Something is in the place of every name that a device is about to use: it loses nothing, and nothing stops it.
@Suite struct PlantedNamesTests {
  let slot = ArchiveSlot(application: "a", scene: "main")
  let other = ArchiveSlot(application: "a", scene: "other")

  /// What is put there.
  enum Obstacle: CaseIterable {
    case directory, link, fifo, file
  }

  /// A device with an archive of two generations and a protected file, after the end of its program.
  private func prepared() async throws -> TestWorld {
    var world = TestWorld()
    let device = try await world.open()
    let store = try device.archives(for: slot)
    for content in ["1", "2"] { try store.publish(Data(content.utf8)) }
    try device.files(in: "drafts").create("x", contents: Data("x".utf8), protection: .complete).close()
    store.close()
    world.memory = world.memory.afterProcessDeath()
    return world
  }

  /// A run that uses every kind of name; throws what a device throws.
  private func run(_ world: TestWorld, through fileSystem: (any FileSystem)? = nil) async throws {
    let device = try await world.open(through: fileSystem)
    let store = try device.archives(for: slot)
    let newest = try store.openNewest()
    let attempt = try store.beginAttempt(at: newest)
    attempt.note(node: 1)
    attempt.end()
    let next = try store.publish(Data("3".utf8))
    #expect(next.durability == .durable)
    #expect(try store.append(Data("change".utf8), to: next.generation)?.durability == .durable)
    let second = try device.archives(for: other)
    #expect(try second.publish(Data("first".utf8)).durability == .durable)
    try second.deleteAll()
    #expect(try second.publish(Data("again".utf8)).durability == .durable)
    let files = try device.files(in: "drafts")
    try files.create("y", contents: Data("y".utf8), protection: .complete).close()
    try files.delete("x")
    try device.files(in: "letters").create("z", contents: Data("z".utf8), protection: .complete).close()
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    try await device.changePasscode(from: ProtectedDevice.Passcode("1234"), to: ProtectedDevice.Passcode("5678"))
    #expect(try store.publish(Data("4".utf8)).durability == .durable)
    for store in [store, second] { store.close() }
  }

  private func expectAll(_ world: TestWorld) async throws {
    let device = try await world.open()
    try await device.unlock(passcode: ProtectedDevice.Passcode("5678"))
    for (slot, content) in [(slot, "4"), (other, "again")] {
      let found = try device.archives(for: slot).openNewest()
      #expect(try found.readAll() == Data(content.utf8) && found.standing == .current)
    }
    #expect(try device.files(in: "drafts").list().map(\.name) == ["y"])
    #expect(try device.files(in: "drafts").read("y") == Data("y".utf8))
    #expect(try device.files(in: "letters").read("z") == Data("z".utf8))
    let store = try device.archives(for: slot)
    #expect(try store.publish(Data("5".utf8)).durability == .durable)
  }

  private func plant(_ obstacle: Obstacle, at path: String, _ memory: MemoryFileSystem) {
    if memory.status(atPath: path) != nil { memory.remove(atPath: path) }
    switch obstacle {
    case .directory:
      memory.plant(.directory, atPath: path)
      memory.plant([1], atPath: path + "/inside")
    case .link: memory.plantSymbolicLink(to: "/nowhere", atPath: path)
    case .fifo: memory.plant(.other, atPath: path)
    case .file: memory.plant([1, 2, 3], atPath: path)
    }
  }

  /// The names that a run makes, and that are the same in every run: nobody can plant a random one.
  private func madeNames(_ world: TestWorld) async throws -> Set<String> {
    var found: Set<String>?
    for _ in 0..<2 {
      var trial = world
      trial.memory = world.memory.afterProcessDeath()
      let recorder = NameRecorder(trial.memory)
      try await run(trial, through: recorder)
      found = found.map { $0.intersection(recorder.made) } ?? recorder.made
    }
    return found ?? []
  }

  private static let locks = ["lock", "alone"]

  /// A lock can't be replaced while somebody may have it: the passcode can't be changed then, and nothing else is lost.
  @Test(arguments: [Obstacle.directory, .link], locks)
  func `what stands in a lock's place keeps the passcode from being changed, and nothing else`(
    _ obstacle: Obstacle, _ lock: String
  ) async throws {
    let world = try await prepared()
    let device = try await world.open()
    plant(obstacle, at: "\(TestWorld.path)/\(lock)", world.memory)
    let again = try await world.open()
    let refusal: ProtectionError.Code = lock == "alone" ? .io : .busy
    for _ in 0..<2 { #expect(await code { try await again.setPasscode(ProtectedDevice.Passcode("1234")) } == refusal) }
    // Both keep their own locks over that: nobody gets the device alone.
    world.memory.remove(atPath: "\(TestWorld.path)/\(lock)\(obstacle == .directory ? "/inside" : "")")
    if obstacle == .directory { world.memory.remove(atPath: "\(TestWorld.path)/\(lock)") }
    #expect(await code { try await device.setPasscode(ProtectedDevice.Passcode("1234")) } == .busy)
    let store = try device.archives(for: slot)
    #expect(try store.publish(Data("3".utf8)).durability == .durable)
    store.close()
    #expect(try await world.open().archives(for: slot).openNewest().readAll() == Data("3".utf8))
    plant(obstacle, at: "\(TestWorld.path)/\(lock)", world.memory)
    try await world.erase()
    #expect(try await world.open().isProtectedDataAvailable)
  }

  @Test(arguments: Obstacle.allCases)
  func `whatever stands in the place of a name, everything is saved and found`(_ obstacle: Obstacle) async throws {
    let world = try await prepared()
    let names = try await madeNames(world)
    // What is there already is not replaced, but for a mark that holds nothing.
    let empty: Set<String> = ["CACHEDIR.TAG"]
    let places = names.filter { path in
      let parent = path.split(separator: "/").dropLast().joined(separator: "/")
      guard world.memory.status(atPath: "/" + parent)?.kind == .directory else { return false }
      if Self.locks.contains(String(path.split(separator: "/").last!)) { return false }
      return world.memory.status(atPath: path) == nil || empty.contains(String(path.split(separator: "/").last!))
    }
    #expect(places.count > 20, "\(places.sorted())")
    for path in places.sorted() {
      var trial = world
      trial.memory = world.memory.afterProcessDeath()
      plant(obstacle, at: path, trial.memory)
      do {
        try await run(trial)
        try await expectAll(trial)
      } catch {
        Issue.record("\(obstacle) at \(path) in \(trial.memory.names(atPath: TestWorld.path)): \(error)")
      }
    }
  }
}

/// Notes the paths of everything that is made, or about to be.
private final class NameRecorder: WrappingFileSystem {
  let base: any FileSystem
  private let state = Mutex(State())

  private struct State {
    var paths: [Int32: String] = [:]
    var made: Set<String> = []
  }

  init(_ base: any FileSystem) { self.base = base }

  var made: Set<String> { state.withLock { $0.made } }

  private func path(_ name: String, in directory: Descriptor) -> String {
    state.withLock { "\($0.paths[directory.rawValue] ?? "")/\(name)" }
  }

  private func note(_ path: String) { _ = state.withLock { $0.made.insert(path) } }

  func openDirectory(atPath path: String) throws(FileSystemError) -> Descriptor {
    let descriptor = try base.openDirectory(atPath: path)
    state.withLock { $0.paths[descriptor.rawValue] = path == "/" ? "" : path }
    return descriptor
  }

  func openDirectory(_ name: String, in directory: Descriptor) throws(FileSystemError) -> Descriptor {
    let descriptor = try base.openDirectory(name, in: directory)
    let path = path(name, in: directory)
    state.withLock { $0.paths[descriptor.rawValue] = path }
    return descriptor
  }

  func makeDirectory(_ name: String, in directory: Descriptor, mode: UInt32) throws(FileSystemError) {
    note(path(name, in: directory))
    try base.makeDirectory(name, in: directory, mode: mode)
  }

  func openFile(_ name: String, in directory: Descriptor, _ options: OpenOptions) throws(FileSystemError) -> Descriptor
  {
    if options.contains(.create) || options.contains(.write) { note(path(name, in: directory)) }
    return try base.openFile(name, in: directory, options)
  }

  func rename(_ name: String, to newName: String, in directory: Descriptor, replacing: Bool) throws(FileSystemError) {
    note(path(newName, in: directory))
    try base.rename(name, to: newName, in: directory, replacing: replacing)
  }
}
