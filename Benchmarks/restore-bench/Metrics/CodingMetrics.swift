import Foundation
import RestorationArchive

/// Metrics of the coder alone: no archive, no disk.
struct CodingMetrics {
  /// How to measure.
  var measurement: Measurement
  /// Whether a metric was asked for.
  var wants: @Sendable (String) -> Bool

  /// Encoding, decoding and size of a workload of many nodes.
  func run<W: Workload>(_ workload: W.Type, count: Int) throws -> [Result] {
    try run(W.name, W.nodes(count), units: count)
  }

  /// The same of one value that is a tree of a thousand nodes.
  func tree() throws -> [Result] {
    var random = SplitMix(seed: 20_261_121)
    let state = Tree.make(&random)
    return try run(Tree.name, [Node(identifier: "tree", classTag: "tree", version: 1, state: state)], units: 1_000)
  }

  private func run<State>(_ name: String, _ nodes: [Node<State>], units count: Int) throws -> [Result] {
    guard wants("encode") || wants("decode") || wants("size") else { return [] }
    let typical = nodes as? [Node<Typical.State>]
    let ours = try ArchiveEncoder().encode(nodes)
    let json = try JSONEncoder().encode(nodes)
    let plist = PropertyListEncoder()
    plist.outputFormat = .binary
    let list = try plist.encode(nodes)
    var results: [Result] = []
    if wants("size") {
      results.append(
        Result(
          metric: "size", nodes: count, workload: name, unit: "bytes/node", value: Double(ours.count) / Double(count),
          baselines: ["json": Double(json.count) / Double(count), "plist": Double(list.count) / Double(count)],
          bytes: Double(ours.count) / Double(count)))
    }
    if wants("encode") {
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count * 1024 + 4096, alignment: 16)
      defer { unsafe memory.deallocate() }
      var lanes = [
        Lane.ours { consume(try ArchiveEncoder().encode(nodes)) },
        Lane(name: "json") { consume(try JSONEncoder().encode(nodes)) },
        Lane(name: "plist") { consume(try plist.encode(nodes)) },
        Lane(name: "floor.codable") { try nodes.encode(to: NoOpEncoder()) },
      ]
      if let typical {
        lanes.append(
          Lane(name: "floor.handwritten") {
            var writer = unsafe HandwrittenWriter(memory)
            for node in typical { writer.write(node) }
            consume(writer.count)
          })
      }
      let taken = try measurement.run(units: count, lanes)
      try checkAllocations(taken, of: typical, beyond: 0)
      results.append(result("encode", name, count, taken, bytes: ours.count))
    }
    if wants("decode") {
      try verify(try ArchiveDecoder().decode([Node<State>].self, from: ours) == nodes, "the archive coder")
      try verify(try JSONDecoder().decode([Node<State>].self, from: json) == nodes, "JSON")
      try verify(try PropertyListDecoder().decode([Node<State>].self, from: list) == nodes, "property lists")
      var lanes = [
        Lane.ours { consume(try ArchiveDecoder().decode([Node<State>].self, from: ours)) },
        Lane(name: "json") { consume(try JSONDecoder().decode([Node<State>].self, from: json)) },
        Lane(name: "plist") { consume(try PropertyListDecoder().decode([Node<State>].self, from: list)) },
      ]
      if let typical {
        lanes.append(
          Lane(name: "floor.codable") { consume(try [Node<State>](from: NoOpDecoder(count: count))) })
        let bytes = handwritten(typical)
        let back = decode(handwritten: bytes, count: count)
        try verify(back == typical, "the handwritten serializer")
        lanes.append(Lane(name: "floor.handwritten") { consume(decode(handwritten: bytes, count: count)) })
      }
      let taken = try measurement.run(units: count, lanes)
      try checkAllocations(taken, of: typical, beyond: taken["floor.handwritten"]?.allocations ?? 0)
      results.append(result("decode", name, count, taken, bytes: ours.count))
    }
    return results
  }

  /// One small state alone, with a fresh coder each time and with one that is used again.
  func small() throws -> [Result] {
    guard wants("encodeSmall") || wants("decodeSmall") else { return [] }
    let state = Typical.nodes(1)[0]
    let ours = try ArchiveEncoder().encode(state)
    let json = try JSONEncoder().encode(state)
    let plist = PropertyListEncoder()
    plist.outputFormat = .binary
    let list = try plist.encode(state)
    var results: [Result] = []
    if wants("encodeSmall") {
      let reused = ArchiveEncoder()
      let reusedJSON = JSONEncoder()
      let taken = try measurement.run(
        units: 1,
        [
          Lane.ours { consume(try ArchiveEncoder().encode(state)) },
          Lane(name: "reused") { consume(try reused.encode(state)) },
          Lane(name: "json") { consume(try JSONEncoder().encode(state)) },
          Lane(name: "json.reused") { consume(try reusedJSON.encode(state)) },
          Lane(name: "plist") { consume(try plist.encode(state)) },
        ])
      results.append(result("encodeSmall", "typical", 1, taken, bytes: ours.count))
    }
    if wants("decodeSmall") {
      typealias State = Node<Typical.State>
      try verify(try ArchiveDecoder().decode(State.self, from: ours) == state, "the archive coder")
      let reused = ArchiveDecoder()
      let reusedJSON = JSONDecoder()
      let taken = try measurement.run(
        units: 1,
        [
          Lane.ours { consume(try ArchiveDecoder().decode(State.self, from: ours)) },
          Lane(name: "reused") { consume(try reused.decode(State.self, from: ours)) },
          Lane(name: "json") { consume(try JSONDecoder().decode(State.self, from: json)) },
          Lane(name: "json.reused") { consume(try reusedJSON.decode(State.self, from: json)) },
          Lane(name: "plist") { consume(try PropertyListDecoder().decode(State.self, from: list)) },
        ])
      results.append(result("decodeSmall", "typical", 1, taken, bytes: ours.count))
    }
    return results
  }

  /// Fails when coding allocates more than once for each keyed container beyond what making the values takes.
  ///
  /// Counts don't depend on the machine's mood, so they can be a gate; times can't. A debug build allocates more.
  private func checkAllocations(_ taken: [String: Taken], of nodes: [Node<Typical.State>]?, beyond own: Double) throws {
    #if !DEBUG
    guard let nodes, let allocations = taken[Lane.ours]?.allocations else { return }
    // The node, its state and its frame; and for all of them together the doublings of a buffer.
    let allowed = own + 3 + 64 / Double(nodes.count)
    guard allocations <= allowed else {
      throw WrongValue(description: "coding made \(allocations) allocations a node and may make \(allowed)")
    }
    #endif
  }

  private func result(
    _ metric: String, _ workload: String, _ count: Int, _ taken: [String: Taken], bytes: Int
  ) -> Result {
    var baselines = taken.mapValues(\.nanoseconds)
    let ours = baselines.removeValue(forKey: Lane.ours) ?? .nan
    let floors = taken.filter { $0.key.hasPrefix("floor") }.map { ("\($0.key) allocations", $0.value.allocations) }
    return Result(
      metric: metric, nodes: count, workload: workload, unit: "ns/node", value: ours, baselines: baselines,
      allocations: taken[Lane.ours]?.allocations, bytes: Double(bytes) / Double(count),
      details: floors.isEmpty ? nil : Dictionary(uniqueKeysWithValues: floors))
  }

  private func handwritten(_ nodes: [Node<Typical.State>]) -> Data {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: nodes.count * 1024 + 4096, alignment: 16)
    defer { unsafe memory.deallocate() }
    var writer = unsafe HandwrittenWriter(memory)
    for node in nodes { writer.write(node) }
    return unsafe Data(memory[..<writer.count])
  }

  private func decode(handwritten bytes: Data, count: Int) -> [Node<Typical.State>] {
    unsafe bytes.withUnsafeBytes { raw in
      var reader = unsafe HandwrittenReader(raw)
      return (0..<count).map { _ in reader.node() }
    }
  }
}

/// A decoded value isn't its input, or a count is above its limit.
struct WrongValue: Error, CustomStringConvertible {
  /// The mistake.
  var description: String
}

/// Throws when a decoded value isn't its input.
func verify(_ isRight: Bool, _ name: String) throws {
  guard isRight else { throw WrongValue(description: "\(name) gave back other values than it was given") }
}
