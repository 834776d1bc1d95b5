import DataProtection
import Foundation
import RestorationArchive
import StateRestoration
import Testing

/// State that a newer version of the program left, met by this one.
@Suite(.serialized) struct NewerVersionTests {
  /// What is newer.
  enum Newer: CaseIterable {
    /// The program's own state has a newer schema.
    case application
    /// The archive inside the sealed file has a format that this program doesn't know.
    case format
  }

  @Test(arguments: Newer.allCases)
  func `what a newer version preserved is told in one line, and kept through every save`(_ newer: Newer) async throws {
    let harness = try DemoHarness()
    _ = try await harness.run(["key f3", "text kept", "wait preserved"])
    let older = try Self.generations(harness)
    try await Self.upgrade(harness.state, newer)
    let path = harness.state + "/" + (try #require(try Self.generations(harness).subtracting(older).first))
    let bytes = try #require(FileManager.default.contents(atPath: path))

    // Looked at only, it is as it was.
    let before = try harness.stateBytes()
    let line = "what is preserved is of a newer version: it is kept; start that version to see it (^R)"
    let look = try await harness.run(["status", "screen", "report", "kill"])
    #expect(look.status == -SIGKILL && look.error.isEmpty)
    #expect(look.output.hasPrefix(line + "\n"), "\(look.output)")
    #expect(!look.output.contains("Search: kept"))
    #expect(look.output.contains("written by a newer version; kept"), "\(look.output)")
    for (name, bytes) in before where name.contains("/g-") {
      #expect(FileManager.default.contents(atPath: harness.state + "/" + name) == bytes, "\(name)")
    }

    // Used, the program begins anew beside it, and no number of saves takes the newer state away.
    for number in 1...4 {
      let run = try await harness.run(["key f3", "text \(number)", "wait preserved", "key f2", "wait preserved"])
      #expect(run.status == 0, "\(run.error)")
      #expect(FileManager.default.contents(atPath: path) == bytes, "after run \(number)")
    }
    #expect(try await harness.run(["key f3", "screen"]).output.contains("Search: 1234"))
  }

  /// The files of all generations, of the archive and of the snapshot.
  private static func generations(_ harness: DemoHarness) throws -> Set<String> {
    Set(try harness.stateBytes().keys.filter { $0.contains("/g-") })
  }

  /// Preserves in the program's state what a newer version would.
  @concurrent private static func upgrade(_ state: String, _ newer: Newer) async throws {
    let device = try await ProtectedDevice.open(at: .directory(state))
    let store = try device.archives(for: ArchiveSlot(application: "restore-demo", scene: "main"), protection: .none)
    let parts = try store.openNewestParts().parts
    let opened = try #require(parts.first?.archive)
    let reader = try RestorationArchive.Reader(
      base: RestorationArchive.Source(try opened.readAll()), deltas: opened.frames)
    var writer = try RestorationArchive.Writer(continuing: reader)
    if newer == .application { writer.context.schemaVersion = 2 }
    var archive = try writer.makeArchive()
    // The number of the format is behind the eight bytes of the magic.
    if newer == .format { archive[archive.startIndex + 8] += 1 }
    try store.publish(
      [PartToPublish(.root, .new(archive, as: .none))]
        + parts.dropFirst().map { PartToPublish($0.place, .unchanged($0.file)) })
  }
}
