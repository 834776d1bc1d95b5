import Glibc
import RestorationOracle

/// Runs random scripts against the engine for as long as it is told, and prints what fails as a test.
@main struct RestorationOracleCommand {
  static let usage = """
    usage: restoration-oracle [--seed N] [--first N] [--steps N] [--seconds N] [--length N] [--findings N] [--whole]
                              [--verbose] [--without DIMENSION,…] [--only DIMENSION,…]
           restoration-oracle [--without DIMENSION,…] --script|--trace "push root/a plain value=1; save; kill; …"
           restoration-oracle --tables [--seed N] [--steps N] [--length N]

      --seed N       the same scripts for the same seed; 1 unless told otherwise
      --first N      the number of the first script
      --steps N      ends after so many steps; 100 000 unless told otherwise
      --seconds N    ends after so much time instead
      --length N     random steps in each script; 40 unless told otherwise
      --findings N   ends after so many scripts that failed; 1 unless told otherwise
      --whole        does not make what failed short
      --verbose      prints each step before it is played, as one in which the program traps leaves nothing else
      --script TEXT  plays a script; its steps are separated by line breaks or semicolons
      --trace TEXT   the same, with what is on the screen and on the disk after each step
      --tables       random scripts over the tables alone, without the engine

    Dimensions: \(Dimension.allCases.map(\.rawValue).joined(separator: ", "))
    """

  struct Options {
    var seed: UInt64 = 1
    var first = 1
    var steps = 100_000
    var seconds: Int?
    var length = 40
    var findings = 1
    var excluded: Set<Dimension> = []
    var script: [Step]?
    var isTraced = false
    var isTablesAlone = false
    var isWhole = false
    var isVerbose = false

    init?(_ arguments: some Sequence<String>) {
      var iterator = arguments.makeIterator()
      while let option = iterator.next() {
        if option == "--tables" {
          isTablesAlone = true
          continue
        }
        if option == "--whole" {
          isWhole = true
          continue
        }
        if option == "--verbose" {
          isVerbose = true
          continue
        }
        guard let text = iterator.next() else { return nil }
        switch option {
        case "--without", "--only":
          let named = text.split(separator: ",").map { Dimension(rawValue: String($0)) }
          guard !named.contains(nil) else { return nil }
          let all = Set(named.compactMap(\.self))
          excluded = option == "--without" ? all : Set(Dimension.allCases).subtracting(all)
        case "--script", "--trace":
          isTraced = option == "--trace"
          guard let steps = Step.script(text) else { return nil }
          script = steps
        default:
          guard let number = Int(text), number >= 0 else { return nil }
          switch option {
          case "--seed": seed = UInt64(number)
          case "--first": first = number
          case "--steps": steps = number
          case "--seconds": seconds = number
          case "--length": length = number
          case "--findings": findings = number
          default: return nil
          }
        }
      }
    }
  }

  @MainActor static func main() async throws {
    guard let options = Options(CommandLine.arguments.dropFirst()) else {
      print(usage)
      exit(2)
    }
    if options.isTablesAlone { exit(await checkTables(options) ? 0 : 1) }
    var search = try await Search(seed: options.seed, length: options.length, without: options.excluded)
    search.shortens = !options.isWhole
    if options.isVerbose {
      search.willPlay = { step in
        print(step)
        fflush(nil)
      }
    }
    if let script = options.script {
      let difference = await search.difference(script, trace: options.isTraced ? { text in print(text) } : nil)
      print(difference ?? "agrees")
      exit(difference == nil ? 0 : 1)
    }
    let clock = ContinuousClock()
    let start = clock.now
    var number = options.first
    var findings = 0
    var nextReport = 500_000
    func isOver() -> Bool {
      if let seconds = options.seconds { return clock.now - start >= .seconds(seconds) }
      return search.stepCount >= options.steps
    }
    while !isOver(), findings < options.findings {
      if let finding = try await search.run(number) {
        findings += 1
        print("script \(finding.number): \(finding.difference)\n\(Step.text(of: finding.steps))")
        // A run takes hours, and may be ended.
        fflush(nil)
        // The others only choose steps.
        let needed = options.excluded.intersection([.lockedLaunches]).map(\.rawValue).sorted()
        print(needed.isEmpty ? "" : "run it --without \(needed.joined(separator: ","))\n")
      }
      number += 1
      if search.stepCount >= nextReport {
        print("\(search.stepCount) steps in \(number - options.first) scripts, \(findings) failed")
        fflush(nil)
        nextReport += 500_000
      }
    }
    let seconds = (clock.now - start) / .seconds(1)
    print(
      "seed \(options.seed): \(search.stepCount) steps in \(number - options.first) scripts, \(findings) failed,"
        + (search.abandonedCount > 0 ? " \(search.abandonedCount) ended early," : "")
        + (search.unsteadyCount > 0 ? " \(search.unsteadyCount) only once," : "")
        + " \(Int(Double(search.stepCount) / max(seconds, 0.001))) steps/s")
    exit(findings == 0 ? 0 : 1)
  }

  /// Runs random scripts over the tables alone; false when one has broken a promise.
  static func checkTables(_ options: Options) async -> Bool {
    var (number, steps) = (UInt64(options.first), 0)
    while steps < options.steps {
      let genes = TableScripts.genes(seed: options.seed &* 1_000_003 &+ number, count: options.length)
      steps += options.length
      if TableScripts.play(genes).violation != nil {
        let (steps, violation) = TableScripts.play(await TableScripts.shorten(genes))
        print("script \(number): \(violation ?? "")\n" + steps.map { "  \($0)\n" }.joined())
        return false
      }
      number += 1
    }
    print("seed \(options.seed): \(steps) steps of the tables in \(number - UInt64(options.first)) scripts")
    return true
  }
}
