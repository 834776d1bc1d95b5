import SeededRandom

/// One of the things that a script can vary, which can be left out of it.
///
/// Leaving one out leaves its steps out. Without ``lockedLaunches`` every launch on a locked device unlocks it first.
package enum Dimension: String, CaseIterable, Sendable {
  case presenting, removing, renames, moves, order
  /// Two siblings with one name.
  case duplicates
  /// Classes with tags, among them one that is renamed from version to version, and a subclass.
  case tags
  /// A class without a tag whose type is renamed.
  case untagged
  /// A class that joins states.
  case joining
  /// Pages that show model objects.
  case models
  /// Pages that show another model object than before.
  case changingModels
  /// Pages that are made without the model that they showed.
  case unnamed
  /// Model objects that are deleted and come back.
  case goneModels
  /// Versions of the program, with migrations, up and down.
  case versions
  /// Values that can't be encoded, or that some launches can't decode.
  case coding
  /// States of up to 300 KB, and up to 3 000 pages.
  case sizes
  /// Time passes, and state of one class grows too old.
  case ages
  /// Pages that a launch does not make.
  case hiding
  /// Pages of which a launch makes another class.
  case replacing
  /// Pages that a launch makes under another identifier.
  case misnaming
  case failingSaves
  case locks
  /// Pages of several classes of protection, in every third script.
  case classes
  /// Launches on a locked device.
  case lockedLaunches
  case kills, killsInSaves
  case powerCuts, powerCutsInSaves
  /// The newest generation is damaged, so that the one before is given.
  case damage
  /// Deaths before a call while restoring.
  case killsInLaunches
  /// Deaths in a page's own code while restoring.
  case crashes
  case retries, restoringAgain, lateRegistration, discarding, forgetting
}

/// Makes random steps, the same for the same seed and the same screens.
package struct ScriptMaker {
  private var random: SplitMix64
  private let dimensions: Set<Dimension>
  private var value = 0
  private var version = 1
  /// Whether the script has states of up to 300 KB.
  private var isLarge: Bool
  /// Whether it has up to 3 000 pages.
  private var isWide: Bool
  /// Whether it has several classes of protection.
  package let hasClasses: Bool
  private var hasBegun = false

  private static let names = ["a", "b", "c", "d", "e"]

  /// Makes scripts that vary some dimensions.
  package init(seed: UInt64, dimensions: Set<Dimension>) {
    // Mixed: neighbouring states of the generator give one and the same sequence, shifted by a step.
    var mixer = SplitMix64(seed: seed)
    random = SplitMix64(seed: mixer.next())
    self.dimensions = dimensions
    // Drawn apart, so that all other scripts are those that they were.
    var further = SplitMix64(seed: ~seed)
    hasClasses = dimensions.contains(.classes) && further.next() % 3 == 0
    (isLarge, isWide) = (false, false)
    isLarge = has(.sizes, oneIn: 10)
    isWide = has(.sizes, oneIn: 50)
  }

  private mutating func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }

  private mutating func has(_ dimension: Dimension, oneIn chances: Int = 1) -> Bool {
    dimensions.contains(dimension) && below(chances) == 0
  }

  private mutating func name() -> String { Self.names[below(Self.names.count)] }

  private mutating func kind() -> PageClass {
    switch below(6) {
    case 0..<2: has(.tags) ? [.note, .special, .card][below(3)] : .plain
    case 2: has(.untagged) ? .sketch : .plain
    case 3: has(.joining) ? .diary : .plain
    default: .plain
    }
  }

  private mutating func model() -> String? { has(.models, oneIn: 2) ? ["A", "B"][below(2)] : nil }

  private mutating func bytes() -> Int {
    guard isLarge else { return 0 }
    switch below(6) {
    case 0: return 100_000 + below(200_000)
    case 1: return 1 + below(30_000)
    default: return 10 + below(1_000)
    }
  }

  private mutating func mask() -> UInt64 {
    switch below(3) {
    case 0: .max
    case 1: random.next()
    default: 1 << UInt64(below(12))
    }
  }

  private mutating func newValue() -> Int {
    value += 1
    return value
  }

  /// The steps at the end of a script: an unlock, a save, and two launches that have to show it.
  package static let end: [Step] = [.unlock, .save, .kill, .launch(Step.Launch()), .kill, .launch(Step.Launch())]

  /// Random steps for what is on the screen.
  package mutating func next(_ screen: [PagePath]) -> [Step] {
    if hasClasses, !hasBegun {
      hasBegun = true
      return [.configure([.none, .none, .none, .first, .first, .complete][below(6)])]
    }
    if hasClasses, below(6) == 0 { return classStep(screen.isEmpty ? [PagePath(["root"])] : screen) }
    let all = screen.isEmpty ? [PagePath(["root"])] : screen
    func other(_ maker: inout ScriptMaker) -> PagePath { all.count < 2 ? all[0] : all[1 + maker.below(all.count - 1)] }
    let any = all[below(all.count)]
    switch below(69) {
    case 0..<12:
      guard any.names.count < 6 else { return [] }
      let path = PagePath(any.names + [name()])
      if all.contains(path), !has(.duplicates, oneIn: 10) { return [] }
      let push = Step.push(
        path, kind(), model: model(), value: below(2) == 0 ? newValue() : 0, bytes: bytes(),
        presented: has(.presenting, oneIn: 6), protection: hasClasses ? protection() : nil)
      return has(.lateRegistration, oneIn: 4) ? [push, .restoreLate(path)] : [push]
    case 12..<16: return has(.removing) ? [.close(other(&self))] : []
    case 16..<28: return [.edit(any, value: newValue(), bytes: bytes())]
    case 28:
      guard has(.coding) else { return [] }
      return below(2) == 0
        ? [.editUnencodable(any, value: newValue())] : [.editRefused(any, value: newValue())]
    case 29..<31:
      let (path, name) = (other(&self), name())
      if all.contains(PagePath(path.parent.names + [name])), !has(.duplicates, oneIn: 10) { return [] }
      return has(.renames) ? [.rename(path, to: name)] : []
    case 31..<33:
      let path = other(&self)
      if all.contains(PagePath(any.names + [path.last])), !has(.duplicates, oneIn: 10) { return [] }
      return has(.moves) ? [.move(path, below: any)] : []
    case 33: return has(.order) ? [.reverse(any)] : []
    case 34..<38:
      guard has(.changingModels) else { return [] }
      return [.show(any, model: [nil, "A", "B"][below(3)], value: below(2) == 0 ? newValue() : 0)]
    case 38: return has(.goneModels) ? [.toggle(["A", "B"][below(2)])] : []
    case 39..<46: return [.save]
    case 46: return has(.failingSaves) ? [.failingSave(fault: below(4), call: below(3) == 0 ? 0 : 1 + below(30))] : []
    case 47: return has(.locks) ? [.lock] : []
    case 48..<51: return [.unlock]
    case 51..<60: return end()
    case 60: return has(.restoringAgain) ? [.restoreAgain] : []
    case 61: return has(.retries) ? [.retry] : []
    case 62..<65: return has(.lateRegistration) ? [.restoreLate(other(&self))] : []
    case 65: return has(.discarding, oneIn: 4) ? [.discard] : []
    case 67: return has(.ages) ? [.wait(100 + below(700))] : []
    case 66:
      guard isWide || isLarge && below(4) == 0 else { return [] }
      return [.many(any, count: isWide ? 1_000 + below(2_001) : [10, 100][below(2)], bytes: below(200))]
    default: return has(.forgetting) ? [.forget(PagePath(any.names + [name()]))] : []
    }
  }

  /// A class of protection for a page: mostly its parent's, or one that is stronger than most.
  private mutating func protection() -> Protection? {
    switch below(8) {
    case 0..<4: nil
    case 4..<6: .complete
    case 6: .first
    default: Protection.none
    }
  }

  private mutating func classStep(_ all: [PagePath]) -> [Step] {
    let any = all[below(all.count)]
    switch below(8) {
    case 0..<4: return any.names.count > 1 ? [.protect(any, protection())] : []
    case 4..<6: return has(.locks) ? [.lock] : []
    default: return [.unlock]
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
    if has(.damage, oneIn: 5), !hasClasses { steps.append(.damage) }
    if has(.locks, oneIn: hasClasses ? 2 : 5) { steps.append(.lock) }
    if !dimensions.contains(.lockedLaunches) || below(3) > (hasClasses ? 1 : 0) { steps.append(.unlock) }
    if has(.killsInLaunches, oneIn: 8), !hasClasses { steps.append(.killInLaunch(call: 1 + below(60))) }
    if has(.crashes, oneIn: 6), !hasClasses { steps.append(.crashInLaunch(name(), decoding: below(2) == 0)) }
    if has(.versions, oneIn: 2) { version = 1 + below(3) }
    var launch = Step.Launch()
    launch.version = version
    if has(.hiding, oneIn: 3) { launch.hiding = name() }
    if has(.replacing, oneIn: 4) { (launch.replacing, launch.by) = (name(), kind()) }
    if has(.misnaming, oneIn: 8) { launch.misnaming = name() }
    if has(.models, oneIn: 8) { launch.model = "A" }
    launch.isUnnamed = has(.unnamed, oneIn: 6)
    launch.isStrict = has(.coding, oneIn: 3)
    return steps + [.launch(launch)]
  }
}
