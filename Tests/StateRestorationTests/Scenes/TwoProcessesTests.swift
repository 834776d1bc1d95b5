import DataProtection
import FoundationEssentials
import StateRestoration
import Synchronization
import Testing

/// Scenes of one program in several processes: each runs scenes of its own, and the list is everybody's.
@MainActor @Suite struct TwoProcessesTests {
  typealias Stores = SceneSessionsTests.Stores

  /// What a process does with its scene.
  enum Step: CaseIterable {
    case open, close, discard

    @MainActor func callAsFunction(_ id: RestoredWindow.ID, in scenes: SceneSessions) async throws {
      switch self {
      case .open: _ = try await scenes.open(id)
      case .close: try await scenes.close(id)
      case .discard: try await scenes.discard(id)
      }
    }

    /// Whether the scene is open afterwards; nil when there is none.
    func result(of isOpen: Bool?) -> Bool? {
      switch self {
      case .open: true
      case .close: isOpen == nil ? nil : false
      case .discard: nil
      }
    }

    /// Whatever a process can do in two steps.
    static let scripts = allCases.flatMap { first in allCases.map { [first, $0] } }
  }

  @Test func `what each of two processes has opened is in the list`() async throws {
    let stores = Stores()
    let (a, b) = (stores.launch(), stores.launch())
    try await a.load()
    try await b.load()
    _ = try await a.open("a")
    _ = try await b.open("b")
    #expect(try await Set(stores.launch().load().map(\.id)) == ["a", "b"])
    #expect(Set(b.sessions.map(\.id)) == ["a", "b"])
    try await a.activate("a")
    #expect(Set(a.sessions.map(\.id)) == ["a", "b"])
  }

  @Test(arguments: [false, true])
  func `whatever two processes do with their scenes, in whatever order, is in the list`(isKnownBefore: Bool)
    async throws
  {
    let orders = [[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0]]
    let ids: [RestoredWindow.ID] = ["a", "b"]
    for first in Step.scripts {
      for second in Step.scripts {
        for order in orders {
          let stores = Stores()
          if isKnownBefore { for id in ids { _ = try await stores.launch().open(id) } }
          let processes = [stores.launch(), stores.launch()]
          for process in processes { try await process.load() }
          var waiting = [first, second]
          var expected: [Bool?] = Array(repeating: isKnownBefore ? true : nil, count: 2)
          for index in order {
            stores.time += 1
            let step = waiting[index].removeFirst()
            try await step(ids[index], in: processes[index])
            expected[index] = step.result(of: expected[index])
          }
          let found = try await stores.launch().load()
          let open = ids.map { id in found.first { $0.id == id }?.isOpen }
          #expect(open == expected, "\(first) and \(second) in the order \(order)")
          for process in processes {
            let known = try await process.load()
            #expect(known == found)
          }
        }
      }
    }
  }

  @Test func `a scene that another process has discarded goes, unless its coordinator is in use`() async throws {
    let stores = Stores()
    for id in ["gone", "held"] as [RestoredWindow.ID] { _ = try await stores.launch().open(id) }
    let (one, other) = (stores.launch(), stores.launch())
    try await one.load()
    let coordinator = try one.coordinator(for: "held")
    for id in ["gone", "held"] as [RestoredWindow.ID] { try await other.discard(id) }
    _ = try await one.open("new")
    #expect(Set(one.sessions.map(\.id)) == ["held", "new"])
    #expect(try await Set(stores.launch().load().map(\.id)) == ["held", "new"])
    withExtendedLifetime(coordinator) {}
  }

  @Test(arguments: [false, true], [false, true])
  func `what is saved while locked brings nothing back that another process has discarded`(
    isDiscardedFirst: Bool, isDiscardedWhileLocked: Bool
  ) async throws {
    let stores = Stores()
    for id in ["stays", "gone"] as [RestoredWindow.ID] { _ = try await stores.launch().open(id) }
    let (one, other) = (stores.launch(), stores.launch())
    try await one.load()
    try await other.load()
    func discard() async throws {
      stores.list.lock(isDiscardedWhileLocked)
      stores.list.run.add(1, ordering: .relaxed)
      try await other.discard("gone")
    }
    if isDiscardedFirst { try await discard() }
    stores.list.lock(true)
    stores.list.run.add(1, ordering: .relaxed)
    _ = try await one.open("new")
    if !isDiscardedFirst { try await discard() }
    stores.list.lock(false)
    #expect(try await Set(stores.launch().load().map(\.id)) == ["stays", "new"])
    #expect(try await Set(one.load().map(\.id)) == ["stays", "new"])
    try await other.activate("stays")
    #expect(Set(other.sessions.map(\.id)) == ["stays", "new"])
  }
}
