import Foundation
import SeededRandom
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Two instances of the program on one state directory.
@Suite(.timeLimit(.minutes(20)))
struct TwoInstancesTests {
  private static let notice = "uses this state: this one preserves nothing"

  @Test func `a second instance says what it does and preserves nothing`() async throws {
    let harness = try DemoHarness()
    let first = try await harness.start()
    try await first.wait(forText: "Folders")
    let second = try await harness.start()
    try await second.wait(forText: Self.notice)
    // And who has it.
    #expect(second.screen.text.contains("another restore-demo (\(first.processIdentifier))"))
    await second.type("\u{1B}ORfrom the second")
    try await second.wait(forText: "from the second")
    // Nor does it change the keys under the first one's feet, or forget what is the first one's.
    await second.type("\u{1B}OS\r")
    try await second.wait(forText: "change the passcode there")
    await second.type("\u{1C}")
    try await second.wait(forText: "it has nothing to forget")
    await first.type("\u{1B}ORfrom the first")
    try await first.wait(forText: "from the first")
    await second.type("\u{11}")
    #expect(try await second.waitForEnd() == 0)
    await first.type("\u{11}")
    #expect(try await first.waitForEnd() == 0)
    let third = try await harness.start()
    try await third.wait(forText: "from the first")
    #expect(!third.screen.text.contains(Self.notice))
    await third.type("\u{11}")
    _ = try await third.waitForEnd()
  }

  @Test func `started at the same moment on nothing, one of the two is the first`() async throws {
    for _ in 0..<4 {
      let harness = try DemoHarness()
      let both = [try await harness.start(), try await harness.start()]
      for terminal in both { try await terminal.wait(forText: "Folders") }
      // One of them says that it is the second, and the other, which is as far by then, doesn't.
      let clock = ContinuousClock()
      let end = clock.now + PseudoTerminal.patience
      while !both.contains(where: { $0.screen.text.contains(Self.notice) }), clock.now < end {
        for terminal in both { await terminal.pump(milliseconds: 50) }
      }
      for terminal in both { while await terminal.pump(milliseconds: 500) {} }
      #expect(both.count { $0.screen.text.contains(Self.notice) } == 1)
      for terminal in both {
        await terminal.type("\u{1B}ORx")
        try await terminal.wait(forText: "Search: x")
      }
      for terminal in both {
        await terminal.type("\u{11}")
        #expect(try await terminal.waitForEnd() == 0)
      }
      let run = try await harness.run(["status", "screen"])
      #expect(run.output.hasPrefix("everything is where it was"), "\(run.output)")
    }
  }

  @Test func `whichever of the two is killed, nothing acknowledged is lost and nothing is mixed`() async throws {
    let seed = ProcessInfo.processInfo.environment["RESTORATION_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)
    print("TwoInstancesTests: seed \(seed)")
    // Two people, each on a device of their own, at the same time: most of a life is waiting.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for person in 0..<2 {
        group.addTask {
          var random = SplitMix64(seed: seed &+ UInt64(person))
          let harness = try DemoHarness(notes: ["Diary.md": "end\n", "Plans/Trip.md": "Pack.\n"])
          var typist = try await Typist(harness)
          for life in 0..<8 {
            let phase = KillPhase.allCases[life % 4]
            let cut = PowerCut.random(using: &random)
            try await typist.live(
              phase: phase, kill: phase.kill(Int(random.next() % 1024)), cut: cut, seed: random.next(), hasSecond: true)
          }
          try await typist.checkUndisturbed()
        }
      }
      try await group.waitForAll()
    }
  }
}
