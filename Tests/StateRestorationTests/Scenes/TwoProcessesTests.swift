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

    @MainActor func callAsFunction(_ id: SceneSession.ID, in scenes: SceneSessions) async throws {
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
    let ids: [SceneSession.ID] = ["a", "b"]
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

  @Test(arguments: Step.allCases)
  func `what another process does between any two calls of a change is not lost, nor ever seen undone`(own: Step)
    async throws
  {
    for isKnownBefore in own == .close ? [true] : [false, true] {
      for script in Step.scripts {
        for first in 1... {
          var second = first
          while try await meet(own, script, at: [first, second], isKnownBefore: isKnownBefore) { second += 1 }
          guard second == first else { continue }
          #expect(first > 3, "the calls are counted")
          break
        }
      }
    }
  }

  /// Takes a step in one process, and those of a script in another one before two of the calls that it makes.
  ///
  /// - Returns: Whether it made so many calls.
  private func meet(_ own: Step, _ script: [Step], at stops: [Int], isKnownBefore: Bool) async throws -> Bool {
    let stores = Stores()
    let ids: [SceneSession.ID] = ["a", "b"]
    if isKnownBefore { for id in ids { _ = try await stores.launch().open(id) } }
    let (one, other) = (stores.launch(), stores.launch())
    for process in [one, other] { try await process.load() }
    stores.time += 1
    let before: Bool? = isKnownBefore ? true : nil
    var (expected, mine) = (before, before)
    func check(_ place: Comment, mayBeDone: Bool) async throws {
      let found = try await stores.launch().load()
      let open = ids.map { id in found.first { $0.id == id }?.isOpen }
      #expect(open[1] == expected, place)
      // What was seen once is there from then on.
      if mayBeDone, open[0] == own.result(of: before) { mine = open[0] }
      #expect(open[0] == mine, place)
    }
    let areReached = try await MeetingProcesses(store: stores.list).run(
      { try await own("a", in: one) }, stoppingAt: Set(stops)
    ) { call in
      let place: Comment = "\(own), and \(script) before its calls \(stops), at \(call)"
      try await check(place, mayBeDone: true)
      for (step, stop) in zip(script, stops) where stop == call {
        stores.time += 1
        try await step("b", in: other)
        expected = step.result(of: expected)
        try await check(place, mayBeDone: false)
      }
    }
    guard areReached else { return false }
    mine = own.result(of: before)
    try await check("\(own), and \(script) before its calls \(stops)", mayBeDone: false)
    let found = try await stores.launch().load()
    for process in [one, other] {
      let known = try await process.load()
      #expect(known == found)
    }
    return true
  }

  @Test func `scenes that two processes open and close at the same time are all in the list`() async throws {
    for first in 1... {
      for second in first... {
        let stores = Stores()
        let (one, other) = (stores.launch(), stores.launch())
        let areReached = try await MeetingProcesses(store: stores.list).run(
          {
            _ = try await one.open("one")
            try await one.close("one")
          }, stoppingAt: [first, second]
        ) { call in
          for (id, stop) in [("other", first), ("another", second)] as [(SceneSession.ID, Int)] where stop == call {
            _ = try await other.open(id)
            try await other.close(id)
          }
        }
        guard areReached else {
          guard second == first else { break }
          #expect(first > 6, "the calls are counted")
          return
        }
        let found = try await stores.launch().load()
        #expect(Set(found.map(\.id)) == ["one", "other", "another"], "at \(first) and \(second)")
        #expect(found.allSatisfy { !$0.isOpen })
      }
    }
  }

  @Test func `what another process joins while the list is read is not missing in it`() async throws {
    for stop in 1... {
      let stores = Stores()
      _ = try await stores.launch().open("whole")
      stores.list.lock(true)
      _ = try await stores.launch().open("sealed")
      stores.list.lock(false)
      let (one, other) = (stores.launch(), stores.launch())
      try await one.load()
      let isReached = try await MeetingProcesses(store: stores.list).run({ try await one.load() }, stoppingAt: [stop]) {
        _ in try await other.activate("whole")
      }
      guard isReached else {
        #expect(stop > 3, "the calls are counted")
        return
      }
      #expect(Set(one.sessions.map(\.id)) == ["whole", "sealed"], "at \(stop)")
    }
  }

  @Test func `a list that others change all the time is busy, and what is changed here goes with the next change`()
    async throws
  {
    let stores = Stores()
    let (one, other) = (stores.launch(), stores.launch())
    _ = try await other.open("other")
    _ = try await MeetingProcesses(store: stores.list).run(
      {
        let error = await #expect(throws: RestorationError.self) { _ = try await one.open("one") }
        #expect((error?.cause as? ProtectionError)?.code == .busy)
      }, stoppingAt: Set(1...10_000)
    ) { _ in
      stores.time += 1
      try await other.activate("other")
    }
    #expect(try await stores.launch().load().map(\.id) == ["other"])
    _ = try await one.open("second")
    #expect(try await Set(stores.launch().load().map(\.id)) == ["one", "second", "other"])
  }

  @Test(arguments: [false, true])
  func `what another process writes at the same instant is not lost`(isFirst: Bool) async throws {
    let stores = Stores()
    if !isFirst {
      for id in ["gone", "kept"] as [SceneSession.ID] { _ = try await stores.launch().open(id) }
      stores.list.lock(true)
      _ = try await stores.launch().open("sealed")
      stores.list.lock(false)
      stores.list.run.add(1, ordering: .relaxed)
    }
    let (one, other) = (stores.launch(), stores.launch())
    try await other.load()
    let held = stores.list.hold(at: "publish")
    let opening = Task { try await one.open("one") }
    try await held.arrived()
    _ = try await other.open("other")
    try await other.discard("gone")
    try await other.close("kept")
    held.release()
    _ = try await opening.value
    let found = try await stores.launch().load()
    #expect(Set(found.map(\.id)) == (isFirst ? ["one", "other"] : ["one", "other", "kept", "sealed"]))
    #expect(found.filter { !$0.isOpen }.map(\.id) == (isFirst ? [] : ["kept"]))
    #expect(one.sessions == found)
  }

  @Test func `a scene that another process has discarded goes, unless its coordinator is in use`() async throws {
    let stores = Stores()
    for id in ["gone", "held"] as [SceneSession.ID] { _ = try await stores.launch().open(id) }
    let (one, other) = (stores.launch(), stores.launch())
    try await one.load()
    let coordinator = try one.coordinator(for: "held")
    for id in ["gone", "held"] as [SceneSession.ID] { try await other.discard(id) }
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
    for id in ["stays", "gone"] as [SceneSession.ID] { _ = try await stores.launch().open(id) }
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
