import Foundation
import SeededRandom
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A program with notes of three classes of protection, killed at any call, and its disk's power cut: `Tests/Lives`.
///
/// It starts locked, after the first unlock or before it, and compares what it shows with what it wrote down elsewhere before and
/// after each save; so it does at each unlock. After each death the bytes are searched that can be read without the passcode.
/// `RESTORATION_LIVES` asks for more lives, `RESTORATION_SEED` for those of an earlier run.
@Suite(.serialized, .timeLimit(.minutes(60)))
struct LockedLifeTests {
  private static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap(UInt64.init)
  }

  @Test func `what was acknowledged of each class comes back, and what is secret can be read nowhere`() async throws {
    let seed = Self.number("RESTORATION_SEED") ?? .random(in: 0 ... .max)
    let lives = Self.number("RESTORATION_LIVES").map(Int.init) ?? 20
    print("LockedLifeTests: seed \(seed)")
    var (lived, landed, acknowledged) = (0, 0, 0)
    // A device has so many lives, as what one finds depends on those before.
    while lived < lives {
      let device = try Device(seed: seed &+ UInt64(lived))
      for _ in 0..<min(25, lives - lived) {
        try await device.live()
        lived += 1
      }
      try await device.check()
      landed += device.landed
      acknowledged += try device.acknowledged
    }
    print("LockedLifeTests: \(lived) lives, \(landed) kills at a call, \(acknowledged) saves acknowledged")
    #expect(landed > lives / 4)
    #expect(acknowledged > lives / 2)
  }

  /// A device, and what the lives on it have left.
  private final class Device {
    private let folder: String
    private var random: SplitMix64
    private let level: UInt64
    /// Whether the last life may have died in the middle of restoring, which is held against a state unless one says otherwise.
    private var isDeveloping = false
    private let seed: UInt64
    /// What the last lives have said.
    private var story: [String] = []
    private(set) var landed = 0

    init(seed: UInt64) throws {
      self.seed = seed
      random = SplitMix64(seed: seed)
      level = random.next() % 2
      folder = FileManager.default.temporaryDirectory.appendingPathComponent("lives-\(UUID().uuidString)").path
      try FileManager.default.createDirectory(
        atPath: folder + "/state", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private var program: String {
      URL(fileURLWithPath: DemoHarness.testProgram).deletingLastPathComponent().appendingPathComponent("life-writer")
        .path
    }

    private var places: [String] { [folder + "/state/device", folder + "/record", folder + "/custody"] }

    /// How many saves were acknowledged.
    var acknowledged: Int {
      get throws {
        let record = FileManager.default.contents(atPath: folder + "/record") ?? Data()
        struct Count: Decodable { var acknowledged: Int }
        return try JSONDecoder().decode(Count.self, from: record).acknowledged
      }
    }

    /// Starts the machine again: the keys of the session are gone.
    private func restart() { try? FileManager.default.removeItem(atPath: folder + "/custody") }

    private func run(_ arguments: [String], _ environment: [String: String] = [:]) async throws -> ProgramRun {
      var environment = environment
      environment["SWIFT_BACKTRACE"] = "enable=no"
      environment["LIFE_DEVELOPS"] = isDeveloping ? "1" : ""
      return try await ProgramRun(program, arguments, environment: environment)
    }

    /// One life, which ends with a kill, and a look at the bytes.
    func live() async throws {
      if random.next() % 3 == 0 { restart() }
      let cut = PowerCut.random(using: &random)
      let kill = kill()
      let kills = count(of: "kills")
      let run = try await run(
        ["live"] + places + ["\(random.next() / 2 * 2 + level)", "12"],
        [
          "LD_PRELOAD": try await KillSwitch.library(), "KILL_SWITCH": kill, "KILL_SWITCH_LOG": folder + "/kills",
          "POWER_CUT": cut.variable ?? "", "POWER_CUT_ROOT": cut.variable == nil ? "" : folder + "/state",
        ]
      )
      landed += count(of: "kills") - kills
      let life = "\(kill), \(cut):\n\(run.output)\n\(run.error)"
      story = (story + [life]).suffix(6)
      if run.status != -SIGKILL { tellStory() }
      try #require(run.status == -SIGKILL, "\(life)")
      if cut.variable != nil { restart() }
      let lines = run.output.split(separator: "\n")
      if lines.last.map({ $0 == "unlocking" }) ?? true {
        isDeveloping = true
      } else if lines.contains("unlocked") {
        isDeveloping = false
      }
      let scan = try await self.run(["scan"] + places)
      if scan.status != 0 { tellStory() }
      try #require(scan.status == 0, "\(scan.output)\(scan.error)\nafter \(life)")
    }

    /// Prints the output of the last lives: the next check fails.
    private func tellStory() {
      print("LockedLifeTests: device \(seed), its last lives:\n\(story.joined(separator: "\n"))")
    }

    /// And at the end, undisturbed, everything is there.
    func check() async throws {
      let run = try await run(["check"] + places)
      #expect(run.status == 0, "\(run.output)\n\(run.error)")
    }

    private func count(of file: String) -> Int {
      ((try? String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)) ?? "").split(separator: "\n").count
    }

    /// A call to die at, as `kill-switch.c` reads it: about half of them come to pass in a life.
    private func kill() -> String {
      let calls = [
        ("pwrite", 30), ("pwrite", 30), ("fsync", 20), ("fdatasync", 4), ("renameat2", 8), ("unlinkat", 6),
        ("openat", 60),
      ]
      let (call, count) = calls[Int(random.next() % UInt64(calls.count))]
      let moments = call == "pwrite" ? ["before", "after", "torn"] : ["before", "after"]
      return "\(call):\(1 + random.next() % UInt64(count)):\(moments[Int(random.next() % UInt64(moments.count))])"
    }
  }
}
