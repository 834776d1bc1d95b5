/// Looks for scripts that the engine gets wrong, and makes them short.
@MainActor package struct Search {
  /// A script that fails, as short as it was made, and how.
  package struct Finding: Sendable {
    /// The number of the script.
    package let number: Int
    /// What is left of the script.
    package let steps: [Step]
    /// What the oracle says of it.
    package let difference: String
  }

  private let player: Player
  private let dimensions: Set<Dimension>
  private let seed: UInt64
  private let length: Int

  /// Whether what fails is made short.
  package var shortens = true

  /// Told each step before it is played; for finding out in which one the engine has trapped.
  package var willPlay: ((Step) -> Void)?

  /// How many steps were run, those of making scripts short not counted.
  package private(set) var stepCount = 0

  /// How many scripts failed and then did not.
  package private(set) var unsteadyCount = 0

  /// How many scripts ended early, as too much may have been true.
  package var abandonedCount: Int { player.abandonedCount }

  /// Prepares a search.
  ///
  /// - Parameters:
  ///   - seed: The same scripts for the same seed.
  ///   - length: How many random steps each script has.
  ///   - excluded: What the scripts do not vary.
  package init(seed: UInt64, length: Int, without excluded: Set<Dimension> = []) async throws {
    player = try await Player(without: excluded)
    dimensions = Set(Dimension.allCases).subtracting(excluded)
    self.seed = seed
    self.length = length
  }

  /// Makes the script of a number while it is played; what fails is made short.
  package mutating func run(_ number: Int) async throws -> Finding? {
    var maker = ScriptMaker(seed: seed &* 1_000_003 &+ UInt64(number), dimensions: dimensions)
    let before = player.stepCount
    var steps: [Step] = []
    var difference: String?
    try await player.begin()
    while steps.count < length, difference == nil, player.isPossible {
      for step in maker.next(player.screen.map(\.path)) where difference == nil && player.isPossible {
        steps.append(step)
        willPlay?(step)
        difference = await player.play(step)
      }
    }
    for step in ScriptMaker.end where difference == nil && player.isPossible {
      steps.append(step)
      willPlay?(step)
      difference = await player.play(step)
    }
    stepCount += player.stepCount - before
    guard let difference else { return nil }
    guard await failsAgain(steps) else {
      unsteadyCount += 1
      return nil
    }
    return shortens
      ? await shorten(steps, number, difference) : Finding(number: number, steps: steps, difference: difference)
  }

  /// Whether a script fails once more: threads may meet in another order each time.
  private func failsAgain(_ steps: [Step]) async -> Bool {
    for _ in 0..<2 where await player.difference(steps) == nil { return false }
    return true
  }

  /// Plays a script, and says what it did.
  package func difference(_ steps: [Step], trace: ((String) -> Void)? = nil) async -> String? {
    player.trace = trace
    defer { player.trace = nil }
    return await player.difference(steps)
  }

  /// The finding of a script, which is made short.
  private func shorten(_ whole: [Step], _ number: Int, _ first: String) async -> Finding {
    var difference = first
    let steps = await shortened(whole, simpler: \.simpler) { steps in
      guard let found = await player.difference(steps), await failsAgain(steps) else { return false }
      difference = found
      return true
    }
    return Finding(number: number, steps: steps, difference: difference)
  }
}

extension Step {
  /// Steps that do less, the simplest first.
  var simpler: [Step] {
    switch self {
    case .push(let path, let kind, let model, let value, let bytes, let presented, let protection):
      var all: [Step] = []
      func add(
        _ kind: PageClass, _ model: String?, _ value: Int, _ bytes: Int, _ presented: Bool,
        _ protection: Protection? = protection
      ) {
        let step = Step.push(
          path, kind, model: model, value: value, bytes: bytes, presented: presented, protection: protection)
        if step != self, !all.contains(step) { all.append(step) }
      }
      add(kind, model, value, 0, presented)
      add(.plain, model, value, bytes, presented)
      add(kind, nil, value, bytes, presented)
      add(kind, model, 0, bytes, presented)
      add(kind, model, value, bytes, false)
      add(kind, model, value, bytes, presented, nil)
      return all
    case .many(let path, let count, let bytes):
      return count > 1 ? [.many(path, count: count / 2, bytes: bytes), .many(path, count: count, bytes: 0)] : []
    case .edit(let path, let value, let bytes): return bytes > 0 ? [.edit(path, value: value, bytes: 0)] : []
    case .editUnencodable(let path, let value), .editRefused(let path, let value):
      return [.edit(path, value: value, bytes: 0)]
    case .show(let path, let model, let value): return value > 0 ? [.show(path, model: model, value: 0)] : []
    case .failingSave, .restoreAgain: return [.save]
    case .retry: return [.restoreAgain]
    case .killInSave: return [.kill]
    case .cutPower(let mask): return mask == .max ? [.kill] : [.kill, .cutPower(losing: .max)]
    case .cutPowerInSave(let call, let mask):
      return [.cutPower(losing: mask), .killInSave(call: call)]
        + (mask == .max ? [] : [.cutPowerInSave(call: call, losing: .max)])
    case .launch(let launch):
      var all: [Step] = []
      func add(_ change: (inout Launch) -> Void) {
        var other = launch
        change(&other)
        if other != launch { all.append(.launch(other)) }
      }
      add { $0 = Launch() }
      add { $0.version = 1 }
      add { $0.hiding = nil }
      add { $0.replacing = nil }
      add { $0.misnaming = nil }
      add { $0.model = nil }
      add { $0.isUnnamed = false }
      add { $0.isStrict = false }
      return all
    default: return []
    }
  }
}
