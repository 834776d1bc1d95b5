import RestorationArchive
import StateRestoration

/// One scene of the program under test: its coordinator and hierarchy, and the worlds that may be true of it.
@MainActor final class Scene {
  let session: SceneSession.ID
  var worlds: [World] = [World()]
  /// The worlds before a restoration joined the states saved while locked; empty once a save has stored them.
  private var unjoined: [World] = []
  /// How often restoring was cut off by a death since it ended well.
  var deaths = 0
  var rules = Rules(program: ProgramVersion(1))
  /// The places in which the last restoration made nothing, as long as nobody has moved since.
  var carriedPlaces: [[Int]] = []
  /// What the program would make at a path, as a program knows from its own data.
  private var plan: [[Int]: Kind] = [:]
  /// Where this launch must not run any code of the program, because restoring died there before.
  var culprit: [Int]?

  private(set) var root: Page?
  private(set) var coordinator: RestorationCoordinator?
  let delegate = SceneDelegate()
  /// Whether this run was launched locked, and nothing was restored yet.
  private(set) var isDeferred = false

  init(_ session: SceneSession.ID) { self.session = session }

  /// The pages with their paths, parents first.
  var pages: [(path: [Int], page: Page)] {
    func below(_ page: Page, _ path: [Int]) -> [(path: [Int], page: Page)] {
      [(path, page)] + page.children.flatMap { below($0, path + [$0.number]) }
    }
    return root.map { below($0, [0]) } ?? []
  }

  // MARK: - Worlds

  func change(_ body: (inout World) -> Void) {
    for index in worlds.indices { body(&worlds[index]) }
    for index in unjoined.indices { body(&unjoined[index]) }
    worlds = worlds.distinct
  }

  /// A save was acknowledged, or may have been stored.
  func noteSave(isAcknowledged: Bool) {
    if isDeferred { unjoined = worlds.map { $0.unjoined() } } else if isAcknowledged { unjoined = [] }
  }

  /// Another program, which knows other tags, joins the states saved while locked anew.
  func forgetJoins() {
    worlds = (worlds + unjoined).distinct
    // In a place where the other program had joined two states to one, this one may find both.
    if !unjoined.isEmpty { culprit = nil }
  }

  /// A page has moved: the places below it that nothing is in move along.
  func movePlaces(_ places: [[Int]], from former: [Int], to path: [Int]) {
    carriedPlaces = places.filter { $0 != path }.map {
      $0.starts(with: former) ? path + $0.dropFirst(former.count) : $0
    }
  }

  /// The power was cut.
  func losePower() {
    worlds = worlds.flatMap { $0.afterPowerCut() }.distinct
    unjoined = unjoined.flatMap { $0.afterPowerCut() }.distinct
    // A restart of the machine is nobody's fault the first time.
    culprit = nil
  }

  /// Whether something is stored in a place that no page is in.
  func isCarried(_ parent: [Int], _ name: Int) -> Bool {
    worlds.contains { $0.live?[parent[...]]?.carried[name] != nil }
  }

  // MARK: - Runs

  /// Begins a run with a new coordinator and an empty hierarchy.
  func begin(_ coordinator: RestorationCoordinator, _ root: Page) {
    self.coordinator = coordinator
    self.root = root
    delegate.lateReports = []
    delegate.make = { [unowned self] path in make(path) }
    isDeferred = false
    carriedPlaces = []
  }

  /// Everything was deleted for good.
  func discard() {
    change { $0.discard() }
    carriedPlaces = []
    isDeferred = false
  }

  /// Ends a run: the process is gone.
  func end() {
    for (path, page) in pages { plan[path] = page.kind }
    worlds = worlds.map { $0.ended() }.distinct
    coordinator = nil
    root = nil
    isDeferred = false
  }

  /// Says what the program makes from now on.
  func plan(hiding: Int, making: Int, _ kind: Kind) {
    rules.makes = { [unowned self] path in
      guard let name = path.last, name != hiding else { return nil }
      let kind = rules.program.known(name == making ? kind : plan[path] ?? .plain)
      return rules.goneModels.contains(kind.model) ? nil : kind
    }
  }

  /// What happens in a page's own code: nothing, or the process dies.
  var onFactory: (([Int]) -> Void)?
  var onDecode: (([Int]) -> Void)?
  /// The first thing that the engine did and must not do.
  var violation: String?

  private func make(_ path: [Int]) -> Page? {
    guard path.count > 1, let name = path.last, root?.page(at: path.dropFirst()) == nil else { return nil }
    if path == culprit { violation = "\(path) was asked for right after restoring had died there" }
    onFactory?(path)
    guard let kind = rules.makes(path) else { return nil }
    let page = rules.program.page(name, kind)
    page.onDecode = { [unowned self] in onDecode?(path) }
    return page
  }

  // MARK: - What is seen

  /// Compares what is on the screen after a restoration with what each world has; the worlds in which it can't be are gone.
  ///
  /// - Parameter before: The values of the pages that were there before.
  /// - Returns: What is wrong; nil when some world agrees.
  func compare(
    _ report: RestorationReport, before: [ObjectIdentifier: Int], asking isAskedFor: Bool = false
  ) -> String? {
    guard let root else { return nil }
    if let violation { return violation }
    var rules = rules
    rules.isAskedFor = isAskedFor
    rules.leftOut = Set(report.leftOut.map(\.numbers))
    let seen = sight(of: root, before)
    var why: Set<String> = []
    let found = worlds.flatMap { world in bound(world, seen, rules, report.outcome, &why) }
    guard !found.isEmpty else {
      if why.isEmpty { why = ["no world agrees with the outcome “\(report.outcome)”"] }
      return "\(why.sorted().joined(separator: "; or "))\n\(seen.text)\n\(report)"
    }
    worlds = found.distinct
    isDeferred = report.outcome == .locked
    carriedPlaces = worlds.first?.live?.carriedPaths ?? []
    if report.outcome == .restored {
      let named = Set(report.notRestored.map(\.path.numbers))
      if let path = worlds.map(\.carriedForSure).reduce(nil, { $0?.intersection($1) ?? $1 })?.subtracting(named).first {
        return "\(path) is stored and did not come back, and the report does not say so\n\(seen.text)\n\(report)"
      }
      deaths = 0
      for path in rules.leftOut { change { $0.die(at: path) } }
      // What may be left out may be in a place in which nothing was made.
      // What is tried again keeps its mark until a save.
      let leavesOut = isAskedFor || !carriedPlaces.isEmpty || !report.notRestored.isEmpty
      self.rules.leavesOutAny = self.rules.leavesOutAny && leavesOut
      culprit = nil
    }
    return nil
  }

  private func bound(
    _ world: World, _ seen: Sight, _ rules: Rules, _ outcome: RestorationOutcome, _ why: inout Set<String>
  ) -> [World] {
    var world = world
    switch (outcome, world.stored) {
    case (.nothingPreserved, nil):
      world.live = Live(name: seen.name, kind: seen.kind, value: seen.value, binding: .owner(nil))
      return [world]
    case (.locked, let stored?):
      world.base = stored
      world.live = Live(name: seen.name, kind: seen.kind, value: seen.value, binding: .blank(baseline: seen.value))
      return [world]
    case (.restored, let former?):
      // What is gone may be deleted at once.
      let stored = former.map { $0.losing(rules.goneModels) }
      world.stored = stored
      var rules = rules
      if let former = world.live, world.base == nil { rules.wasOwner = { former[$0[...]]?.isOwner ?? false } }
      return world.found(rules).flatMap { world in
        rules.bind(seen, world.base ?? stored, at: [0], underOwner: true, &why).map { live in
          var world = world
          (world.base, world.live) = (nil, live)
          return world
        }
      }
    default: return []
    }
  }

  /// Compares what a page that was registered late was given.
  func compareLate(_ page: Page, at path: [Int], _ report: NodeReport?) -> String? {
    if let violation { return violation }
    var rules = rules
    // The report names the places as they were stored.
    let storedPath = report?.path.numbers ?? path
    rules.leftOut = Set(
      coordinator?.lastReport?.leftOut.map(\.numbers).map {
        $0.starts(with: storedPath) ? path + $0.dropFirst(storedPath.count) : $0
      } ?? [])
    if report?.notRestoredReason == .leftOutAfterCrash { rules.leftOut.insert(path) }
    rules.isLate = true
    let seen = sight(of: page, [ObjectIdentifier(page): 0])
    var why: Set<String> = []
    let found = worlds.flatMap { world in
      guard let parent = world.live?[path.dropLast()], let name = path.last else { return [world] }
      let stored = parent.carried[name] ?? []
      return rules.bind(seen, stored, at: path, underOwner: parent.isOwner, &why).map { live in
        var (world, live) = (world, live)
        // There was nothing to give: it comes by itself.
        if report == nil { live.unsettle() }
        world.change(path.dropLast()) { parent in
          parent.carried[name] = nil
          parent.children.append(live)
        }
        return world
      }
    }
    guard !found.isEmpty else {
      let reasons = why.sorted().joined(separator: "; or ")
      return "\(reasons)\n\(seen.text)\n\(report.map { "\($0)" } ?? "no report")"
    }
    worlds = found.distinct
    return nil
  }

  /// What is on the screen, what the last report said, and what may be stored.
  var trace: String {
    let seen = root.map { sight(of: $0, [:]).text } ?? "no process"
    let stored = Set(
      worlds.map { world in
        (world.stored.map { "\($0)" } ?? "nothing") + (world.base.map { ", locked over \($0)" } ?? "")
      })
    let report = coordinator?.lastReport.map { "\n    \($0)" } ?? ""
    return "  \(seen)\(report)\n" + stored.sorted().map { "    may be stored: \($0)\n" }.joined()
  }

  private func sight(of page: Page, _ before: [ObjectIdentifier: Int]) -> Sight {
    Sight(
      name: page.number, kind: page.kind, value: page.value, isPresented: false,
      before: before[ObjectIdentifier(page)],
      children: page.children.map { child in
        var seen = sight(of: child, before)
        seen.isPresented = child === page.presented
        return seen
      })
  }
}

/// The program's side of a coordinator.
final class SceneDelegate: RestorationCoordinatorDelegate {
  var make: (([Int]) -> Page?)?
  var lateReports: [RestorationReport] = []
  private var waiter: CheckedContinuation<Void, Never>?

  func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }

  func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }

  func makeController(at path: RestorationPath, coder: RestorationDecoder) -> (any RestorableController)? {
    make?(path.numbers)
  }

  /// The same state once more, without what was being restored: what an older generation holds the oracle does not know.
  func coordinator(_ coordinator: RestorationCoordinator, decideAfter history: CrashHistory) -> CrashDecision {
    .tryAgain
  }

  func coordinator(_ coordinator: RestorationCoordinator, didRestoreLate report: RestorationReport) {
    lateReports.append(report)
    waiter?.resume()
    waiter = nil
  }

  /// Waits for the restoration that follows an unlock; nil when there is none within two seconds.
  func lateReport() async -> RestorationReport? {
    if lateReports.isEmpty {
      let limit = Task {
        try await Task.sleep(for: .seconds(2))
        waiter?.resume()
        waiter = nil
      }
      await withCheckedContinuation { waiter = $0 }
      limit.cancel()
    }
    return lateReports.popLast()
  }
}

extension RestorationPath {
  /// The names as the oracle has them.
  var numbers: [Int] { components.map { Int($0.rawValue) ?? -1 } }
}

extension Page {
  var number: Int { Int(restorationIdentifier?.rawValue ?? "") ?? -1 }
}

extension Live {
  /// The places below it that no page is in.
  var carriedPaths: [[Int]] {
    carried.keys.sorted().map { [name, $0] } + children.flatMap { child in child.carriedPaths.map { [name] + $0 } }
  }
}

extension World {
  /// The places in which something is stored for sure, and no page is.
  var carriedForSure: Set<[Int]> {
    func below(_ page: Live, _ path: [Int]) -> [[Int]] {
      let own = page.carried.filter { $0.value.contains { !$0.isOptional } }.map { path + [$0.key] }
      return own + page.children.flatMap { below($0, path + [$0.name]) }
    }
    return Set(live.map { below($0, [$0.name]) } ?? [])
  }
}

extension Sight {
  /// The pages in one line.
  var text: String {
    let below = children.map { ($0.isPresented ? "^" : "") + $0.text }.joined(separator: " ")
    return "\(name)=\(value)" + (kind == .plain ? "" : ":\(kind)") + (below.isEmpty ? "" : "(\(below))")
  }
}
