import RestorationArchive
import Testing

@testable import StateRestoration

/// What saves of one run go on from when a capture can't be taken over.
@Suite struct PreservationSessionTests {
  private let store = MemoryStore()
  private let configuration = RestorationConfiguration(application: "test", applicationVersion: "1")

  private func makeSession() -> PreservationSession {
    PreservationSession(
      store: store, context: .test, protection: .complete, limits: configuration.limits, nodeBudget: .max)
  }

  private var loader: StateLoader {
    StateLoader(store: store, configuration: configuration, classes: ClassTable(), context: .test)
  }

  /// A capture that meets a root and two screens below it, with texts of one size.
  private func everything(_ first: String, _ second: String) -> CaptureBatch {
    var batch = CaptureBatch()
    batch.placements = [
      .init(key: 1, section: .interface, identifier: "root"), .init(key: 2, parent: 1, identifier: "first"),
      .init(key: 3, parent: 1, identifier: "second"),
    ]
    batch.kinds = [.init(version: 1, classTag: "screen", acceptedClasses: ["screen"])]
    batch.records = [.init(key: 1, kind: 0)]
    for (key, text) in [(2, first), (3, second)] {
      batch.records.append(.init(key: key, kind: 0, entries: [.init(key: "text", value: text)]))
    }
    return batch
  }

  /// A capture in which the second screen has come below the first, and the first below the second.
  private var impossible: CaptureBatch {
    var batch = CaptureBatch()
    batch.placements = [
      .init(key: 3, parent: 2, identifier: "second"), .init(key: 2, parent: 3, identifier: "first"),
    ]
    return batch
  }

  /// The screens as the next launch finds them, in order, with the texts of their records.
  private func stored() throws -> [String] {
    let reader = try loader.loadNewest().reader
    return try reader.children(of: try #require(try reader.roots.last)).map { id in
      let node = try #require(try reader.node(id))
      return "\(node.identifier): \(try reader.record(of: id).decode(String.self, forKey: "text").prefix(5))"
    }
  }

  @Test(arguments: [10, 300_000]) func `a capture that can't be taken over changes nothing`(size: Int) throws {
    let padding = String(repeating: "x", count: size)
    var session = makeSession()
    _ = try session.save(everything("one  " + padding, "two  " + padding), context: .test, loader: loader)
    #expect(throws: ArchiveError.self) { try session.save(impossible, context: .test, loader: loader) }
    // What a table has that nobody took over would be written now.
    _ = try session.save(CaptureBatch(), context: .test, loader: loader)
    #expect(try stored() == ["first: one  ", "second: two  "])
    // Everything is met anew.
    _ = try session.save(everything("three" + padding, "two  " + padding), context: .test, loader: loader)
    #expect(try stored().contains("second: two  "))
  }

  @Test func `what could not be taken over before a save is said by the save, once`() throws {
    var session = makeSession()
    _ = try session.save(everything("one", "two"), context: .test, loader: loader)
    session.take(impossible)
    #expect(throws: ArchiveError.self) { try session.save(CaptureBatch(), context: .test, loader: loader) }
    #expect(try stored() == ["first: one", "second: two"])
    _ = try session.save(everything("one", "two"), context: .test, loader: loader)
    #expect(try stored() == ["first: one", "second: two"])
  }
}
