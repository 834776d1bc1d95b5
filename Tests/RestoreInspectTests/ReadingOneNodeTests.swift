import DataProtection
import FoundationEssentials
import RestorationArchive
import StateRestoration
import StateRestorationTesting
import Testing
import restore_inspect

/// What reading one node of a sealed archive opens: counted, so that no machine's mood can hide a loss.
@MainActor @Suite struct ReadingOneNodeTests {
  private struct State: Codable, Sendable, Equatable {
    var title = String(repeating: "a title of some length ", count: 10)
    var selection = 0
  }

  private func path(_ index: Int) -> RestorationPath { ["root", RestorationIdentifier("node-\(index)")] }

  /// An archive of a tree.
  private func archive(nodes: Int) throws -> Data {
    let context = RestorationArchive.Context(
      applicationVersion: "1.0", timeSaved: Date(timeIntervalSinceReferenceDate: 0))
    var writer = RestorationArchive.Writer(context: context)
    let root = try writer.insert("root")
    for index in 0..<nodes {
      let id = try writer.insert(RestorationIdentifier("node-\(index)"), parent: root)
      try writer.setRecord(of: id, entries: [.init(key: "state", value: State(selection: index))], attributes: .init())
    }
    return try writer.makeArchive()
  }

  private func selection(_ reader: RestorationArchive.Reader, _ index: Int) throws -> Int {
    let record = try #require(try reader.record(at: path(index)))
    return try record.decode(State.self, forKey: "state").selection
  }

  @Test func `one node of five thousand is read by opening five chunks`() async throws {
    let process = try await SimulatedDevice().startProcess()
    let store = try process.device.archives(for: ArchiveSlot(application: "test"), protection: .complete)
    _ = try store.publish(try archive(nodes: 5_000))
    for index in [0, 1_234, 4_999] {
      let opened = try store.openNewest()
      #expect(opened.byteCount > 60 * 16_384)
      #expect(try selection(RestorationArchive.Reader(opened), index) == index)
      // The last one proves the length, the first holds the header; index, node and the parent's name are the others.
      #expect(opened.chunksOpened <= 5)
    }
  }
}
