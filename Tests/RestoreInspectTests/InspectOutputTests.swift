import DataProtection
import FaultyFileSystem
import FileSystem
import Foundation
import RestorationArchive
import Testing
import restore_inspect

@MainActor @Suite struct InspectOutputTests {
  private nonisolated struct Extremes: Codable, Sendable {
    var nan = Double.nan
    var infinity = -Double.infinity
    var large = UInt64.max
    var larger = UInt128.max
    var beginning = Date(timeIntervalSinceReferenceDate: -.greatestFiniteMagnitude)
    var end = Date.distantFuture
    var never = Date(timeIntervalSinceReferenceDate: .infinity)
    var text = "\u{1B}[2J\u{9B}31m\u{202E}\u{E0001}\n"
    var data = Data((0..<100).map { $0 })
  }

  @Test(arguments: [Double.infinity, -.infinity, .nan, .greatestFiniteMagnitude, -1e300, 1e15, 0, -63_113_904_001])
  func `values at the edges are shown, and no moment is too far away`(seconds: Double) async throws {
    let state = try await InspectedState()
    try await state.inProgram { store in
      var writer = RestorationArchive.Writer(
        context: RestorationArchive.Context(timeSaved: Date(timeIntervalSinceReferenceDate: seconds)))
      let root = try writer.insert("root")
      try writer.setRecord(
        of: root, entries: [RestorationArchive.Entry(key: "all", value: Extremes())],
        attributes: RestorationArchive.Attributes(savedAt: Date(timeIntervalSinceReferenceDate: seconds)))
      try store.publish(try writer.makeArchive())
    }
    for verb in ["tree", "show", "export"] {
      let text = await state.run(verb, InspectedState.path, "--node", "root", "--reveal")
      #expect(text.code == .success, "\(text.error)")
      let json = await state.run(verb, InspectedState.path, "--node", "root", "--reveal", "--json")
      #expect(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) is [String: Any])
      for output in [text.output, json.output] {
        #expect(!output.unicodeScalars.contains { $0 != "\n" && $0.properties.generalCategory == .control })
        #expect(!output.unicodeScalars.contains { $0.properties.generalCategory == .format })
      }
    }
    let shown = await state.run("show", InspectedState.path, "--node", "root", "--reveal", "--json")
    #expect(shown.output.contains("\"nan\" : \"nan\""), "\(shown.output)")
    #expect(shown.output.contains("18446744073709551615"))
  }

  // MARK: Exit codes

  @Test func `every exit code is reached, with one clear line or the output`() async throws {
    var reached: Set<InspectExitCode> = []
    func note(_ result: InspectTool.Result, _ code: InspectExitCode) {
      #expect(result.code == code, "\(result)")
      #expect(result.error.isEmpty != result.output.isEmpty, "\(result)")
      #expect(result.error.split(separator: "\n").count <= 1)
      reached.insert(result.code)
    }
    let state = try await InspectedState()
    note(await state.run("verify", InspectedState.path), .success)
    note(await state.run("verify"), .usage)
    note(await state.run("tree", "/nowhere"), .notFound)
    note(await state.run("show", InspectedState.path, "--node", "nobody"), .notFound)
    let changed = try await InspectedState()
    try await changed.inProgram { store in
      var writer = RestorationArchive.Writer(context: RestorationArchive.Context(timeSaved: Date()))
      _ = try writer.insert("other root")
      try store.publish(try writer.makeArchive())
    }
    note(await changed.run("diff", InspectedState.path), .different)
    let locked = try await InspectedState(passcode: "1234")
    note(await locked.run("tree", InspectedState.path), .locked)
    note(await locked.run("tree", InspectedState.path, passcode: "9999"), .wrongPasscode)
    for number in 0..<12 { _ = await locked.run("tree", InspectedState.path, passcode: "\(number)") }
    let early = await locked.run("tree", InspectedState.path, passcode: "1234")
    note(early, .wrongPasscode)
    #expect(early.error.contains("passcodeDelayed"), "the right one must wait too")
    let damaged = try await InspectedState()
    for name in damaged.generations { try damaged.edit("\(InspectedState.store)/\(name)") { $0[100] ^= 1 } }
    note(await damaged.run("tree", InspectedState.path), .damaged)
    let newer = try await InspectedState()
    for name in newer.generations { try newer.edit("\(InspectedState.store)/\(name)") { $0[8] = 0xFF } }
    newer.disk.remove(atPath: "\(InspectedState.store)/\(try #require(newer.files("ledger").first))")
    note(await newer.run("tree", InspectedState.path), .newerVersion)
    let keyless = try await InspectedState()
    keyless.disk.remove(atPath: "\(InspectedState.path)/device.key")
    note(await keyless.run("tree", InspectedState.path), .otherDevice)
    let disk = FaultyFileSystem(state.disk)
    disk.fail(from: 1, [.read], .error(.inputOutput))
    note(await state.run("tree", InspectedState.path, on: disk), .unavailable)
    state.disk.setMode(0o755, atPath: InspectedState.path)
    note(await state.run("tree", InspectedState.path), .unavailable)
    #expect(reached == Set(InspectExitCode.allCases))
  }

  @Test func `a failure of any system call is one clear line, and changes nothing`() async throws {
    let state = try await InspectedState()
    let before = state.contents()
    for verb in ["tree", "verify", "keybag", "export"] {
      var call = 1
      while true {
        let disk = FaultyFileSystem(state.disk)
        disk.fail(from: call, nil, .error(.inputOutput))
        let result = await state.run(verb, InspectedState.path, on: disk)
        if disk.callCount < call {
          #expect(result.code == .success)
          break
        }
        // A lock that is not given back costs nothing.
        #expect(result.code == .unavailable || result.code == .success, "\(verb), call \(call): \(result)")
        call += 1
      }
      #expect(call > 5)
    }
    #expect(state.contents() == before)
  }
}
