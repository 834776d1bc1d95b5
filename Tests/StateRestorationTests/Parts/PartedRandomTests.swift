import DataProtection
import FaultyFileSystem
import FoundationEssentials
import SeededRandom
import StateRestorationTesting
import TestTraits
import Testing

@testable import StateRestoration

/// Random lives of a window with secret and other screens, on a device that is locked, unlocked, killed and cut off at any time.
///
/// What a save has acknowledged comes back, at once where its class has a key and at the unlock where it has none; and the bytes that the
/// weaker key opens never hold a name or a text of a secret screen.
@MainActor @Suite(.tags(.threads)) struct PartedRandomTests {
  /// What a screen was when a save was acknowledged.
  struct Saved: Equatable {
    var text: String
    /// Whether it, or what it lies in, was secret.
    var isSecret: Bool
  }

  /// A device, a program, and what both should know.
  @MainActor final class Life: SizedTexts {
    let bench: Bench
    var random: SplitMix64
    var root = Screen("root")
    var coordinator: RestorationCoordinator
    var isLocked = false
    /// By identifiers, which are never used again.
    var saved: [RestorationIdentifier: Saved] = [:]
    /// The screens that are secret themselves, as the program's own data says.
    var names: Set<RestorationIdentifier> = []
    var count = 0
    /// Every name and text that was secret when it was saved last.
    var secrets: Set<String> = []
    var script: [String] = []

    init(seed: UInt64) async throws {
      random = SplitMix64(seed: seed)
      bench = try await Bench(.device)
      bench.configuration.protection = .completeUntilFirstUserAuthentication
      coordinator = bench.launch()
      coordinator = launch()
      _ = try await coordinator.restore(into: root)
    }

    func launch() -> RestorationCoordinator {
      bench.launch {
        $0.register(Screen.self, as: "screen") { [secretNames] path, _ in
          let isSecret = secretNames().contains(path.last!)
          return isSecret ? PartedBench.secret(path.last!, tag: "screen") : Screen(path.last, tag: "screen")
        }
      }
    }

    private func secretNames() -> Set<RestorationIdentifier> { names }

    /// All screens below the root, with whether they are secret.
    var screens: [(screen: Screen, isSecret: Bool)] {
      var found: [(Screen, Bool)] = []
      var stack: [(Screen, Bool)] = [(root, false)]
      while let (screen, isSecret) = stack.popLast() {
        for case let child as Screen in screen.restorationChildren {
          let isSecret = isSecret || child.restoration.protection == .complete
          found.append((child, isSecret))
          stack.append((child, isSecret))
        }
      }
      return found
    }

    private func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    func add() {
      count += 1
      let isSecret = chance(2)
      let parent = chance(3) ? screens.randomElement(using: &random)?.screen ?? root : root
      let name = RestorationIdentifier("screen\(count)x")
      let screen = isSecret ? PartedBench.secret(name, tag: "screen") : Screen(name, tag: "screen")
      if isSecret { names.insert(name) }
      parent.restorationChildren.append(screen)
      script.append("add \(name) \(isSecret ? "secret" : "open") below \(parent.restoration.identifier!)")
      edit(screen)
    }

    func edit(_ screen: Screen) {
      count += 1
      let size = chance(12) ? 70_000 : Int.random(in: 10...400, using: &random)
      screen.text = text("text\(count)x", size)
      script.append("edit \(screen.restoration.identifier!) text\(count)x \(size)")
    }

    func save() async throws {
      for (screen, isSecret) in screens {
        for text in [screen.restoration.identifier!.rawValue, word(screen.text)!] where !text.isEmpty {
          if isSecret { secrets.insert(text) } else { secrets.remove(text) }
        }
      }
      script.append("save")
      let receipt = try await coordinator.preserve(root).receipt
      #expect(receipt?.durability != .unknown)
      for (screen, isSecret) in screens {
        // A secret screen that nobody has touched in a locked run shows nothing, and has what is stored.
        if isLocked, isSecret, screen.text.isEmpty { continue }
        saved[screen.restoration.identifier!] = Saved(text: screen.text, isSecret: isSecret)
      }
      if !isLocked {
        let live = Set(screens.map { $0.screen.restoration.identifier! })
        saved = saved.filter { live.contains($0.key) }
      }
      try checkSecrecy()
    }

    /// What the weaker key opens tells of nothing that is secret.
    func checkSecrecy() throws {
      guard let opened = try bench.place.open(.newest).parts.first?.content else { return }
      let pieces = try [opened.read(0..<opened.byteCount)] + opened.frames
      let text = String(decoding: pieces.joined(), as: UTF8.self)
      for secret in secrets {
        let isOpen = text.contains(secret)
        #expect(!isOpen, "\(secret): \(script)")
      }
    }

    /// Ends the process, perhaps with the power, and starts the program again.
    func restart(cutsPower: Bool) async throws {
      script.append(cutsPower ? "cut power" : "kill")
      if cutsPower {
        try await bench.cutPower()
        // The first unlock after a start.
        try await bench.unlock()
        if isLocked { try await bench.lock() }
      } else {
        try await bench.kill()
      }
      root = Screen("root")
      coordinator = launch()
      let report = try await coordinator.restore(into: root)
      await coordinator.endTurn()
      check(whole: !isLocked, "\(report)")
    }

    func unlock() async throws {
      script.append("unlock")
      isLocked = false
      try await bench.unlock(coordinator)
      check(whole: true, "unlock")
    }

    func lock() async throws {
      script.append("lock")
      isLocked = true
      try await bench.lock()
    }

    /// Compares what is there with what was acknowledged.
    func check(whole: Bool, _ note: String) {
      let live = Dictionary(screens.map { ($0.screen.restoration.identifier!, $0.screen) }) { first, _ in first }
      for (name, state) in saved where whole || !state.isSecret {
        #expect(word(live[name]?.text) == word(state.text), "\(name): \(script)\n\(note)")
      }
    }
  }

  @Test(arguments: UInt64(1)...24)
  func `what was acknowledged comes back, and nothing secret is where others read it`(seed: UInt64) async throws {
    let life = try await Life(seed: seed)
    for _ in 0..<40 {
      switch Int.random(in: 0..<12, using: &life.random) {
      case 0, 1: life.add()
      case 2, 3, 4:
        // What a locked run can't see is not edited: it would be newer.
        let candidates = life.screens.filter { !life.isLocked || !$0.isSecret || !$0.screen.text.isEmpty }
        if let one = candidates.randomElement(using: &life.random) { life.edit(one.screen) }
      case 5, 6: try await life.save()
      case 7:
        try await life.save()
        try await life.restart(cutsPower: false)
      case 8:
        try await life.save()
        try await life.restart(cutsPower: true)
      case 9:
        guard !life.isLocked else { continue }
        try await life.save()
        try await life.lock()
        try await life.restart(cutsPower: false)
      case 10:
        guard life.isLocked else { continue }
        try await life.save()
        try await life.unlock()
      default:
        guard !life.isLocked, let one = life.screens.randomElement(using: &life.random)?.screen else { continue }
        one.restoration.protection = one.restoration.protection == nil ? .complete : nil
        life.names.formSymmetricDifference([one.restoration.identifier!])
        one.invalidateRestorableState()
        life.script.append(
          "class \(one.restoration.identifier!) \(one.restoration.protection.map { "\($0)" } ?? "open")")
      }
    }
    try await life.save()
    if life.isLocked { try await life.unlock() }
    try await life.restart(cutsPower: true)
  }
}
