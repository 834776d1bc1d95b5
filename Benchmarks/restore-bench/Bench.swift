import DataProtection
import Foundation

/// Runs the metrics of the options.
struct Bench {
  /// The names of all metrics, in the order of the table.
  static let metricNames = [
    "encode", "decode", "size", "encodeSmall", "decodeSmall", "restoreOneCold", "restoreOneOpen", "preserveOne",
    "preserveNone", "preserveAll", "restoreAll", "captureAll", "captureOne", "askAll", "seal", "open", "openChunk",
    "durableWrite", "journalAppend", "unlock", "launch",
  ]

  /// What the command line asks for.
  var options: Options
  /// Tells the metric in progress.
  var progress: (String) -> Void

  /// Whether a metric was asked for.
  var wants: @Sendable (String) -> Bool {
    let only = options.only
    return { only.isEmpty || only.contains($0) }
  }

  /// Measures everything that was asked for.
  func run() async throws -> [Result] {
    var results: [Result] = []
    let rounds = options.isQuick ? 5 : 15
    let effort = Effort(isQuick: options.isQuick, isLinear: options.isLinear)
    let coding = CodingMetrics(measurement: Measurement(clock: .processor, rounds: rounds), wants: wants)
    progress("one small state")
    results += try coding.small()
    for count in options.nodes {
      progress("coding \(count) typical nodes")
      results += try coding.run(Typical.self, count: count)
    }
    if !options.isQuick {
      let count = min(options.nodes.max() ?? 100, 500)
      progress("coding the other workloads")
      results += try coding.run(Deep.self, count: count)
      results += try coding.run(Wide.self, count: count)
      results += try coding.run(Texts.self, count: count)
      results += try coding.tree()
    }
    let count = options.nodes.max() ?? 1_000
    progress("sealing")
    let sealing = SealingMetrics(measurement: coding.measurement, wants: wants)
    results += try sealing.run(count: count)
    let folder = options.directory.map { URL(fileURLWithPath: $0) } ?? FileManager.default.temporaryDirectory
    let directory = folder.appendingPathComponent("restore-bench-\(ProcessInfo.processInfo.processIdentifier)").path
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let device = try await ProtectedDevice.open(at: .directory("\(directory)/device"))
    for count in options.isLinear ? options.nodes : [count] {
      progress("saving and restoring \(count) nodes on \(directory)")
      results += try DiskMetrics(effort: effort, wants: wants, directory: directory).run(count: count, device: device)
      if !options.isLinear {
        progress("\(count) nodes of two classes")
        results += try PartsMetrics(effort: effort, wants: wants).run(count: count, device: device)
      }
      progress("the whole engine with \(count) nodes")
      results += try await EngineMetrics(effort: effort, wants: wants).run(count: count, device: device)
    }
    progress("unlocking")
    results += try await sealing.unlock(device, rounds: 3)
    if wants("launch"), !options.isLinear {
      progress("launching")
      results += try await LaunchMetrics(rounds: options.isQuick ? 5 : 31, directory: directory).run()
    }
    return results
  }
}
