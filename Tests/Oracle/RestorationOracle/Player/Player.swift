import DataProtection
import Dispatch
import FaultyFileSystem
import FileSystem
import FoundationEssentials
import RestorationArchive
import SimulatedTime
import StateRestoration
import StateRestorationTesting
import Synchronization

/// Plays scripts to the engine over a simulated device and to the tables, and says where they differ.
@MainActor package final class Player {
  private let device: SimulatedDevice
  private let empty: SimulatedDevice.Disk
  private let dimensions: Set<Dimension>
  private var process: SimulatedProcess?
  private var coordinator: RestorationCoordinator?
  private let delegate = PlayerDelegate()
  private var root: Page?
  private var worlds = [World()]
  private var program = ProgramVersion(1)
  private var knowledge = ProgramVersion(1).knowledge
  private var launch = Step.Launch()
  /// When the run restored last, in seconds.
  private var restoredAt = 0
  private var isLocked = false
  /// Whether the device was not unlocked since it was started.
  private var isBeforeFirstUnlock = false
  /// The class of protection of what names none: that of the next launch, and of this run.
  private var nextProtection = Protection.complete
  private var protection = Protection.complete
  /// Whether something was written before the first unlock in a class that is readable after it: that part reads as another class
  /// until it is written again, and the tables don't follow that.
  private var isUnknown = false
  /// The items that were in rows of two classes at once.
  private var sharedItems: Set<Int> = []
  /// Whether the script has other classes of protection than that.
  private var hasClasses = false
  private var goneModels: Set<String> = []
  private var refused: Set<Int> = []
  private var unencodable: Set<Int> = []
  /// What the program makes at a path, as a program knows from its own data.
  private var plan: [[String]: (kind: PageClass, model: String?, protection: Protection?)] = [:]
  /// Where restoring died since it ended well the last time: a path, or somewhere.
  private var deaths: [Death] = []
  private var violation: String?
  /// The newest generation, and what the one before it has; nil where that is not known.
  private var newest: (generation: UInt64, before: Table?)?
  /// Whether a generation was damaged, and nothing was saved since: after a death in the one before nothing is restored.
  private var isFallback = false
  /// How many steps were run so far.
  package private(set) var stepCount = 0
  /// How many scripts ended early, as too much may have been true.
  package private(set) var abandonedCount = 0
  /// Told after each step what is on the screen and what may be stored; for finding out why a script fails.
  package var trace: ((String) -> Void)?

  private struct Death {
    var path: [String]?
    var isDecoding = false
    /// The version of the program that died.
    var version = 1
  }

  /// Makes a device to run scripts on, one after another.
  package init(without excluded: Set<Dimension> = []) async throws {
    device = try await SimulatedDevice(passcode: "1234", gracePeriod: .zero)
    // A run with a settled passcode, clock and disk waits for nothing else: many turns only take time.
    device.settlingTurns = 10
    empty = device.contents
    dimensions = Set(Dimension.allCases).subtracting(excluded)
  }

  /// The paths of all pages on the screen, parents first, with what they hold.
  package var screen: [(path: PagePath, kind: PageClass)] {
    pages.map { (PagePath($0.path), $0.page.kind) }
  }

  private var pages: [(path: [String], page: Page)] {
    func below(_ page: Page, _ path: [String]) -> [(path: [String], page: Page)] {
      [(path, page)] + page.pages.flatMap { below($0, path + [$0.name]) }
    }
    return root.map { below($0, [$0.name]) } ?? []
  }

  /// Whether the program was launched on a locked device and not unlocked since.
  package var isDeferred: Bool { worlds.contains { $0.life.isLocked } }

  // MARK: - Scripts

  /// Begins on an empty device.
  package func begin() async throws {
    end()
    device.healDisk()
    device.contents = empty
    (worlds, program, launch, plan, deaths) = ([World()], ProgramVersion(1), Step.Launch(), [:], [])
    (goneModels, refused, unencodable, violation) = ([], [], [], nil)
    (newest, isFallback, sharedItems) = (nil, false, [])
    if isLocked { try await device.unlock() }
    (isLocked, isBeforeFirstUnlock) = (false, false)
    (nextProtection, protection, hasClasses, isUnknown) = (.complete, .complete, false, false)
    isProgramWordy.withLock { $0 = false }
  }

  /// Plays a script on an empty device; the first difference, nil when there is none.
  package func difference(_ steps: [Step]) async -> String? {
    do {
      try await begin()
    } catch {
      return "the device could not be unlocked: \(error)"
    }
    for (number, step) in steps.enumerated() {
      guard isPossible else { return nil }
      if let difference = await play(step) { return "step \(number + 1), \(step): \(difference)" }
    }
    return nil
  }

  /// Whether the script goes on: false when too much may be true by now.
  package var isPossible: Bool {
    if worlds.count <= 24, !isUnknown { return true }
    abandonedCount += 1
    return false
  }

  /// Plays one step; a difference, nil when there is none.
  package func play(_ step: Step) async -> String? {
    stepCount += 1
    // So that no two saves are of one time.
    device.clock.advance(by: .seconds(1))
    do {
      let difference = try await run(step) ?? violation ?? compareScreen()
      // The user does nothing in a turn that restores.
      if step.restores || isDeferred { await finishTurns() }
      if isDeferred {
        let known = known()
        change { $0.endTurn(known) }
      }
      if let trace {
        trace("\(step)\n" + describe() + (difference.map { "  DIFFERENCE \($0)\n" } ?? ""))
      }
      return difference
    } catch {
      return "threw \(error)"
    }
  }

  private func run(_ step: Step) async throws -> String? {
    switch step {
    case .toggle(let model):
      goneModels.formSymmetricDifference([model])
      knowledge.goneModels = goneModels
      return nil
    case .wait(let seconds):
      device.clock.advance(by: .seconds(seconds))
      return nil
    case .lock:
      guard !isLocked else { return nil }
      isLocked = true
      try await device.lock()
      return nil
    case .unlock: return try await unlock()
    case .configure(let protection):
      (nextProtection, hasClasses) = (protection, true)
      isProgramWordy.withLock { $0 = true }
      return nil
    case .kill:
      end()
      return nil
    case .cutPower(let mask):
      cutPower(mask)
      return nil
    case .damage:
      end()
      damage()
      return nil
    case .launch(let launch):
      end()
      return try await start(launch)
    case .killInLaunch(let call):
      end()
      return try await start(Step.Launch(), dyingBeforeCall: max(call, 1))
    case .crashInLaunch(let name, let decoding):
      end()
      return try await start(Step.Launch(), dyingIn: name, decoding: decoding)
    default: break
    }
    if process == nil {
      if let difference = try await start(Step.Launch()) { return difference }
      await finishTurns()
    }
    switch step {
    case .save: return try await save() ?? checkSecrecy()
    case .failingSave(let fault, let call):
      let faults: [SimulatedDevice.DiskFault] = [.readOnly, .full, .failingSyncs, .unreachable]
      let chosen = faults[abs(fault) % faults.count]
      if call > 0 { device.failDisk(atCall: call, chosen) } else { device.failDisk(chosen) }
      defer { device.healDisk() }
      return await save(isDisturbed: true)
    case .killInSave(let call): return await dieInSave(call)
    case .cutPowerInSave(let call, let mask):
      let difference = await dieInSave(call)
      cutPower(mask)
      return difference
    case .restoreAgain: return try await restoreAgain(retrying: false)
    case .retry: return try await restoreAgain(retrying: true)
    case .restoreLate(let path): return restoreLate(path.names)
    case .forget(let path): return await forget(path.names)
    case .discard:
      guard !isLocked, !isDeferred else { return nil }
      try await coordinator?.discard()
      for index in worlds.indices {
        worlds[index].life.discard()
        worlds[index].fallbacks = []
      }
      (deaths, newest) = ([], nil)
      return nil
    default:
      edit(step)
      return nil
    }
  }

  /// Lets everything run that waits for the main actor, and what that starts there; no other thread is waited for.
  private func finishTurns() async {
    for _ in 0..<8 { await MainQueue.shared.turn() }
  }

  private var now: Int { Int(device.clock.now.offset / .seconds(1)) }

  /// Changes all that may be true.
  private func change(_ body: (inout Life) -> Void) {
    for index in worlds.indices { body(&worlds[index].life) }
    worlds = worlds.distinct
  }

  private func known() -> Knowledge {
    var known = knowledge
    known.goneModels = goneModels
    known.refused = launch.isStrict ? refused : []
    known.unencodable = unencodable
    (known.now, known.restoredAt) = (now, restoredAt)
    return known
  }

  // MARK: - The user

  private func page(at path: [String]) -> Page? {
    guard path.first == root?.name else { return nil }
    return root?.page(at: path.dropFirst())
  }

  private func edit(_ step: Step) {
    func change(_ path: [String], _ body: (inout Object) -> Void) {
      self.change { life in
        guard let id = life.object(at: path) else { return }
        body(&life.objects[id]!)
        life.objects[id]!.isTouched = true
      }
    }
    func fill(_ path: [String], _ value: Int, _ bytes: Int, isUnencodable: Bool = false, isRefused: Bool = false) {
      guard let page = page(at: path) else { return }
      if isUnencodable { unencodable.insert(value) }
      if isRefused { refused.insert(value) }
      var content = page.content
      content.items = page.kind == .diary ? (content.items + [value]).distinct : [value]
      content.filling = bytes
      content.isUnencodable = !unencodable.isDisjoint(with: content.items)
      content.isRefused = !refused.isDisjoint(with: content.items)
      page.content = content
      change(path) { $0.value = Value(content.items, filling: content.filling) }
    }
    switch step {
    case .push(let path, let kind, let model, let value, let bytes, let presented, let protection):
      push(path.names, kind, model, presented, protection)
      if value > 0 || bytes > 0, page(at: path.names)?.content == PageContent() { fill(path.names, value, bytes) }
    case .many(let path, let count, let bytes):
      pushMany(path.names, count, bytes)
    case .edit(let path, let value, let bytes): fill(path.names, value, bytes)
    case .editUnencodable(let path, let value): fill(path.names, value, 0, isUnencodable: true)
    case .editRefused(let path, let value): fill(path.names, value, 0, isRefused: true)
    case .close(let path):
      guard path.names.count > 1, let page = page(at: path.names), let parent = self.page(at: path.parent.names) else {
        return
      }
      parent.remove(page)
      self.change { life in life.object(at: path.names).map { life.remove($0) } }
    case .rename(let path, let name):
      guard path.names.count > 1, let page = page(at: path.names), !name.isEmpty else { return }
      page.restoration.identifier = RestorationIdentifier(name)
      self.page(at: path.parent.names)?.namesHaveChanged()
      change(path.names) { $0.identifier = name }
    case .move(let path, let target):
      guard path.names.count > 1, !target.names.starts(with: path.names), let page = page(at: path.names),
        let former = self.page(at: path.parent.names), let parent = self.page(at: target.names)
      else { return }
      former.remove(page)
      parent.push(page)
      self.change { life in
        guard let id = life.object(at: path.names), let target = life.object(at: target.names) else { return }
        life.move(id, to: target)
      }
    case .reverse(let path):
      page(at: path.names)?.reverse()
      change(path.names) { $0.children.reverse() }
    case .protect(let path, let protection):
      guard path.names.count > 1 else { return }
      if protection != nil { hasClasses = true }
      page(at: path.names)?.restoration.protection = protection?.ofDevice
      change(path.names) { $0.protection = protection }
    case .show(let path, let model, let value):
      // The page leaves its row as it is, with all rows below.
      if page(at: path.names)?.restoration.model?.rawValue != model { noteShared(below: path.names) }
      page(at: path.names)?.restoration.model = model.map { ModelIdentifier(rawValue: $0) }
      change(path.names) { $0.model = model }
      if value > 0 { fill(path.names, value, 0) }
    default: break
    }
  }

  /// Notes what may be in parts of two classes from now on: what pages have had in one stays there.
  private func noteShared(below path: [String]) {
    guard let page = page(at: path) else { return }
    var waiting = [page]
    while let next = waiting.popLast() {
      sharedItems.formUnion(next.content.items)
      waiting += next.pages
    }
  }

  private func push(
    _ path: [String], _ wanted: PageClass, _ model: String?, _ isPresented: Bool, _ protection: Protection?
  ) {
    if protection != nil { hasClasses = true }
    guard let parent = page(at: path.dropLast()), let name = path.last, path.count > 1 else { return }
    let kind = program.known(wanted)
    let page = program.page(name, kind, model: model)
    page.isPresented = isPresented
    page.restoration.protection = protection?.ofDevice
    parent.push(page)
    let tag = program.tag(of: kind)
    change { life in
      guard let parent = life.object(at: path.dropLast()) else { return }
      _ = life.add(
        Object(
          identifier: name, tag: tag, model: model, parent: parent, isPresented: isPresented, protection: protection))
    }
  }

  private func pushMany(_ path: [String], _ count: Int, _ bytes: Int) {
    guard let parent = page(at: path) else { return }
    let taken = Set(parent.pages.map(\.name))
    let added = (0..<count).map { ("n\($0)", Value([1_000_000 + $0], filling: bytes)) }.filter { !taken.contains($0.0) }
    for (name, value) in added {
      let page = program.page(name, .plain, model: nil)
      (page.content.items, page.content.filling) = (value.items, value.filling)
      parent.push(page)
    }
    let tag = program.tag(of: .plain)
    change { life in
      guard let parent = life.object(at: path) else { return }
      for (name, value) in added { _ = life.add(Object(identifier: name, tag: tag, value: value, parent: parent)) }
    }
  }

  // MARK: - Saves

  private func save(isDisturbed: Bool = false) async -> String? {
    guard let coordinator, let root else { return nil }
    if isBeforeFirstUnlock, hasClasses, !isDeferred, protection == .first || usesFirst {
      isUnknown = true
    }
    let known = known()
    let preserved: PreservationOutcome
    do {
      preserved = try await coordinator.preserve(root)
    } catch {
      guard isDisturbed else { return "a save failed: \(error)" }
      worlds = worlds.flatMap { $0.saving(known) }.distinct
      newest = nil
      return nil
    }
    if case .preserved(let receipt) = preserved {
      guard receipt.durability == .durable else {
        guard isDisturbed else { return "nobody knows whether a save was written" }
        worlds = worlds.flatMap { $0.saving(known) }.distinct
        newest = nil
        return nil
      }
      noteGeneration(receipt)
    }
    if ReportComparison.isRoomAwaited(preserved) {
      let waiting = worlds.compactMap { $0.waitingForRoom(known) }.distinct
      guard !waiting.isEmpty else { return "a save waits for room, and there is something to lose" }
      worlds = waiting
      return nil
    }
    var first: String?
    worlds =
      worlds.compactMap { world in
        var world = world
        let isLocked = world.life.isLocked && !world.life.isPartlyRead
        let outcome = world.save(known, isDeferred: ReportComparison.isDeferred(preserved))
        let difference = ReportComparison.difference(preserved, outcome, isLocked: isLocked)
        first = first ?? difference
        return difference == nil ? world : nil
      }.distinct
    return worlds.isEmpty ? first : nil
  }

  /// What the generation before the newest has is known after a whole one that followed a certain state.
  private func noteGeneration(_ receipt: PreservationOutcome.Receipt) {
    // A save that is sealed while locked makes no generation.
    if receipt.kind == .whole || receipt.kind == .change { isFallback = false }
    if receipt.kind == .whole {
      let isCertain =
        newest != nil && worlds.count == 1 && worlds[0].fallbacks.isEmpty && worlds[0].life.pending.isEmpty
      newest = hasClasses ? nil : (receipt.generation, isCertain ? worlds[0].life.stored : nil)
    } else if receipt.kind != .change || receipt.generation != newest?.generation {
      newest = nil
    }
  }

  /// Changes a byte of the newest generation's file: from now on the one before is the newest.
  private func damage() {
    guard deaths.isEmpty, worlds.count == 1, worlds[0].fallbacks.isEmpty,
      worlds[0].life.pending.isEmpty, case (let generation, let before?)? = newest, let disk = device.memory
    else { return }
    for slot in disk.names(atPath: "/device/archives") {
      let path = "/device/archives/\(slot)/g-\(generation)"
      guard var bytes = disk.content(atPath: path), bytes.count > 200 else { continue }
      bytes[200] ^= 0xff
      disk.plant(bytes, atPath: path)
      worlds[0].life.stored = before
      (newest, isFallback) = (nil, true)
    }
  }

  private func dieInSave(_ call: Int) async -> String? {
    if let file = process?.fileSystem { file.die(beforeCall: file.callCount + max(call, 1)) }
    let (before, wasFallback) = (worlds, isFallback)
    let difference = await save(isDisturbed: true)
    // What a dead process says counts for nothing.
    if difference != nil { worlds = before.flatMap { $0.saving(known()) }.distinct }
    (newest, isFallback) = (nil, wasFallback)
    end()
    return nil
  }

  // MARK: - Ends

  private func end() {
    for (path, page) in pages {
      plan[path] = (page.kind, page.restoration.model?.rawValue, Protection(page.restoration.protection))
    }
    process?.fileSystem.die()
    (process, coordinator, root) = (nil, nil, nil)
    for index in worlds.indices { worlds[index].end() }
    worlds = worlds.distinct
  }

  private func cutPower(_ mask: UInt64) {
    end()
    device.cutPower(losing: .changes(mask))
    (isLocked, isBeforeFirstUnlock) = (true, true)
    worlds = worlds.flatMap { $0.afterPowerCut() }.distinct
    // A restart of the machine is nobody's fault the first time.
    if !deaths.isEmpty { deaths = [Death(path: nil)] }
  }

  private func unlock() async throws -> String? {
    guard isLocked else { return nil }
    (isLocked, isBeforeFirstUnlock) = (false, false)
    let isDeferred = isDeferred
    try await device.unlock()
    guard process != nil, isDeferred else { return nil }
    restoredAt = now
    guard worlds.contains(where: { $0.life.waitsForUnlock }) else {
      await finishTurns()
      guard delegate.lateReports.isEmpty else { return "the unlock restored, and nothing waited for it" }
      change { $0.goOnUnlocked() }
      return nil
    }
    worlds.removeAll { !$0.life.waitsForUnlock }
    guard let report = await delegate.lateReport() else { return "the unlock restored nothing" }
    if let difference = leaveOut() { return "\(difference)\n\(report)" }
    deaths = []
    return compare(report) { life, factory, known in life.unlock(make: factory, known) }
  }

  // MARK: - Launches

  private func start(
    _ wanted: Step.Launch, dyingBeforeCall call: Int? = nil, dyingIn name: String? = nil, decoding: Bool = false
  ) async throws -> String? {
    launch = wanted
    protection = nextProtection
    program = ProgramVersion(launch.version)
    knowledge = program.knowledge
    isProgramStrict.withLock { $0 = wanted.isStrict }
    if isLocked, !dimensions.contains(.lockedLaunches) {
      if let difference = try await unlock() { return difference }
    }
    restoredAt = now
    let process = try await device.startProcess()
    self.process = process
    let file = process.fileSystem
    let isDying = (call != nil || name != nil) && deaths.count < 2 && !isFallback
    if isDying, let call { file.die(beforeCall: file.callCount + call) }
    var hit: Death?
    let version = program.number
    let hook = { (path: [String], isDecoding: Bool) in
      guard isDying, name == path.last, decoding == isDecoding, hit == nil, path.count > 1 else { return }
      hit = Death(path: path, isDecoding: isDecoding, version: version)
      file.die()
    }
    (delegate.onFactory, delegate.onDecode) = ({ hook($0, false) }, { hook($0, true) })
    defer { (delegate.onFactory, delegate.onDecode) = (nil, nil) }
    let report = try await restore(process)
    guard file.isAlive, let report else {
      if let difference = leaveOut(isCertain: false) { return difference }
      deaths.append(hit ?? Death(path: nil))
      end()
      return nil
    }
    file.die(beforeCall: .max)
    // Where nothing was ever stored, there is nothing to wait for.
    let away = isLocked && report.outcome != .nothingPreserved ? awayNow : []
    let isLocked = !away.isEmpty
    let root = Object(identifier: "root", tag: program.tag(of: .plain), model: launch.model)
    if !isLocked, let difference = leaveOut() { return "\(difference)\n\(report)" }
    let difference = compare(report) { life, factory, known in
      life.launch(root, away: away, protection: protection, make: factory, known)
    }
    if !isLocked { deaths = [] }
    return difference
  }

  /// Launches, and restores; nil when the process has died.
  private func restore(_ process: SimulatedProcess) async throws -> RestorationReport? {
    var configuration = RestorationConfiguration(application: "oracle")
    configuration.log = .silent
    configuration.protection = protection.ofDevice
    configuration.clock = device.clock
    let clock = device.clock
    configuration.now = { Date(timeIntervalSinceReferenceDate: clock.now.offset / .seconds(1)) }
    do {
      let coordinator = try RestorationCoordinator(
        device: process.device, delegate: delegate, configuration: configuration, window: .main)
      self.coordinator = coordinator
      program.register(in: coordinator.registry) { [unowned self] in
        !goneModels.contains($0)
      } make: { [unowned self] in
        make($0, $1)
      }
      delegate.lateReports = []
      delegate.make = { [unowned self] in make($0, nil) }
      let root = program.page("root", .plain, model: launch.model)
      self.root = root
      return try await coordinator.restore(into: root)
    } catch {
      if !process.fileSystem.isAlive { return nil }
      throw error
    }
  }

  /// What restoring died at is left out: in the report, and in the tables.
  ///
  /// - Parameter isCertain: Whether that was written; else it may have been.
  private func leaveOut(isCertain: Bool = true) -> String? {
    // Both generations may tell of it.
    if !deaths.isEmpty { newest = nil }
    let known = known()
    let seen = deaths.last
    guard let place = coordinator?.placeOfDeath else {
      guard isCertain, let path = seen?.path else { return nil }
      worlds.removeAll { world in
        guard world.life.stored != nil, let table = world.life.loaded(known) else { return false }
        return table.row(at: path) != nil
      }
      return worlds.isEmpty ? "restoring died at \(path.joined(separator: "/")), and nothing is left out" : nil
    }
    let path = place.steps.map(\.identifier)
    guard let seen else { return "\(path.joined(separator: "/")) was left out, but restoring did not die" }
    if let died = seen.path, died != path {
      return "\(path.joined(separator: "/")) was left out, but restoring died at \(died.joined(separator: "/"))"
    }
    let found = worlds.flatMap { world -> [World] in
      guard let table = world.life.loaded(known),
        let row = table.row(at: place.steps.map { ($0.identifier, $0.tag, $0.model) }, known)
      else { return [] }
      let given = table.candidates(row, retrying: false, joins: known.joins(table[row].key.tag), known).first
      // Where an object was seen decoding, it was the record that it is given: another version may be given another one.
      if seen.isDecoding, seen.version == known.version, !known.joins(table[row].key.tag), let record = place.record,
        table[row].records.indices.contains(record), table[row].records[record].number != given?.number
      {
        return []
      }
      var left = world
      left.life.die(at: row, record: place.record, known)
      return isCertain ? [left] : [world, left]
    }.distinct
    guard !found.isEmpty else { return "\(path.joined(separator: "/")) was left out, and the tables have no such row" }
    worlds = found
    return nil
  }

  private func restoreAgain(retrying: Bool) async throws -> String? {
    guard !isLocked, !isDeferred, let coordinator, let root else { return nil }
    if let difference = await save() { return difference }
    (launch.hiding, launch.replacing, launch.misnaming) = (nil, nil, nil)
    restoredAt = now
    let report = try await coordinator.restore(into: root, retriesLeftOut: retrying)
    return compare(report) { life, factory, known in life.restoreAgain(retrying: retrying, make: factory, known) }
  }

  private func restoreLate(_ path: [String]) -> String? {
    guard !isLocked, !isDeferred, path.count > 1, let page = page(at: path), let coordinator else { return nil }
    let parent = path.dropLast()
    guard self.page(at: Array(parent))?.pages.count(where: { $0.name == path.last }) == 1 else { return nil }
    (launch.hiding, launch.replacing, launch.misnaming) = (nil, nil, nil)
    _ = coordinator.restore(page, at: RestorationPath(PagePath(path)))
    return compare(nil) { life, factory, known in
      life.object(at: path).map { life.restoreLate($0, make: factory, known) } ?? Outcome()
    }
  }

  private func forget(_ path: [String]) async -> String? {
    guard !isLocked, !isDeferred, path.count > 1, page(at: path) == nil, page(at: path.dropLast()) != nil else {
      return nil
    }
    let known = known()
    let isForgotten = await coordinator?.forget(RestorationPath(PagePath(path))) ?? false
    var first: String?
    worlds =
      worlds.compactMap { world in
        var world = world
        guard world.life.forget(path, known) == isForgotten else {
          first = isForgotten ? "nothing was there to forget" : "nothing was forgotten"
          return nil
        }
        return world
      }.distinct
    return worlds.isEmpty ? first : nil
  }

  // MARK: - The program

  /// What the program makes at a path: as a class, or as the delegate.
  private func plan(
    _ path: [String], _ kind: PageClass?
  ) -> (kind: PageClass, model: String?, protection: Protection?)? {
    guard let name = path.last, name != launch.hiding else { return nil }
    let planned = plan[path]
    var model = launch.isUnnamed ? nil : planned?.model
    if let known = model, goneModels.contains(known) { model = nil }
    if let kind { return (kind, model, planned?.protection) }
    return (program.known(name == launch.replacing ? launch.by : planned?.kind ?? .plain), model, planned?.protection)
  }

  private func make(_ path: [String], _ kind: PageClass?) -> Page? {
    guard path.count > 1, let name = path.last else { return nil }
    // A class answers with the page that is there; the delegate leaves that to the coordinator.
    if let existing = page(at: path) { return kind == nil ? nil : existing }
    delegate.onFactory?(path)
    guard let planned = plan(path, kind) else { return nil }
    let page = program.page(name == launch.misnaming ? "misnamed" : name, planned.kind, model: planned.model)
    page.restoration.protection = planned.protection?.ofDevice
    page.onDecode = { [unowned self] in delegate.onDecode?(path) }
    return page
  }

  /// The same for the tables.
  private func factory(_ path: [String], _ row: Row) -> Object? {
    guard let name = path.last, name != launch.misnaming else { return nil }
    let kind = program.kind(of: row.key.tag).flatMap { program.makesItself($0) ? $0 : nil }
    guard let planned = plan(path, kind) else { return nil }
    return Object(
      identifier: name, tag: program.tag(of: planned.kind), model: planned.model, protection: planned.protection)
  }

  // MARK: - Comparing

  /// Plays a turn that gives to all worlds; those that see something else than what is on the screen are gone.
  private func compare(
    _ report: RestorationReport?, _ turn: (inout Life, Life.Factory, Knowledge) -> Outcome
  ) -> String? {
    let known = known()
    let seen = sight()
    var differences: [String] = []
    let found = worlds.compactMap { world -> World? in
      var world = world
      let isStored = world.life.stored != nil || !world.life.pending.isEmpty
      let outcome = turn(&world.life, { self.factory($0, $1) }, known)
      var difference = pair(seen, world.life.sight).flatMap { $0.difference($1, at: "") }
      if let report, difference == nil {
        difference = ReportComparison.difference(
          report, outcome, isStored: isStored,
          isLocked: world.life.isLocked && !world.life.isPartlyRead)
      }
      if let difference, differences.count < 3 {
        differences.append("\(difference)\n  seen:   \(seen?.text ?? "")\n  tables: \(world.life.sight?.text ?? "")")
      }
      return difference == nil ? world : nil
    }
    guard found.isEmpty else {
      worlds = found.distinct
      return nil
    }
    return differences.distinct.joined(separator: "\nor ") + (report.map { "\n\($0)" } ?? "")
  }

  private func compareScreen() -> String? {
    guard let seen = sight() else { return nil }
    let found = worlds.filter { $0.life.sight == seen }
    guard found.isEmpty else { return nil }
    return pair(seen, worlds.first?.life.sight).flatMap { $0.difference($1, at: "") }
      ?? "the screen is \(seen.text)"
  }

  private func sight() -> Sight? { root.map { sight(of: $0) } }

  private func sight(of page: Page) -> Sight {
    Sight(
      name: page.name, tag: program.tag(of: page.kind), model: page.restoration.model?.rawValue,
      value: Value(page.content.items, filling: page.content.filling), isPresented: page.isPresented,
      children: page.pages.map { sight(of: $0) })
  }

  private var usesFirst: Bool {
    pages.contains { $0.page.restoration.protection == Protection.first.ofDevice }
      || worlds.contains { $0.life.stored?.rows.values.contains { $0.protection == .first } ?? false }
  }

  /// The classes that have no key now.
  private var awayNow: Set<Protection> {
    isLocked ? isBeforeFirstUnlock ? [.first, .complete] : [.complete] : []
  }

  /// What the key of a weaker class opens tells nothing of what has a stronger one.
  private func checkSecrecy() throws -> String? {
    guard hasClasses, worlds.count == 1, let process, process.fileSystem.isAlive, let stored = worlds[0].life.stored
    else { return nil }
    var items: [Protection: Set<Int>] = [:]
    for row in stored.rows.values {
      items[row.protection, default: []].formUnion(row.records.flatMap(\.value.items))
    }
    // Those that have been in two classes at once may be in earlier changes of the weaker part.
    for (one, other) in [(Protection.none, Protection.first), (.none, .complete), (.first, .complete)] {
      sharedItems.formUnion((items[one] ?? []).intersection(items[other] ?? []))
    }
    let slot = ArchiveSlot(application: "oracle", scene: RestoredWindow.ID.main.rawValue)
    let store = try process.device.archives(for: slot, protection: protection.ofDevice)
    store.keepState()
    guard let opened = try? store.openNewestParts() else { return nil }
    var archives = opened.parts.compactMap { part -> (OpenedArchive, Protection)? in
      guard case .opened(let archive) = part.state else { return nil }
      return Protection(part.protection).map { (archive, $0) }
    }
    // An acknowledged save removes a secret from the generation before as well.
    if let older = try? store.openPredecessor() { archives.append((older, protection)) }
    for (archive, found) in archives {
      let pieces = try [archive.read(0..<archive.byteCount)] + archive.frames
      let text = pieces.map { String(decoding: $0, as: UTF8.self) }.joined()
      let weaker = Protection.allCases.filter { $0.rawValue <= found.rawValue }
      let stronger = Protection.allCases.filter { $0.rawValue > found.rawValue }
      // Item 0 is in every page that has nothing but its filling.
      let secret = Set(stronger.flatMap { items[$0] ?? [] }).subtracting(weaker.flatMap { items[$0] ?? [] })
        .subtracting(sharedItems).subtracting([0])
      if let item = secret.first(where: { text.contains(word($0)) }) {
        return
          "the part of class \(found) of generation \(archive.generation) has item \(item), whose class is stronger"
      }
    }
    return nil
  }

  private func describe() -> String {
    let seen = "  screen: \(sight()?.text ?? "no process")\n"
    let report = coordinator?.lastReport.map { "    \($0)\n" } ?? ""
    return seen + report
      + worlds.map { world in
        "  stored: \(world.life.stored?.text ?? "nothing")"
          + world.life.pending.map { ", locked: \($0.text)" }.joined()
          + (world.life.isPartlyRead ? "\n  beside: \(world.life.table.text)" : "") + "\n"
      }.joined()
  }
}

/// The main actor's queue, as an actor of its own: going there and back lets all run that waits, and occupies no other thread.
private actor MainQueue {
  static let shared = MainQueue()

  private final class Executor: SerialExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      DispatchQueue.main.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
  }

  private let executor = Executor()
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  private var turns = 0

  /// Waits for a turn.
  func turn() {
    // The compiler leaves the way to an actor away on which nothing is done.
    turns += 1
  }
}

/// The program's side of a coordinator.
final class PlayerDelegate: RestorationCoordinatorDelegate {
  var make: (([String]) -> Page?)?
  var onFactory: (([String]) -> Void)?
  var onDecode: (([String]) -> Void)?
  var lateReports: [RestorationReport] = []
  private var waiter: CheckedContinuation<Void, Never>?

  func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }

  func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }

  func makeController(at path: RestorationPath, coder: RestorationDecoder) -> (any RestorableController)? {
    make?(path.names)
  }

  /// The same state once more, without what was being restored: what an older generation holds the oracle does not know.
  func coordinator(
    _ coordinator: RestorationCoordinator, decideAfter history: RestorationCoordinator.CrashHistory
  ) -> RestorationCoordinator.CrashDecision {
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

extension Step {
  /// Whether the step restores something.
  fileprivate var restores: Bool {
    switch self {
    case .launch, .unlock, .restoreAgain, .retry, .restoreLate, .killInLaunch, .crashInLaunch: true
    default: false
    }
  }
}
