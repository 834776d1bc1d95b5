import DataProtection
import Foundation
import RestorationArchive
import Sealing

/// Metrics of sealed archives on a disk, beside unencrypted JSON, SQLite and bare system calls.
struct DiskMetrics {
  typealias Item = Node<Typical.State>

  /// How much is measured.
  var effort: Effort
  /// Whether a metric was asked for.
  var wants: @Sendable (String) -> Bool
  /// The directory to write in.
  var directory: String

  private static let names = [
    "restoreOneCold", "restoreOneOpen", "preserveOne", "preserveNone", "preserveAll", "durableWrite", "journalAppend",
  ]

  /// Measures everything that was asked for with a number of nodes.
  func run(count: Int, device: ProtectedDevice) throws -> [Result] {
    guard Self.names.contains(where: wants) else { return [] }
    let rounds = effort.rounds(count)
    let bench = try DiskBench(
      count: count, device: device, directory: directory, hasPeers: effort.hasPeers(count))
    defer { bench.discard() }
    let oneNodeRounds = effort.rounds(0) * 15
    let wall = Measurement(clock: .wall, rounds: rounds, atLeast: 0)
    var results: [Result] = []
    if wants("preserveAll") {
      let taken = try wall.run(
        units: 1,
        [.ours { try bench.preserveAll() }] + bench.jsonLane { try bench.preserveAllAsJSON() }
          + bench.sqliteLane { bench.preserveAllWithSQLite($0) })
      var line = result("preserveAll", count, "ns", taken, bytes: Double(bench.archiveBytes))
      line.details = try encryption(bench, rounds)
      results.append(line)
    }
    if wants("preserveOne") {
      try bench.preserveAll()
      let repeated = Measurement(clock: .wall, rounds: oneNodeRounds, atLeast: 0)
      let taken = try repeated.run(
        units: 1,
        [.ours { try bench.preserveOne() }, Lane(name: "raw") { try bench.appendRaw() }]
          + bench.sqliteLane { bench.preserveOneWithSQLite($0) })
      let processor = try Measurement(clock: .processor, rounds: oneNodeRounds, atLeast: 0).run(
        units: 1, [.ours { try bench.preserveOne() }, Lane(name: "raw") { try bench.appendRaw() }])
      var line = result("preserveOne", count, "ns", taken, bytes: Double(bench.deltaBytes))
      line.details = [
        "share of the archive written, %": 100 * Double(bench.deltaBytes) / Double(bench.archiveBytes),
        "CPU above raw append, µs":
          ((processor[Lane.ours]?.nanoseconds ?? 0) - (processor["raw"]?.nanoseconds ?? 0)) / 1_000,
        "of it encoding and making the delta, µs": median(of: bench.deltaTimes) / 1_000,
      ]
      results.append(line)
    }
    if wants("preserveNone") {
      let taken = try Measurement(clock: .processor, rounds: rounds).run(
        units: 1, [.ours { try bench.preserveNothing() }])
      results.append(result("preserveNone", count, "ns", taken, bytes: 0))
    }
    if wants("restoreOneCold") {
      for isLong in effort.isLinear ? [false] : [false, true] {
        try bench.preserveAll()
        if isLong { try bench.fillJournal() }
        let taken = try Measurement(clock: .wall, rounds: effort.rounds(0) * 5, atLeast: 0).run(
          units: 1,
          [.ours { try bench.restoreOneCold() }]
            + (isLong ? [] : bench.jsonLane { try bench.restoreOneFromJSON() })
            + bench.sqliteLane { bench.restoreOneFromSQLite($0) })
        var line = result("restoreOneCold", count, "ns", taken, bytes: nil)
        line.workload = isLong ? "journal" : "typical"
        line.details = ["chunks opened": Double(bench.chunksOpened), "frames": Double(bench.frameCount)]
        results.append(line)
      }
    }
    if wants("restoreOneOpen") {
      try bench.preserveAll()
      let reader = try bench.openReader().reader
      try bench.warm(reader)
      let taken = try Measurement(clock: .processor, rounds: rounds).run(
        units: 1, [.ours { try bench.restoreOne(reader) }])
      results.append(result("restoreOneOpen", count, "ns", taken, bytes: nil))
    }
    if wants("durableWrite") {
      for size in [30_000, bench.archiveBytes] {
        let data = Data(repeating: 0x5A, count: size)
        let taken = try wall.run(units: 1, [.ours { try RawFile.replace("raw", in: bench.directory, with: data) }])
        var line = result("durableWrite", count, "ns", taken, bytes: Double(size))
        line.workload = size == 30_000 ? "30 KB" : "like the archive"
        results.append(line)
      }
    }
    if wants("journalAppend") {
      try bench.preserveAll()
      let frame = Data(repeating: 0x5A, count: 400)
      let taken = try Measurement(clock: .wall, rounds: effort.rounds(0) * 10, atLeast: 0).run(
        units: 1, [.ours { try bench.append(frame) }, Lane(name: "raw") { try bench.appendRaw(frame) }])
      results.append(result("journalAppend", count, "ns", taken, bytes: 400))
    }
    return results
  }

  /// What sealing adds to encoding the same nodes and laying them out, in processor time.
  private func encryption(_ bench: DiskBench, _ rounds: Int) throws -> [String: Double] {
    let key = KeyHolder(try SecretKey(copying: [UInt8](repeating: 7, count: 32).span))
    let context = [UInt8]("restore-bench".utf8)
    let archive = [UInt8](try bench.makeArchive())
    let taken = try Measurement(clock: .processor, rounds: rounds, atLeast: 0).run(
      units: 1,
      [
        .ours { try bench.makeArchive() },
        Lane(name: "seal") {
          consume(
            try ChunkedEncryption.seal(archive.span, key: key.key, context: context.span, random: SystemRandom()).bytes)
        },
      ])
    let encoding = taken[Lane.ours]?.nanoseconds ?? .nan
    let sealing = taken["seal"]?.nanoseconds ?? .nan
    return [
      "encoding and laying out, CPU ms": encoding / 1e6, "sealing, CPU ms": sealing / 1e6,
      "sealing on top of encoding, %": 100 * sealing / encoding,
    ]
  }

  private func result(
    _ metric: String, _ count: Int, _ unit: String, _ taken: [String: Taken], bytes: Double?
  ) -> Result {
    var baselines = taken.mapValues(\.nanoseconds)
    let ours = baselines.removeValue(forKey: Lane.ours) ?? .nan
    return Result(
      metric: metric, nodes: count, workload: nil, unit: unit, value: ours, baselines: baselines, bytes: bytes)
  }
}
