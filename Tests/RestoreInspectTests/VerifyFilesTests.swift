import DataProtection
import FaultyFileSystem
import Foundation
import Testing
import restore_inspect

/// A check of everything reads protected files, whatever their directories are called.
@MainActor @Suite struct VerifyFilesTests {
  @Test func `every protected file is read, whatever its directory and class`() async throws {
    let state = try await InspectedState()
    var paths: [String] = []
    for directory in ["", "drafts"] {
      for protection in ProtectionClass.allCases {
        paths.append(
          try await state.addFile(
            "a \(protection)", protection, in: directory,
            contents: Data(repeating: 7, count: 200_000)))
      }
    }
    let (code, report) = try await state.verifyEverything()
    #expect(code == .success && Set(paths).count == 8)
    for path in paths { #expect(report.outcome(path) == "whole", "\(path)") }
    #expect(report.files.filter { $0.path.hasPrefix("files/") }.allSatisfy { $0.outcome == "whole" })
    #expect(report.files.filter { $0.name == "ledger" }.map(\.directory).count == 11)
    for path in paths {
      for offset in [5, 100, 160, 70_000, 199_000] {
        try state.edit("\(InspectedState.path)/\(path)") { $0[offset] ^= 1 }
        let (code, report) = try await state.verifyEverything()
        #expect(code != .success && report.outcome(path) != "whole", "byte \(offset) of \(path)")
        try state.edit("\(InspectedState.path)/\(path)") { $0[offset] ^= 1 }
      }
    }
  }

  @Test func `a large protected file is read to its end`() async throws {
    let state = try await InspectedState()
    let path = try await state.addFile("large", .complete, contents: Data(repeating: 7, count: 3_500_000))
    #expect(try await state.verifyEverything().code == .success)
    for offset in [1_040_000, 2_200_000, 3_400_000] {
      try state.edit("\(InspectedState.path)/\(path)") { $0[offset] ^= 1 }
      let (code, report) = try await state.verifyEverything()
      #expect(code == .damaged && report.outcome(path) == "corrupt", "byte \(offset)")
      try state.edit("\(InspectedState.path)/\(path)") { $0[offset] ^= 1 }
    }
  }

  @Test func `protected files of a locked device are locked by their class, not damaged`() async throws {
    let state = try await InspectedState(passcode: "1234")
    var paths: [ProtectionClass: String] = [:]
    for protection in ProtectionClass.allCases {
      paths[protection] = try await state.addFile("a \(protection)", protection, passcode: "1234")
    }
    var (code, report) = try await state.verifyEverything()
    #expect(code == .locked)
    for (protection, path) in paths {
      #expect(report.outcome(path) == (protection == .none ? "whole" : "locked"), "\(protection)")
    }
    (code, report) = try await state.verifyEverything(passcode: "1234")
    #expect(code == .success)
    for path in paths.values { #expect(report.outcome(path) == "whole") }
  }

  @Test func `a protected file that is gone, or of another device, has its outcome`() async throws {
    let (state, foreign) = (try await InspectedState(), try await InspectedState())
    let path = try await state.addFile("letter", .complete)
    let other = try await foreign.addFile("letter", .complete)
    let bytes = try #require(foreign.disk.content(atPath: "\(InspectedState.path)/\(other)"))
    let own = try #require(state.disk.content(atPath: "\(InspectedState.path)/\(path)"))
    state.disk.remove(atPath: "\(InspectedState.path)/\(path)")
    #expect(try await state.verifyEverything().report.outcome(path) == "missing")
    state.disk.plant(bytes, atPath: "\(InspectedState.path)/\(path)")
    let (code, report) = try await state.verifyEverything()
    #expect(report.outcome(path) == "otherDevice" && code == .otherDevice)
    // An archive in a file's place is genuine, and another's.
    state.disk.plant(
      try #require(state.disk.content(atPath: try state.newest)), atPath: "\(InspectedState.path)/\(path)")
    #expect(try await state.verifyEverything().report.outcome(path) == "wrongIdentity")
    state.disk.plant(own, atPath: "\(InspectedState.path)/\(path)")
    #expect(try await state.verifyEverything().code == .success)
  }

  @Test func `protected files alone are something preserved`() async throws {
    let state = try await InspectedState()
    let path = try await state.addFile("letter", .complete)
    state.removeArchives()
    state.disk.remove(atPath: InspectedState.store)
    state.disk.remove(atPath: InspectedState.path + "/slots")
    let (code, report) = try await state.verifyEverything()
    #expect(code == .success && report.outcome(path) == "whole")
  }
}
