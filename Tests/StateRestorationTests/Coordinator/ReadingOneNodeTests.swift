import DataProtection
import FoundationEssentials
import RestorationArchive
import StateRestoration
import Testing

/// What reading one node of a sealed archive opens: counted, so that no machine's mood can hide a loss.
@MainActor @Suite struct ReadingOneNodeTests {
  private struct State: Codable, Sendable, Equatable {
    var title = String(repeating: "a title of some length ", count: 10)
    var selection = 0
  }

  private func path(_ index: Int) -> RestorationPath { ["root", RestorationIdentifier("node-\(index)")] }

  /// Publishes a tree.
  private func preserve(nodes: Int, in place: any PreservationStore) throws {
    var writer = RestorationArchive.Writer(context: .test)
    let root = try writer.insert("root")
    for index in 0..<nodes {
      let id = try writer.insert(RestorationIdentifier("node-\(index)"), parent: root)
      try writer.setRecord(of: id, entries: [.init(key: "state", value: State(selection: index))], attributes: .init())
    }
    _ = try place.publish(try writer.makeArchive(), .init())
  }

  private func selection(_ reader: RestorationArchive.Reader, _ index: Int) throws -> Int {
    let record = try #require(try reader.record(at: path(index)))
    return try record.decode(State.self, forKey: "state").selection
  }

  @Test func `one node of five thousand is read by opening five chunks`() async throws {
    let bench = try await Bench(.device)
    try preserve(nodes: 5_000, in: bench.place)
    for index in [0, 1_234, 4_999] {
      let opened = try #require(try bench.place.open(.newest).handle as? OpenedArchive)
      #expect(opened.byteCount > 60 * 16_384)
      #expect(try selection(RestorationArchive.Reader(opened), index) == index)
      // The last one proves the length, the first holds the header; index, node and the parent's name are the others.
      #expect(opened.chunksOpened <= 5)
    }
  }
}
