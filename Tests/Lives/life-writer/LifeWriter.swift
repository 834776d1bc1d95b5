import Foundation
import LifeProgram
import SeededRandom

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Lives one life of the program, or looks at what it left.
///
/// Its exit status is 1 when something came back that should not have, or did not, or can be read that must not.
@main @MainActor enum LifeWriter {
  static func main() async throws {
    let arguments = CommandLine.arguments
    do {
      switch arguments.dropFirst().first {
      case "live" where arguments.count == 7:
        let seed = UInt64(arguments[5])!
        try await Life.live(
          at: places(arguments), level: seed % 2 == 0 ? .always : .first, isDeveloping: environment("LIFE_DEVELOPS"),
          steps: Int(arguments[6])!, random: SplitMix64(seed: seed)
        ) { say($0) }
        kill(getpid(), SIGKILL)
      case "check" where arguments.count == 5:
        try await Life.live(
          at: places(arguments), level: .always, isDeveloping: environment("LIFE_DEVELOPS"), steps: 0,
          random: SplitMix64(seed: 0)
        ) { say($0) }
        _exit(0)
      case "scan" where arguments.count == 5:
        let findings = try Scan.findings(at: places(arguments))
        for finding in findings { say(finding) }
        exit(findings.isEmpty ? 0 : 1)
      default:
        say(
          "usage: life-writer live DEVICE RECORD CUSTODY SEED STEPS | check DEVICE RECORD CUSTODY"
            + " | scan DEVICE RECORD CUSTODY")
        exit(2)
      }
    } catch {
      say("WRONG \(error)")
      _exit(1)
    }
  }

  /// Writes a line at once: nothing else is left of a process that is killed.
  private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

  private static func places(_ arguments: [String]) -> Life.Places {
    Life.Places(device: arguments[2], record: arguments[3], custody: arguments[4])
  }

  private static func environment(_ name: String) -> Bool { ProcessInfo.processInfo.environment[name] != nil }
}
