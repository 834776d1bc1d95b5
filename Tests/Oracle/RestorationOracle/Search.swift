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

  private let runner: ScriptRunner
  private let dimensions: Set<Dimension>
  private let seed: UInt64
  private let length: Int

  /// How many steps were run, those of shrinking not counted.
  package private(set) var stepCount = 0

  /// How many scripts failed and then did not.
  package private(set) var unsteadyCount = 0

  /// How many scripts ended early, as too much may have been true.
  package var abandonedCount: Int { runner.abandonedCount }

  /// Prepares a search.
  ///
  /// - Parameters:
  ///   - seed: The same scripts for the same seed.
  ///   - length: How many random steps each script has.
  ///   - excluded: What the scripts do not vary.
  package init(seed: UInt64, length: Int, without excluded: Set<Dimension> = []) async throws {
    runner = try await ScriptRunner(without: excluded)
    dimensions = Set(Dimension.allCases).subtracting(excluded)
    self.seed = seed
    self.length = length
  }

  /// The script of a number.
  package func script(_ number: Int) -> [Step] {
    var maker = ScriptMaker(seed: seed &* 1_000_003 &+ UInt64(number), dimensions: dimensions)
    return maker.script(length: length)
  }

  /// Runs the script of a number; what fails is made short.
  package mutating func run(_ number: Int) async -> Finding? {
    let steps = script(number)
    let before = runner.stepCount
    let difference = await runner.difference(steps)
    stepCount += runner.stepCount - before
    guard let difference else { return nil }
    guard await failsAgain(steps) else {
      unsteadyCount += 1
      return nil
    }
    return await shrink(steps, number, difference)
  }

  /// Whether a script fails three times more: threads may meet in another order each time.
  private func failsAgain(_ steps: [Step]) async -> Bool {
    for _ in 0..<3 where await runner.difference(steps) == nil { return false }
    return true
  }

  /// Runs one script.
  package func difference(_ steps: [Step], trace: ((String) -> Void)? = nil) async -> String? {
    runner.trace = trace
    defer { runner.trace = nil }
    return await runner.difference(steps)
  }

  /// Takes steps out, and makes numbers small, for as long as what is left still fails.
  private func shrink(_ whole: [Step], _ number: Int, _ first: String) async -> Finding {
    var (steps, difference) = (whole, first)
    func fails(_ shorter: [Step]) async -> Bool {
      guard let found = await runner.difference(shorter), await failsAgain(shorter) else { return false }
      (steps, difference) = (shorter, found)
      return true
    }
    var isShorter = true
    while isShorter {
      isShorter = false
      var chunk = max(steps.count / 2, 1)
      while chunk > 0 {
        var start = 0
        while start < steps.count {
          var shorter = steps
          shorter.removeSubrange(start..<min(start + chunk, steps.count))
          if await fails(shorter) { isShorter = true } else { start += chunk }
        }
        chunk /= 2
      }
      for index in steps.indices {
        for simpler in steps[index].simpler {
          var other = steps
          other[index] = simpler
          if await fails(other) {
            isShorter = true
            break
          }
        }
      }
    }
    return Finding(number: number, steps: steps, difference: difference)
  }
}

extension Step {
  /// Steps that do less, the simplest first.
  var simpler: [Step] {
    switch self {
    case .push(let parent, let name, let kind):
      (parent > 0 ? [.push(parent: 0, name: name, kind: kind)] : [])
        + (kind != 0 ? [.push(parent: parent, name: name, kind: 0)] : [])
    case .present(let parent, let name, let kind): [.push(parent: parent, name: name, kind: kind)]
    case .failingSave, .restoreAgain: [.save]
    case .retry: [.restoreAgain]
    case .killInSave: [.kill]
    case .cutPower(let mask):
      mask == 0 ? [.kill] : mask == .max ? [.cutPower(losing: 0)] : [.cutPower(losing: 0), .cutPower(losing: .max)]
    case .cutPowerInSave(let call, let mask):
      [.cutPower(losing: mask), .killInSave(call: call)]
        + (mask == .max ? [] : [.cutPowerInSave(call: call, losing: .max)])
    case .launch(let version, let hiding, let making, let kind):
      (version > 1 ? [.launch(version: 1, hiding: hiding, making: making, kind: kind)] : [])
        + (hiding > 0 ? [.launch(version: version, hiding: 0, making: making, kind: kind)] : [])
        + (making > 0 ? [.launch(version: version, hiding: hiding, making: 0, kind: 0)] : [])
    default: []
    }
  }
}
