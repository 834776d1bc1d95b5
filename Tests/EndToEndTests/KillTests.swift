import Foundation
import SeededRandom
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The program killed, and its disk's power cut, again and again, in the middle of everything it does, while somebody types.
///
/// The oracle knows nothing of the framework (``Typist``). `RESTORATION_KILLS` asks for more lives, `RESTORATION_SEED` for
/// those of an earlier run.
@Suite(.serialized, .timeLimit(.minutes(30)))
struct KillTests {
  private static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap(UInt64.init)
  }

  /// What some lives came to.
  private struct Tally {
    var lives = 0
    var acknowledgements = 0
    var landed: [KillPhase: Int] = [:]
  }

  /// How many people type at the same time, each on a device of their own: most of a life is waiting.
  private static let people = 3

  @Test func `no acknowledged save is lost and no screen is broken, wherever the kill lands`() async throws {
    let seed = Self.number("RESTORATION_SEED") ?? .random(in: 0 ... .max)
    let lives = Self.number("RESTORATION_KILLS").map(Int.init) ?? 60
    print("KillTests: seed \(seed)")
    var total = Tally()
    try await withThrowingTaskGroup(of: Tally.self) { group in
      for person in 0..<Self.people {
        group.addTask { try await Self.live((lives + Self.people - 1) / Self.people, seed: seed &+ UInt64(person)) }
      }
      for try await tally in group {
        total.lives += tally.lives
        total.acknowledgements += tally.acknowledgements
        total.landed.merge(tally.landed, uniquingKeysWith: +)
      }
    }
    let counts = KillPhase.allCases.map { "\($0) \(total.landed[$0, default: 0])" }.joined(separator: ", ")
    print(
      "KillTests: \(total.lives) lives; kills that landed: \(counts); \(total.acknowledgements) receipts seen")
    for phase in KillPhase.allCases { #expect(total.landed[phase, default: 0] > 0, "no kill landed in \(phase)") }
    #expect(total.acknowledgements > lives / 2)
  }

  /// So many lives of one device, and more while the kill never landed in some phase.
  private static func live(_ lives: Int, seed: UInt64) async throws -> Tally {
    var random = SplitMix64(seed: seed)
    let harness = try DemoHarness(notes: ["Diary.md": "end\n", "Plans/Trip.md": "Pack.\n"])
    var typist = try await Typist(harness)
    var tally = Tally()
    while tally.lives < lives || tally.landed.count < KillPhase.allCases.count && tally.lives < lives * 3 {
      let phase = KillPhase.allCases[tally.lives % KillPhase.allCases.count]
      let cut = PowerCut.random(using: &random)
      let kills = harness.landedKills.count
      // Now and then the note is away for a life: what nobody asked for must be there when it is back.
      if tally.lives % (KillPhase.allCases.count + 1) == 3 {
        try await typist.liveWithoutNote(cut: cut, seed: random.next())
      } else {
        try await typist.live(phase: phase, kill: phase.kill(Int(random.next() % 1024)), cut: cut, seed: random.next())
      }
      if harness.landedKills.count > kills { tally.landed[phase, default: 0] += 1 }
      tally.lives += 1
    }
    try await typist.checkUndisturbed()
    tally.acknowledgements = typist.acknowledgements
    return tally
  }
}
