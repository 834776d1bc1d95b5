import DataProtection
import Foundation
import StateRestoration

/// What a user waits for at a launch: each measured in a new process that opens the device and restores.
///
/// `strace -f restore-bench --child-launch value 10 DIRECTORY` shows the system calls of one; the directory is there
/// while the metric runs.
@MainActor
struct LaunchMetrics {
  /// The launches of each kind.
  var rounds: Int
  /// The directory to write in.
  var directory: String

  /// The numbers of nodes.
  static let sizes = [10, 100, 1_000]

  /// The configuration of parent and children.
  static var configuration: RestorationConfiguration {
    var configuration = RestorationConfiguration(application: "restore-bench.launch")
    configuration.protection = .completeUntilFirstUserAuthentication
    return configuration
  }

  /// Measures every size, without a passcode and with one whose keys a custody has kept.
  func run() async throws -> [Result] {
    var results: [Result] = []
    for hasPasscode in [false, true] {
      for count in Self.sizes {
        results.append(try await measure(count, hasPasscode: hasPasscode))
      }
    }
    for count in Self.sizes { results += try await measureClasses(count) }
    return results
  }

  /// A launch where every other object is of a stronger class, unlocked beside one where all are of one class, and locked
  /// beside one of the same program where only the others were preserved.
  private func measureClasses(_ count: Int) async throws -> [Result] {
    let nodes = Typical.nodes(count)
    func place(_ way: LaunchChild.Way) -> String { "\(directory)/launch-\(count)-\(way)" }
    try await preserve(BenchTree(nodes, secret: .complete), hasPasscode: true, in: place(.divided))
    try await preserve(BenchTree(nodes), hasPasscode: true, in: place(.value))
    try await preserve(BenchTree(nodes, secret: .complete), hasPasscode: true, endsLocked: true, in: place(.locked))
    let weaker = BenchTree(nodes, secret: .complete)
    weaker.removeSecrets()
    try await preserve(weaker, hasPasscode: true, in: place(.weaker))
    var walls: [LaunchChild.Way: [Double]] = [:]
    for round in 0...rounds {
      for way in [LaunchChild.Way.divided, .value, .locked, .weaker] {
        let launch = try launch(way, count, in: place(way))
        if round > 0 { walls[way, default: []].append(launch.wall) }
      }
    }
    let medians = walls.mapValues { median(of: $0) }
    func result(_ workload: String, _ way: LaunchChild.Way, _ name: String, _ other: LaunchChild.Way) -> Result {
      Result(
        metric: "launch", nodes: count, workload: workload, unit: "ns", value: medians[way] ?? .nan,
        baselines: [name: medians[other] ?? .nan])
    }
    return [
      result("two classes", .divided, "one-class", .value),
      result("two classes, locked", .locked, "weaker-alone", .weaker),
    ]
  }

  private func measure(_ count: Int, hasPasscode: Bool) async throws -> Result {
    let place = "\(directory)/launch-\(count)-\(hasPasscode)"
    let hasSQLite = try await prepare(count, hasPasscode: hasPasscode, in: place)
    let ways: [LaunchChild.Way] = [.value, .json] + (hasSQLite ? [.sqlite] : [])
    var taken: [LaunchChild.Way: [LaunchTaken]] = [:]
    // Once unmeasured, so that program and files are in the page cache; then in turn.
    for round in 0...rounds {
      for way in ways {
        let launch = try launch(way, count, in: place)
        if round > 0 { taken[way, default: []].append(launch) }
      }
    }
    let walls = taken.mapValues { median(of: $0.map(\.wall)) }
    var result = Result(
      metric: "launch", nodes: count, workload: hasPasscode ? "passcode" : nil, unit: "ns",
      value: walls[.value] ?? .nan, baselines: [:])
    var details = try launch(.counted, count, in: place).counts
    for way in ways {
      if way != .value { result.baselines[way.rawValue] = walls[way] }
      let processor = (taken[way] ?? []).map(\.processor)
      details["CPU of all threads, ms: \(way)"] = median(of: processor) / 1e6
    }
    let opening = "of it opening the device, ms"
    details[opening] = median(of: (taken[.value] ?? []).compactMap { $0.counts[opening] })
    result.details = details
    return result
  }

  /// Puts the same states where each way looks for them; returns whether there is SQLite.
  private func prepare(_ count: Int, hasPasscode: Bool, in place: String) async throws -> Bool {
    let nodes = Typical.nodes(count)
    try await preserve(BenchTree(nodes), hasPasscode: hasPasscode, in: place)
    try JSONEncoder().encode(nodes.map(\.state)).write(to: URL(fileURLWithPath: "\(place)/states.json"))
    guard let sqlite = SQLite() else { return false }
    let encoder = ArchiveEncoder()
    sqlite.connect("\(place)/states.sqlite")
    sqlite.run("CREATE TABLE state (id INTEGER PRIMARY KEY, value BLOB)")
    sqlite.replace(try nodes.enumerated().map { ($0.offset, try encoder.encode($0.element.state)) })
    sqlite.disconnect()
    return true
  }

  /// Preserves a hierarchy on a device of its own.
  private func preserve(_ tree: BenchTree, hasPasscode: Bool, endsLocked: Bool = false, in place: String) async throws {
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    var options = ProtectedDevice.Options()
    let custody = hasPasscode ? FileCustody.make("\(place)/custody.json") : nil
    options.custody = custody
    let device = try await ProtectedDevice.open(at: .directory("\(place)/device"), options: options)
    if hasPasscode {
      try await device.setPasscode(try ProtectedDevice.Passcode("2580"))
    }
    let delegate = Willing()
    let coordinator = try RestorationCoordinator(
      device: device, delegate: delegate, configuration: Self.configuration)
    _ = try await coordinator.restore(into: tree.root)
    _ = try await coordinator.preserve(tree.root)
    if endsLocked { device.lock(gracePeriod: .zero) }
    try custody?.save()
  }

  /// Runs this program again as a child.
  private func launch(_ way: LaunchChild.Way, _ count: Int, in place: String) throws -> LaunchTaken {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [LaunchChild.argument, way.rawValue, String(count), place]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw WrongValue(description: "a launch of \(count) nodes (\(way)) ended with \(process.terminationStatus)")
    }
    return try JSONDecoder().decode(LaunchTaken.self, from: data)
  }
}
