import DataProtection
import FaultyFileSystem
import FileSystem
import FoundationEssentials
import RestorationArchive
import SimulatedTime
import StateRestoration
import StateRestorationTesting

/// Runs scripts on the engine over a simulated device and on the oracle, and says where they differ.
@MainActor package final class ScriptRunner {
  private let device: SimulatedDevice
  private let empty: SimulatedDisk
  private let dimensions: Set<Dimension>
  private var process: SimulatedProcess?
  private var scenes: [Scene] = []
  private var front = 0
  private var isLocked = false
  private var version = ProgramVersion(1)
  private var goneModels: Set<Int> = []
  /// How many steps were run so far.
  package private(set) var stepCount = 0
  /// How many scripts ended early, as too much may have been true.
  package private(set) var abandonedCount = 0
  /// Told after each step what is on the screen and what may be stored; for finding out why a script fails.
  package var trace: ((String) -> Void)?

  /// Makes a device to run scripts on, one after another.
  package init(without excluded: Set<Dimension> = []) async throws {
    device = try await SimulatedDevice(passcode: "1234", gracePeriod: .zero)
    empty = device.contents
    dimensions = Set(Dimension.allCases).subtracting(excluded)
  }

  /// Runs a script on an empty device; the first difference, nil when there is none.
  package func difference(_ steps: [Step]) async -> String? {
    end()
    device.healDisk()
    device.contents = empty
    (scenes, front, version, goneModels) = ([], 0, ProgramVersion(1), [])
    var number = 0
    do {
      try await device.unlock()
      isLocked = false
      for step in steps {
        stepCount += 1
        let callCount = device.memory?.callCount ?? 0
        let difference = try await run(step)
        if let trace {
          let calls = device.memory?.calls.dropFirst(callCount).map { "\($0.operation) \($0.name ?? "")" } ?? []
          trace("\(number) \(step)\n" + scenes.map(\.trace).joined() + "  calls: \(calls.joined(separator: ", "))\n")
        }
        // Nobody can say any more what may be there.
        if scenes.contains(where: { !$0.rules.bound.admits($0.worlds.count) }) {
          abandonedCount += 1
          return nil
        }
        if let difference { return "step \(number) \(step): \(difference)" }
        // What turns up in one step is seen before the user does the next one.
        var isSeen = scene?.isDeferred == true
        if case .register = step { isSeen = true }
        if isSeen { await finishTurns() }
        number += 1
      }
      return nil
    } catch {
      return "step \(number) \(steps[number]) threw \(error)"
    }
  }

  /// Lets everything run that waits for the main actor, and what that starts there; no other thread is waited for.
  private func finishTurns() async {
    for _ in 0..<8 {
      await withCheckedContinuation { turn in Task { @MainActor in turn.resume() } }
    }
  }

  private var scene: Scene? { front < scenes.count ? scenes[front] : nil }

  private func run(_ step: Step) async throws -> String? {
    switch step {
    case .toggleModel(let model):
      goneModels.formSymmetricDifference([1 + abs(model) % 2])
      for scene in scenes { scene.rules.goneModels = goneModels }
      return nil
    case .lock:
      guard !isLocked else { return nil }
      isLocked = true
      try await device.lock()
      return nil
    case .unlock: return try await unlock()
    case .kill:
      end()
      return nil
    case .cutPower(let mask):
      cutPower(mask)
      return nil
    case .launch(let version, let hiding, let making, let kind):
      end()
      if ProgramVersion(version).number != self.version.number { for scene in scenes { scene.forgetJoins() } }
      self.version = ProgramVersion(version)
      return try await launch(hiding: hiding, making: making, Self.kind(kind))
    case .killInLaunch(let call):
      end()
      return try await launch(dyingBeforeCall: max(call, 1))
    case .crashInLaunch(let name, let decoding):
      end()
      return try await launch(dyingIn: name, decoding: decoding != 0)
    default: break
    }
    if process == nil {
      if let difference = try await launch() { return difference }
      // The user does nothing in the turn of the launch.
      for _ in 0..<3 { await Task.yield() }
    }
    guard let scene else { return nil }
    switch step {
    case .front(let number):
      front = abs(number) % 2
      guard front >= scenes.count else { return nil }
      scenes.append(Scene("second"))
      return try await begin(scenes[front], hiding: 0, making: 0, .plain)
    case .save: return await save(scene)
    case .failingSave(let fault, let call):
      let faults: [DiskFault] = [.readOnly, .full, .failingSyncs, .unreachable]
      let chosen = faults[abs(fault) % faults.count]
      if call > 0 { device.failDisk(atCall: call, chosen) } else { device.failDisk(chosen) }
      defer { device.healDisk() }
      return await save(scene)
    case .killInSave(let call): return await dieInSave(scene, call)
    case .cutPowerInSave(let call, let mask):
      let difference = await dieInSave(scene, call)
      cutPower(mask)
      return difference
    case .restoreAgain: return try await restoreAgain(scene, asking: false)
    case .retry: return try await restoreAgain(scene, asking: true)
    case .register(let number):
      defer { scene.change { $0.meet() } }
      return register(scene, number)
    case .discard:
      try await scene.coordinator?.discard()
      scene.discard()
      return nil
    case .forget(let number):
      guard !scene.isDeferred, !scene.carriedPlaces.isEmpty else { return nil }
      let path = scene.carriedPlaces.remove(at: abs(number) % scene.carriedPlaces.count)
      guard await scene.coordinator?.forget(RestorationPath(path)) == true else { return nil }
      scene.change { world in world.change(path.dropLast()) { $0.forget(path.last ?? 0) } }
      return nil
    default:
      if isBoth(scene, step), let difference = await save(scene) { return difference }
      let left = edit(scene, step)
      // Until the next save a page that comes to the place of one that has left may be taken for it.
      return left ? await save(scene) : nil
    }
  }

  /// Whether a page would show another model and be in another place than at the last save, or have lost a page to one: nobody
  /// says where the states stay then.
  private func isBoth(_ scene: Scene, _ step: Step) -> Bool {
    let pages = scene.pages
    guard !pages.isEmpty else { return false }
    func live(_ path: ArraySlice<Int>) -> [Live] { scene.worlds.compactMap { $0.live?[path] } }
    func path(_ number: Int) -> ArraySlice<Int> { pages[abs(number) % pages.count].path[...] }
    return switch step {
    // Nor whether a model was met that is shown only between two saves.
    case .showOtherModel(let number):
      live(path(number)).contains { $0.hasMoved || $0.showsOther || !$0.departed.isEmpty }
    case .rename(let number, _), .move(let number, _):
      path(number).indices.contains { live(path(number)[...$0]).contains(where: \.showsOther) }
    // Nor where the state stays of one that has moved, could not read it, and leaves.
    case .pop(let number), .dismiss(let number):
      live(path(number)).contains { $0.contains { $0.hasMoved && $0.hasNewer } }
    default: false
    }
  }

  static func kind(_ number: Int) -> Kind { Kind(rawValue: abs(number) % Kind.allCases.count) ?? .plain }

  // MARK: - Saves

  private func save(_ scene: Scene) async -> String? {
    guard let coordinator = scene.coordinator, let root = scene.root else { return nil }
    let rules = scene.rules
    let outcome: PreservationOutcome
    do {
      outcome = try await coordinator.preserve(root)
    } catch {
      scene.worlds = scene.worlds.flatMap { $0.uncertain(rules) }.distinct
      scene.noteSave(isAcknowledged: false)
      return nil
    }
    switch outcome {
    case .preserved(let receipt) where receipt.durability == .unknown:
      scene.worlds = scene.worlds.flatMap { $0.uncertain(rules) }.distinct
      scene.noteSave(isAcknowledged: false)
    case .preserved, .unchanged:
      scene.worlds = scene.worlds.flatMap { $0.acknowledged(rules) }.distinct
      scene.noteSave(isAcknowledged: true)
    case .declined: return "the save was declined"
    case .deferred:
      guard scene.isDeferred else { return "a save of a run that has read its state was \(outcome)" }
      let untouched = scene.worlds.filter { !$0.isTouched(rules) }
      if untouched.isEmpty { return "what was edited while locked was not saved: \(outcome)" }
      scene.worlds = untouched
    }
    return nil
  }

  private func dieInSave(_ scene: Scene, _ call: Int) async -> String? {
    if let file = process?.fileSystem { file.die(beforeCall: file.callCount + max(call, 1)) }
    defer { end() }
    return await save(scene)
  }

  // MARK: - Ends

  private func end() {
    process?.fileSystem.die()
    process = nil
    for scene in scenes { scene.end() }
  }

  private func cutPower(_ mask: UInt64) {
    end()
    device.cutPower(losing: .changes(mask))
    isLocked = true
    for scene in scenes { scene.losePower() }
  }

  private func unlock() async throws -> String? {
    guard isLocked else { return nil }
    isLocked = false
    let before = scenes.map(Self.values)
    try await device.unlock()
    guard process != nil else { return nil }
    for (scene, before) in zip(scenes, before) {
      if scene.isDeferred {
        guard let report = await scene.delegate.lateReport() else { return "the unlock restored nothing" }
        if let difference = scene.compare(report, before: before) { return difference }
      } else if let difference = await save(scene) {
        return difference
      }
    }
    return nil
  }

  private static func values(of scene: Scene) -> [ObjectIdentifier: Int] {
    Dictionary(uniqueKeysWithValues: scene.pages.map { (ObjectIdentifier($0.page), $0.page.value) })
  }

  // MARK: - Launches

  private func launch(
    hiding: Int = 0, making: Int = 0, _ kind: Kind = .plain, dyingBeforeCall call: Int? = nil,
    dyingIn name: Int? = nil, decoding: Bool = false
  ) async throws -> String? {
    if isLocked, !dimensions.contains(.lockedLaunches) {
      if let difference = try await unlock() { return difference }
    }
    let process = try await device.startProcess()
    self.process = process
    if scenes.isEmpty { scenes = [Scene(.main)] }
    let file = process.fileSystem
    let isDying = (call != nil || name != nil) && scenes.allSatisfy { $0.deaths < 2 }
    if isDying, let call { file.die(beforeCall: file.callCount + call) }
    for scene in scenes {
      let former = scene.culprit
      var hit: [Int]?
      func hook(_ isDecoding: Bool) -> (([Int]) -> Void)? {
        guard isDying, let name, decoding == isDecoding else { return nil }
        return { path in
          guard hit == nil, path.last == name else { return }
          hit = path
          file.die()
        }
      }
      (scene.onFactory, scene.onDecode) = (hook(false), hook(true))
      defer { (scene.onFactory, scene.onDecode) = (nil, nil) }
      let difference = try await begin(scene, hiding: hiding, making: making, kind)
      guard isDying, !file.isAlive else {
        if let difference { return difference }
        file.die(beforeCall: .max)
        continue
      }
      // What a dead process saw counts for nothing.
      if let violation = scene.violation, former != nil { return violation }
      if let hit { scene.change { $0.die(at: hit) } } else { scene.rules.leavesOutAny = true }
      scene.deaths += 1
      // Where there are several states the next one may be tried.
      scene.culprit = hit.flatMap { path in scene.worlds.allSatisfy { $0.count(at: path) == 1 } ? path : nil }
      end()
      return nil
    }
    return nil
  }

  /// Launches one scene and restores it.
  private func begin(_ scene: Scene, hiding: Int, making: Int, _ kind: Kind) async throws -> String? {
    guard let process else { return nil }
    var configuration = RestorationConfiguration(application: "oracle")
    configuration.log = SilentRestorationLog()
    configuration.clock = device.clock
    let clock = device.clock
    configuration.now = { Date(timeIntervalSinceReferenceDate: clock.now.offset / .seconds(1)) }
    let coordinator: RestorationCoordinator
    do {
      coordinator = try RestorationCoordinator(
        device: process.device, delegate: scene.delegate, configuration: configuration, session: scene.session)
    } catch {
      if !process.fileSystem.isAlive { return nil }
      throw error
    }
    scene.rules.program = version
    scene.rules.goneModels = goneModels
    version.register(in: coordinator.registry) { [unowned scene] in !scene.rules.goneModels.contains($0) }
    scene.plan(hiding: hiding, making: making, kind)
    scene.begin(coordinator, version.page(0, .plain))
    guard let root = scene.root else { return nil }
    scene.violation = nil
    let worlds = scene.worlds
    let report = try await coordinator.restore(into: root)
    guard process.fileSystem.isAlive else {
      scene.worlds = worlds
      return nil
    }
    return scene.compare(report, before: [ObjectIdentifier(root): 0])
  }

  private func restoreAgain(_ scene: Scene, asking isAskedFor: Bool) async throws -> String? {
    guard !isLocked, !scene.isDeferred, let coordinator = scene.coordinator, let root = scene.root else { return nil }
    if let difference = await save(scene) { return difference }
    scene.plan(hiding: 0, making: 0, .plain)
    let before = Self.values(of: scene)
    let report = try await coordinator.restore(into: root, retriesLeftOut: isAskedFor)
    return scene.compare(report, before: before, asking: isAskedFor)
  }

  /// Installs a page in a place of which the last restoration made nothing, and registers it.
  private func register(_ scene: Scene, _ number: Int) -> String? {
    guard !scene.isDeferred, !scene.carriedPlaces.isEmpty, let coordinator = scene.coordinator else { return nil }
    let path = scene.carriedPlaces.remove(at: abs(number) % scene.carriedPlaces.count)
    scene.plan(hiding: 0, making: 0, .plain)
    guard let parent = scene.root?.page(at: path.dropFirst().dropLast()), let name = path.last,
      !parent.children.contains(where: { $0.number == name }), let kind = scene.rules.makes(path)
    else { return nil }
    // Below a page that shows another model now, nothing is stored for it, unless that page had none before.
    let isAnothers = Set(
      scene.worlds.map { world in
        path.dropLast().indices.contains { world.live?[path[...$0]]?.showsOther == true }
      })
    guard isAnothers.count == 1 else { return nil }
    let page = version.page(name, kind)
    parent.push(page)
    let report = coordinator.restore(page, at: RestorationPath(path))
    guard report == nil, isAnothers.contains(true) else { return scene.compareLate(page, at: path, report) }
    scene.change { $0.push(name, kind, on: path.dropLast()) }
    return nil
  }

  // MARK: - The user

  /// - Returns: Whether a page has left below which something was carried over.
  private func edit(_ scene: Scene, _ step: Step) -> Bool {
    let pages = scene.pages
    func pick(_ number: Int) -> (path: [Int], page: Page) { pages[abs(number) % pages.count] }
    func isFree(_ name: Int, in parent: (path: [Int], page: Page)) -> Bool {
      !parent.page.children.contains { $0.number == name }
        && (dimensions.contains(.collisions) || !scene.isCarried(parent.path, name))
    }
    func remove(_ page: Page) {
      for other in pages { other.page.remove(page) }
      scene.carriedPlaces = []
    }
    func leave(_ path: [Int], _ page: Page) -> Bool {
      defer { scene.change { $0.take(path) } }
      remove(page)
      return scene.worlds.contains { $0.live?[path[...]]?.hasCarried == true }
    }
    switch step {
    case .push(let parent, let name, let kind):
      let parent = pick(parent)
      let kind = version.known(Self.kind(kind))
      guard isFree(name, in: parent) else { return false }
      parent.page.push(version.page(name, kind))
      scene.change { $0.push(name, kind, on: parent.path) }
      scene.carriedPlaces = []
    case .present(let parent, let name, let kind):
      let parent = pick(parent)
      let kind = version.known(Self.kind(kind))
      guard isFree(name, in: parent), !scene.worlds.contains(where: { $0.hasPresented(below: parent.path) }) else {
        return false
      }
      parent.page.present(version.page(name, kind))
      scene.change { $0.push(name, kind, on: parent.path, isPresented: true) }
      scene.carriedPlaces = []
    case .dismiss(let parent):
      let parent = pick(parent)
      guard let presented = parent.page.presented else { return false }
      return leave(parent.path + [presented.number], presented)
    case .pop(let number):
      let (path, page) = pick(number)
      guard path.count > 1 else { return false }
      return leave(path, page)
    case .edit(let number, let value):
      let (path, page) = pick(number)
      page.value = value
      scene.change { world in world.change(path) { $0.value = value } }
    case .rename(let number, let name):
      let (path, page) = pick(number)
      guard path.count > 1, let parent = pages.first(where: { $0.path == path.dropLast() }), isFree(name, in: parent)
      else { return false }
      page.restorationIdentifier = RestorationIdentifier("\(name)")
      scene.movePlaces(scene.carriedPlaces, from: path, to: parent.path + [name])
      scene.change { $0.move(path, to: parent.path, as: name) }
    case .move(let number, let target):
      let (path, page) = pick(number)
      let parent = pick(target)
      guard path.count > 1, !parent.path.starts(with: path), parent.page.presented !== page,
        !pages.contains(where: { $0.page.presented === page }), isFree(page.number, in: parent)
      else { return false }
      let places = scene.carriedPlaces
      remove(page)
      parent.page.push(page)
      scene.movePlaces(places, from: path, to: parent.path + [page.number])
      scene.change { $0.move(path, to: parent.path, as: page.number) }
    case .reverse(let number): pick(number).page.reverse()
    case .showOtherModel(let number):
      let (path, page) = pick(number)
      guard let kind = page.kind.otherModel else { return false }
      page.show(kind)
      let rules = scene.rules
      // What it was edited to before may have been met, when another page was registered.
      scene.worlds = (scene.worlds + scene.worlds.flatMap { $0.meeting(path, rules) }).distinct
      let staying = scene.worlds.compactMap { $0.staying(path, kind, rules) }
      scene.change { world in
        let isLocked = world.base != nil
        world.change(path) { page in
          // Looks at the edits come at any time while locked.
          if isLocked, page.hasEdits { page.formerly.append(rules.optionalVariant(of: page)) }
          if case .owner(let own?) = page.binding {
            // What it was given may have become its own before.
            if !rules.program.isSameIdentity(rules.variant(of: page), own) {
              page.behind.append(rules.variant(of: page).asOptional())
            }
          } else if !isLocked, page.isOwner || page.isEdited {
            page.behind.insert(rules.optionalVariant(of: page), at: 0)
          }
          // Or it is still stored as it was given.
          if let given = page.given { page.behind.append(given.asOptional()) }
          page.given = nil
          page.kind = kind
          page.showsOther = true
          if case .below(let newer, let baseline) = page.binding {
            // It is another's from now on.
            page.binding = .blank(baseline: baseline)
            page.behind.insert(newer, at: 0)
            // Rules leave open whether what is below it stays there.
            page.loosenBelow()
          }
          // It comes by itself, with everything below it.
          page.unsettle()
          if isLocked { page.forgetEdits() }
        }
      }
      scene.worlds = (scene.worlds + staying).distinct
    default: break
    }
    return false
  }
}

extension RestorationPath {
  init(_ numbers: [Int]) { self.init(numbers.map { RestorationIdentifier("\($0)") }) }
}

extension World {
  /// Whether a page presents another, or would if the program made it.
  func hasPresented(below path: [Int]) -> Bool {
    guard let page = live?[path[...]] else { return false }
    return page.children.contains(where: \.isPresented)
      || page.carried.values.contains { $0.contains(where: \.isPresented) }
  }
}
