import DataProtection
import FaultyFileSystem
import FileSystem
import Foundation
import Testing
import restore_inspect

/// The table of what there is, and how one of it is named.
@MainActor @Suite struct DeviceListingTests {
  struct Report: Decodable {
    struct Slot: Decodable {
      var application, scene, slot, generation, writtenAt, problem: String?
      var directory: String
      var bytes, pending, setAside: Int
      var `class`: String?
    }
    struct Files: Decodable {
      var name: String?
      var count, bytes: Int
    }
    struct Device: Decodable {
      var path: String
      var hasPasscode: Bool
      var slots: [Slot]
      var files: [Files]
    }
    var devices: [Device]
  }

  private func list(_ state: InspectedState) async throws -> (code: InspectExitCode, device: Report.Device) {
    let result = await state.run("list", InspectedState.path, "--json")
    let report = try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
    return (result.code, try #require(report.devices.first))
  }

  @Test(arguments: [nil, "1234"])
  func `it names applications, scenes and slots with times, sizes and classes, also while locked`(
    _ passcode: String?
  ) async throws {
    let state = try await InspectedState(passcode: passcode)
    _ = try await state.addArchive("com.example.notes", "scene-2", protection: .completeUnlessOpen, passcode: passcode)
    _ = try await state.addArchive(
      "main", "", slot: "scenes", protection: .completeUntilFirstUserAuthentication, passcode: passcode)
    _ = try await state.addFile("letter", .complete, passcode: passcode)
    _ = try await state.addFile("other", .complete, passcode: passcode)
    let (code, device) = try await list(state)
    #expect(code == .success)
    #expect(device.path == InspectedState.path && device.hasPasscode == (passcode != nil))
    #expect(
      device.slots.map { [$0.application, $0.scene, $0.slot, $0.class] } == [
        ["com.example.notes", "scene-2", "archive", "completeUnlessOpen"],
        ["main", "", "scenes", "completeUntilFirstUserAuthentication"], ["main", "main", "archive", "complete"],
      ])
    #expect(device.slots.allSatisfy { $0.bytes > 200 && $0.writtenAt != nil && $0.problem == nil })
    #expect(device.slots.map(\.generation) == ["1", "1", "2"])
    #expect(device.files.map(\.name) == ["drafts"] && device.files.map(\.count) == [2])
    let text = await state.run(InspectedState.path).output
    for word in ["com.example.notes", "scene-2", "scenes", "completeUnlessOpen", "“drafts”", "2 files"] {
      #expect(text.contains(word), "\(word) in \(text)")
    }
    #expect(!text.contains("letter") && !text.contains("secret"))
  }

  @Test func `parts are listed with their classes and sizes, also while locked`() async throws {
    let state = try await InspectedState(passcode: "1234")
    try await state.inProgram(passcode: "1234") { store in
      let place = try #require(PartPlace(rawValue: 2))
      let root = Data("root".utf8)
      try store.publish([
        PartToPublish(.root, .new(root, as: .completeUntilFirstUserAuthentication)),
        PartToPublish(place, .new(Data("secret".utf8), as: .complete)),
      ])
    }
    let result = await state.run("list", InspectedState.path, "--json")
    let report = try JSONDecoder().decode(PartsReport.self, from: Data(result.output.utf8))
    let parts = try #require(report.devices.first?.slots.first?.parts)
    #expect(parts.map(\.place) == [0, 2] && parts.allSatisfy { $0.bytes > 100 })
    #expect(parts.map(\.class) == ["completeUntilFirstUserAuthentication", "complete"])
    let text = await state.run(InspectedState.path).output
    #expect(text.contains("part 2: complete, ") && text.contains("part 0: completeUntilFirstUserAuthentication, "))
    let verified = await state.run("verify", InspectedState.path).output
    #expect(verified.contains("part 2, complete, "), "\(verified)")
  }

  struct PartsReport: Decodable {
    struct Part: Decodable {
      var place, bytes: Int
      var `class`: String
    }
    struct Slot: Decodable { var parts: [Part] }
    struct Device: Decodable { var slots: [Slot] }
    var devices: [Device]
  }

  @Test func `a slot without a ledger has its directory for a name, and what is wrong is said`() async throws {
    let state = try await InspectedState()
    let slot = try #require(state.generations.last).split(separator: "/")[0]
    state.disk.remove(atPath: "\(InspectedState.store)/\(slot)/ledger")
    let (code, device) = try await list(state)
    #expect(code == .damaged && device.slots.map(\.problem) == ["missing"])
    #expect(device.slots[0].application == nil && device.slots[0].directory == String(slot))
  }

  @Test func `saves of locked runs and generations set aside are counted`() async throws {
    let state = try await InspectedState(passcode: "1234")
    try await state.inProgram(passcode: "1234") { store in
      try store.publish(Data("x".utf8), ArchiveSuccession(retiring: [store.openNewest().generation]))
    }
    try await state.inProgram(passcode: "1234", isLocked: true) { try $0.publishPending(Data("touched".utf8)) }
    let device = try await list(state).device
    #expect(device.slots.map(\.pending) == [1] && device.slots.map(\.setAside) == [1])
  }

  @Test func `names that a terminal would obey are shown by their numbers`() async throws {
    let state = try await InspectedState()
    _ = try await state.addArchive("a\u{1B}[2J", "\u{202E}b")
    let text = await state.run(InspectedState.path).output
    #expect(!text.contains("\u{1B}") && !text.contains("\u{202E}"))
    #expect(text.contains("a\\u{1b}[2J"))
  }

  @Test func `the program's own state has a name that can be typed`() async throws {
    let state = try await InspectedState()
    _ = try await state.addArchive("main", "\u{0}1")
    _ = try await state.addArchive("main", "\u{0}2")
    #expect(try await list(state).device.slots.map(\.scene) == ["(program)", "(program 2)", "main"])
    for name in ["(program)", "(program 2)"] {
      let tree = await state.run("tree", InspectedState.path, "--scene", name)
      #expect(tree.code == .success, "\(tree)")
    }
    #expect(await state.run("tree", InspectedState.path, "--scene", "(program 3)").code != .success)
  }

  @Test func `an empty device is said to be empty`() async throws {
    let state = try await InspectedState()
    try await state.removeState()
    let result = await state.run(InspectedState.path)
    #expect(result.code == .notFound && result.output.contains("Nothing is preserved here."))
  }

  @Test func `planted directories are not listed`() async throws {
    let state = try await InspectedState()
    for number in 10..<60 {
      state.disk.plant(.directory, atPath: "\(InspectedState.store)/\(String(repeating: "a", count: 30))\(number)")
    }
    #expect(try await list(state).device.slots.map(\.application) == ["main"])
  }

  // MARK: Naming one

  @Test func `the one archive that there is needs no name, and a scene names its application`() async throws {
    let state = try await InspectedState()
    try await state.removeState()
    _ = try await state.addArchive("com.example.notes", "scene-1")
    for options in [[], ["--scene", "scene-1"], ["--application", "com.example.notes"]] {
      let result = await state.run(["tree", InspectedState.path] + options)
      #expect(result.code == .success && result.output.contains("root"), "\(options): \(result.error)")
    }
    for options in [["--scene", "scene-2"], ["--application", "main"]] {
      let result = await state.run(["tree", InspectedState.path] + options)
      #expect(result.code == .notFound)
      #expect(result.error.contains("There is: application “com.example.notes”, scene “scene-1”"), "\(result.error)")
    }
  }

  @Test func `of several the default is taken, and without it all are named`() async throws {
    let state = try await InspectedState()
    _ = try await state.addArchive("main", "scene-1")
    _ = try await state.addArchive("main", "scene-2")
    #expect(await state.run("tree", InspectedState.path).output.contains("editor"))
    try await state.removeState()
    let result = await state.run("tree", InspectedState.path)
    #expect(result.code == .usage && result.error.contains("“scene-1”") && result.error.contains("“scene-2”"))
    #expect(await state.run("tree", InspectedState.path, "--scene", "scene-2").code == .success)
  }

  @Test func `a default that is missing is not passed over for another`() async throws {
    let state = try await InspectedState()
    let slot = try #require(state.generations.last).split(separator: "/")[0]
    _ = try await state.addArchive("com.example.notes", "scene-1")
    state.disk.remove(atPath: "\(InspectedState.store)/\(slot)")
    let result = await state.run("tree", InspectedState.path)
    #expect(result.code == .damaged && result.error.contains("missing"))
  }

  @Test func `the slot of a list of scenes is found by its name alone`() async throws {
    let state = try await InspectedState()
    _ = try await state.addArchive("main", "", slot: "scenes")
    #expect(await state.run("tree", InspectedState.path, "--slot", "scenes").code == .success)
  }

  // MARK: The process

  @Test func `without arguments the devices of all programs are listed`() async throws {
    let real = try await RealDevice(passcode: "correct horse")
    let state = URL(filePath: real.path).deletingLastPathComponent().appending(path: "state-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: state, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: state) }
    let line = "XDG_STATE_HOME=\"$1\" \"$0\""
    let empty = try await InspectProcess.shell(line, [state.path])
    #expect(empty.code == InspectExitCode.notFound.rawValue && empty.error.contains(state.path))
    try FileManager.default.createDirectory(at: state.appending(path: "another"), withIntermediateDirectories: true)
    let before = try real.contents()
    // A copy of it with its names, as the device itself can't be moved while it is open.
    let copied = try await InspectProcess.shell("cp -a \"$1\" \"$2/com.example.notes\"", [real.path, state.path])
    #expect(copied.code == 0)
    let result = try await InspectProcess.shell(line, [state.path])
    #expect(result.code == 0 && result.error.isEmpty, "\(result.error)")
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.count == 3 && lines[0].hasPrefix("\(state.path)/com.example.notes"), "\(result.output)")
    #expect(lines[2].contains("main") && lines[2].contains("archive") && lines[2].contains("complete"))
    #expect(try real.contents() == before)
  }
}
