import SeededRandom

/// One of the things that a script can vary, which can be left out of it.
///
/// Leaving one out leaves its steps out. Two of them also change what a step does: without ``collisions`` no page is put where
/// something is carried over, and without ``lockedLaunches`` every launch on a locked device unlocks it first.
package enum Dimension: String, CaseIterable, Sendable {
  case presenting, removing, renames, moves, order
  /// Pages that are put where something is carried over.
  case collisions
  /// Classes with tags, among them one that is renamed from version to version, and a subclass.
  case tags
  /// Pages that show model objects.
  case models
  /// Pages that show another model object than before.
  case changingModels
  /// Model objects that are deleted and come back.
  case goneModels
  /// Versions of the program, with migrations, up and down.
  case versions
  case scenes
  /// Pages that a launch does not make.
  case hiding
  /// Pages of which a launch makes another kind.
  case replacing
  case failingSaves
  case locks
  /// Launches on a locked device.
  case lockedLaunches
  case kills, killsInSaves
  case powerCuts, powerCutsInSaves
  /// Deaths before a call while restoring.
  case killsInLaunches
  /// Deaths in a page's own code while restoring.
  case crashes
  case retries, restoringAgain, lateRegistration, discarding, forgetting
}

/// Makes random scripts, the same for the same seed.
package struct ScriptMaker {
  private var random: SplitMix64
  private let dimensions: Set<Dimension>
  private var value = 0
  private var version = 1

  /// Makes scripts that vary some dimensions.
  package init(seed: UInt64, dimensions: Set<Dimension>) {
    // Mixed: neighbouring states of the generator give one and the same sequence, shifted by a step.
    var mixer = SplitMix64(seed: seed)
    random = SplitMix64(seed: mixer.next())
    self.dimensions = dimensions
  }

  private mutating func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }

  private mutating func has(_ dimension: Dimension, oneIn chances: Int = 1) -> Bool {
    dimensions.contains(dimension) && below(chances) == 0
  }

  private mutating func kind() -> Int {
    if has(.tags, oneIn: 2) { return 1 + below(5) }
    return has(.models, oneIn: 2) ? 1 + below(2) : 0
  }

  private mutating func name() -> Int { 1 + below(6) }

  private mutating func mask() -> UInt64 {
    switch below(3) {
    case 0: .max
    case 1: random.next()
    default: 1 << UInt64(below(12))
    }
  }

  /// A random script; it ends with an unlock, a save, and two launches that have to show it.
  package mutating func script(length: Int) -> [Step] {
    var steps: [Step] = []
    while steps.count < length { steps += next() }
    return steps + [
      .unlock, .save, .kill, .launch(version: 3, hiding: 0, making: 0, kind: 0), .kill,
      .launch(version: 3, hiding: 0, making: 0, kind: 0),
    ]
  }

  private mutating func next() -> [Step] {
    switch below(64) {
    case 0..<12: return [.push(parent: below(100), name: name(), kind: kind())]
    case 12..<14: return has(.presenting) ? [.present(parent: below(100), name: name(), kind: kind())] : []
    case 14: return has(.presenting) ? [.dismiss(parent: below(100))] : []
    case 15..<18: return has(.removing) ? [.pop(page: below(100))] : []
    case 18..<29:
      value += 1
      return [.edit(page: below(100), value: value)]
    case 29..<31: return has(.renames) ? [.rename(page: below(100), name: name())] : []
    case 31..<33: return has(.moves) ? [.move(page: below(100), parent: below(100))] : []
    case 33: return has(.order) ? [.reverse(page: below(100))] : []
    case 34..<36: return has(.changingModels) ? [.showOtherModel(page: below(100))] : []
    case 36: return has(.goneModels) ? [.toggleModel(model: 1 + below(2))] : []
    case 37: return has(.scenes) ? [.front(scene: below(2))] : []
    case 38..<44: return [.save]
    case 44: return has(.failingSaves) ? [.failingSave(fault: below(4), call: below(3) == 0 ? 0 : 1 + below(30))] : []
    case 45..<47: return has(.locks) ? [.lock] : []
    case 47..<50: return [.unlock]
    case 50..<58: return end()
    case 58: return has(.restoringAgain) ? [.restoreAgain] : []
    case 59: return has(.retries) ? [.retry] : []
    case 60..<62: return has(.lateRegistration) ? [.register(number: below(10))] : []
    case 62: return has(.discarding, oneIn: 4) ? [.discard] : []
    default: return has(.forgetting) ? [.forget(number: below(10))] : []
    }
  }

  private mutating func end() -> [Step] {
    var steps: [Step] = []
    switch below(6) {
    case 0..<2: if has(.kills) { steps = [.kill] }
    case 2: if has(.killsInSaves) { steps = [.killInSave(call: 1 + below(40))] }
    case 3: if has(.powerCuts) { steps = [.cutPower(losing: mask())] }
    case 4: if has(.powerCutsInSaves) { steps = [.cutPowerInSave(call: 1 + below(40), losing: mask())] }
    default: if has(.kills) { steps = [.save, .kill] }
    }
    guard !steps.isEmpty else { return [] }
    if !dimensions.contains(.lockedLaunches) || below(3) > 0 { steps.append(.unlock) }
    if has(.killsInLaunches, oneIn: 6) { steps.append(.killInLaunch(call: 1 + below(60))) }
    if has(.crashes, oneIn: 4) { steps.append(.crashInLaunch(name: name(), decoding: below(2))) }
    if has(.versions, oneIn: 2) { version = 1 + below(3) }
    let hiding = has(.hiding, oneIn: 2) ? name() : 0
    let making = has(.replacing, oneIn: 2) ? name() : 0
    return steps + [.launch(version: version, hiding: hiding, making: making, kind: kind())]
  }
}
