import DataProtection
import FaultyFileSystem
import FileSystem
import Foundation
import SimulatedTime
import Testing
import restore_inspect

/// The tool changes no byte, whatever the device asks to be written.
@MainActor @Suite struct ReadOnlyTests {
  /// A machine that was started anew.
  private struct NextBoot: BootClock {
    let elapsed = Duration.seconds(1)
    let bootIdentifier = [UInt8](repeating: 0xB2, count: 16)
  }

  private func restarted(_ disk: MemoryFileSystem) -> InspectTool {
    let environment = DeviceEnvironment(
      fileSystem: disk, clock: ManualClock(), bootClock: NextBoot(), scrypt: .test, variables: { _ in nil })
    return InspectTool(environment: environment, style: InspectStyle(hasColours: false))
  }

  @Test(arguments: InspectArguments.Verb.allCases)
  func `after a restart of the machine nothing is written without a passcode`(
    verb: InspectArguments.Verb
  ) async throws {
    let state = try await InspectedState(passcode: "1234")
    _ = await state.run("tree", InspectedState.path, passcode: "0000")
    let before = state.contents()
    let result = await restarted(state.disk).run([verb.rawValue, InspectedState.path, "--node", "root"]) { _ in nil }
    #expect(result.code == (verb == .keybag || verb == .list ? .success : .locked), "\(result)")
    #expect(state.contents() == before)
  }

  @Test func `the right passcode changes only the counter, and leaves no other file`() async throws {
    let state = try await InspectedState(passcode: "1234")
    let before = state.contents()
    let result = await state.run("verify", InspectedState.path, passcode: "1234")
    #expect(result.code == .success)
    let after = state.contents()
    #expect(Set(after.keys) == Set(before.keys))
    #expect(after.filter { before[$0.key] != $0.value }.keys.allSatisfy { $0.hasSuffix("/attempts") })
  }

  @Test func `a first passcode's unfinished business is left to the program`() async throws {
    let state = try await InspectedState()
    let device = try await ProtectedDevice.open(
      at: .directory(InspectedState.path), environment: InspectedState.environment(state.disk))
    // Sealing anew is cut short: its first write fails, and the old keys stay in the keybag.
    let archives = state.contents().filter { $0.key.hasPrefix(InspectedState.store) }
    try await device.setPasscode(ProtectedDevice.Passcode("1234"))
    for (path, bytes) in archives { state.disk.plant(bytes, atPath: path) }
    let before = state.contents()
    _ = await state.run("verify", InspectedState.path, passcode: "1234")
    let changed = state.contents().filter { before[$0.key] != $0.value }.keys
    #expect(changed.allSatisfy { $0.hasSuffix("/attempts") })
    #expect(Set(state.contents().keys) == Set(before.keys))
    withExtendedLifetime(device) {}
  }

  @Test func `a deletion that was cut short is nothing preserved, and is left to the program`() async throws {
    var isFound = false
    for call in 1... {
      let state = try await InspectedState()
      let disk = FaultyFileSystem(state.disk)
      let device = try await ProtectedDevice.open(
        at: .directory(InspectedState.path), environment: InspectedState.environment(disk))
      let store = try device.archives(for: ArchiveSlot(application: "main", scene: "main"))
      disk.fail(from: disk.callCount + call, nil, .error(.inputOutput))
      let isDeleted = await Self.delete(store)
      let dead = state.disk.afterProcessDeath()
      let before = InspectedState.contents(of: dead)
      for verb in ["tree", "verify", "diff", "export"] {
        let result = await state.run(verb, InspectedState.path, on: dead)
        #expect(result.code != .unavailable, "\(verb) after call \(call): \(result)")
        // What a deletion left is the next opening's to remove, and no damage.
        if verb == "verify" { #expect(result.code != .damaged, "after call \(call): \(result)") }
        isFound = isFound || (!isDeleted && result.code == .notFound)
      }
      #expect(InspectedState.contents(of: dead) == before, "call \(call)")
      if isDeleted { break }
      withExtendedLifetime(device) {}
    }
    #expect(isFound, "one of the deletions was cut short after it was decided")
  }

  @concurrent private static func delete(_ store: ArchiveStore) async -> Bool {
    do {
      try store.deleteAll()
      return true
    } catch {
      return false
    }
  }

  @Test func `every kind of change is refused, and a draft is seen only by its maker`() throws {
    let base = MemoryFileSystem()
    base.plant(.directory, atPath: "/d")
    base.plant([1, 2, 3], atPath: "/d/file")
    let disk = ReadOnlyFileSystem(base)
    let directory = try disk.openDirectory(atPath: "/d")
    let file = try disk.openFile("file", in: directory, .write)
    func expectRefused(_ body: () throws(FileSystemError) -> Void) {
      let error = #expect(throws: FileSystemError.self) { try body() }
      #expect(error?.code == .readOnlyFileSystem)
    }
    expectRefused { () throws(FileSystemError) in _ = unsafe try disk.write(file, ([9] as [UInt8]).span.bytes, at: 0) }
    expectRefused { () throws(FileSystemError) in try disk.allocate(file, length: 10) }
    expectRefused { () throws(FileSystemError) in try disk.unlink("file", in: directory) }
    expectRefused { () throws(FileSystemError) in
      try disk.rename("file", to: "attempts", in: directory, replacing: true)
    }
    expectRefused { () throws(FileSystemError) in try disk.makeDirectory("x", in: directory, mode: 0o700) }
    expectRefused { () throws(FileSystemError) in try disk.removeDirectory("x", in: directory) }
    let draft = try disk.openFile("tmp", in: directory, [.write, .create, .exclusive])
    try unsafe disk.writeAll(draft, ([7, 8] as [UInt8]).span.bytes, at: 0)
    #expect(try disk.readBytes(draft, count: 10) == [7, 8])
    expectRefused { () throws(FileSystemError) in try disk.rename("tmp", to: "file", in: directory, replacing: true) }
    try disk.rename("tmp", to: "attempts", in: directory, replacing: true)
    #expect(base.names(atPath: "/d") == ["file"], "nothing is counted yet")
    disk.countAttempts(true)
    try disk.rename("tmp", to: "attempts", in: directory, replacing: true)
    #expect(base.content(atPath: "/d/attempts") == [7, 8])
    expectRefused { () throws(FileSystemError) in try disk.rename("tmp", to: "file", in: directory, replacing: true) }
    #expect(base.content(atPath: "/d/file") == [1, 2, 3] && base.names(atPath: "/d").sorted() == ["attempts", "file"])
  }
}
