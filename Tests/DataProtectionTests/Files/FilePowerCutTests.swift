import DataProtection
import FaultyFileSystem
import FileSystem
import Foundation
import Testing

/// The power goes at every call of every operation on protected files.
@Suite struct FilePowerCutTests {
  enum Operation: CaseIterable, Sendable {
    case create, write, setProtection, rename, delete, append, appendTwice, writeRange, writeOverEnd
  }

  func perform(_ operation: Operation, _ files: ProtectedFiles) throws {
    switch operation {
    case .create: try files.create("new", contents: Data("new".utf8))
    case .write: try files.write(Data("new".utf8), to: "old")
    case .setProtection: try files.setProtection(.completeUntilFirstUserAuthentication, of: "old")
    case .rename: try files.rename("old", to: "new")
    case .delete: try files.delete("old")
    case .append: try files.append(Data(" and new".utf8), to: "old")
    case .appendTwice:
      let handle = try files.open("old")
      try handle.append(Data(" and".utf8))
      try handle.append(Data(" new".utf8))
    case .writeRange: try files.write(Data("ew".utf8), at: 1, to: "old")
    case .writeOverEnd: try files.write(Data("lder".utf8), at: 1, to: "old")
    }
  }

  /// What is there: names, classes and contents.
  func picture(_ files: ProtectedFiles) throws -> [String] {
    try files.list().map { file in
      "\(file.name) \(file.protection) \(String(decoding: try files.read(file.name), as: UTF8.self))"
    }
  }

  @Test(arguments: Operation.allCases)
  func `a power cut leaves the old or the new state, whole`(_ operation: Operation) async throws {
    let world = TestWorld()
    let before = try await {
      let files = try await world.open().files()
      try files.create("other", contents: Data("other".utf8))
      try files.create("old", contents: Data("old".utf8))
      return try picture(files)
    }()
    let trial = TestWorld(memory: world.memory.afterProcessDeath())
    let trialFiles = try await trial.open().files()
    let start = trial.memory.callCount
    try perform(operation, trialFiles)
    let cutPoints = trial.memory.cutPoints(after: start)
    let after = try picture(trialFiles)
    #expect(cutPoints.count > 5)

    for number in cutPoints {
      let cut = TestWorld(memory: world.memory.afterProcessDeath())
      let files = try await cut.open().files()
      cut.memory.cutPower(afterCall: cut.memory.callCount + number)
      let outcome = await code { try perform(operation, files) }
      for policy in cut.memory.powerCutPolicies {
        let next = TestWorld(memory: cut.memory.afterPowerCut(policy))
        let found = try picture(try await next.open().files())
        var between: [String] = []
        if operation == .appendTwice { between = before.map { $0.replacingOccurrences(of: " old", with: " old and") } }
        #expect(found == before || found == after || found == between, "call \(number), \(policy)")
        if outcome == nil { #expect(found == after, "acknowledged; call \(number), \(policy)") }
        #expect(!next.memory.names(atPath: TestWorld.path).contains { $0.hasPrefix("tmp-") })
      }
    }
  }
}
