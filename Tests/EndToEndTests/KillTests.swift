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

  @Test func `no acknowledged save is lost and no screen is broken, wherever the kill lands`() async throws {
    let seed = Self.number("RESTORATION_SEED") ?? .random(in: 0 ... .max)
    let lives = Self.number("RESTORATION_KILLS").map(Int.init) ?? 60
    var random = SplitMix64(seed: seed)
    print("KillTests: seed \(seed)")
    let harness = try DemoHarness(notes: ["Diary.md": "end\n", "Plans/Trip.md": "Pack.\n"])
    var typist = try await Typist(harness)

    var landed: [KillPhase: Int] = [:]
    var life = 0
    while life < lives || landed.count < KillPhase.allCases.count && life < lives * 3 {
      let phase = KillPhase.allCases[life % KillPhase.allCases.count]
      let cut = PowerCut.random(using: &random)
      let kills = harness.landedKills.count
      // Now and then the note is away for a life: what nobody asked for must be there when it is back.
      if life % 7 == 3 {
        try await typist.liveWithoutNote(cut: cut, seed: random.next())
      } else {
        try await typist.live(phase: phase, kill: phase.kill(Int(random.next() % 1024)), cut: cut, seed: random.next())
      }
      if harness.landedKills.count > kills { landed[phase, default: 0] += 1 }
      life += 1
    }
    let counts = KillPhase.allCases.map { "\($0) \(landed[$0, default: 0])" }.joined(separator: ", ")
    print("KillTests: \(life) lives; kills that landed: \(counts); \(typist.acknowledgements) receipts seen")
    for phase in KillPhase.allCases { #expect(landed[phase, default: 0] > 0, "no kill landed in \(phase)") }
    #expect(typist.acknowledgements > lives / 2)
    try await typist.checkUndisturbed()
  }
}
