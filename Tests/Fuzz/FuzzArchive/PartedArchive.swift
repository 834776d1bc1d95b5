import Foundation
import RestorationArchive

/// A tree in three parts with boundaries up and down, whose bytes are changed.
struct PartedArchive {
  private var files: [(part: RestorationArchive.Part, base: Data, deltas: [Data])] = []
  private var nodes: [NodeID] = []

  static let sample = PartedArchive()

  private init() {
    do {
      // The same numbers in every process, so that inputs mean the same.
      let bits = Counter()
      var writer = RestorationArchive.PartedWriter(
        context: RestorationArchive.Context(timeSaved: Date(timeIntervalSinceReferenceDate: 1)),
        draw: { bits.next() })
      let parts = RestorationArchive.Part.allCases
      for number in 0..<9 {
        let parent = number == 0 || number == 4 ? nil : nodes[(number - 1) / 2]
        let node = try writer.insert(
          RestorationIdentifier("n\(number)"), parent: parent, attributes: .init(classTag: "t"), part: parts[number % 3]
        )
        try writer.setRecord(of: node, entries: [.init(key: "k", value: number)], attributes: .init(classTag: "t"))
        nodes.append(node)
      }
      for part in writer.parts { files.append((part, try writer.makeArchive(of: part), [])) }
      let map = try writer.move(nodes[8], to: nodes[1])
      nodes[8] = map[nodes[8]] ?? nodes[8]
      try writer.setRecord(of: nodes[5], entries: [.init(key: "l", value: "text")], attributes: .init())
      for index in files.indices {
        if let delta = try writer.makeDelta(of: files[index].part) { files[index].deltas.append(delta) }
      }
    } catch { preconditionFailure("a tree in parts cannot be made: \(error)") }
  }

  /// Changes bytes, each by four of the input, and reads and writes all there is.
  func change(_ bytes: Data) {
    var copy = self
    var bytes = [UInt8](bytes)[...]
    while bytes.count >= 4 {
      let change = Array(bytes.prefix(4))
      let index = Int(change[0]) % files.count
      let isDelta = change[0] & 0x80 != 0 && !files[index].deltas.isEmpty
      let count = isDelta ? files[index].deltas[0].count : files[index].base.count
      let place = (Int(change[1]) << 8 | Int(change[2])) % count
      if isDelta { copy.files[index].deltas[0][place] = change[3] } else { copy.files[index].base[place] = change[3] }
      bytes = bytes.dropFirst(4)
    }
    copy.exercise()
  }

  private func exercise() {
    let limits = RestorationArchive.Limits(nodeCount: 1_000, depth: 32, bytesPerArchive: 1 << 16)
    var readers: [RestorationArchive.Part: RestorationArchive.Reader] = [:]
    for file in files {
      readers[file.part] = try? RestorationArchive.Reader(base: .init(file.base), deltas: file.deltas, limits: limits)
    }
    guard let first = readers.removeValue(forKey: .first) else { return }
    let away = Set(files.map(\.part)).subtracting(readers.keys).subtracting([.first])
    guard let reader = try? RestorationArchive.PartedReader(first: first, further: readers, away: away) else { return }
    let walk = RestorationArchive.PartedWalk(reader)
    var pending = (try? reader.roots) ?? []
    var count = 0
    while let id = pending.popLast(), count < reader.nodeCount {
      count += 1
      guard let visit = try? walk.visit(id) else { continue }
      pending += visit.children
      _ = try? walk.decoder(of: visit)
      _ = try? reader.path(of: id)
      _ = try? reader.record(of: id)
    }
    _ = try? reader.irregularities()
    guard var writer = try? RestorationArchive.PartedWriter(continuing: reader, limits: limits) else { return }
    _ = try? writer.assign([nodes[0]: files[1].part, nodes[1]: files[2].part, nodes[2]: .first])
    for (id, other) in zip(nodes, nodes.dropFirst(3)) { _ = try? writer.move(id, to: other) }
    _ = try? writer.insert("added by the fuzzer", parent: nodes[3], part: files[2].part)
    if let irregularities = try? writer.irregularities() {
      for id in irregularities.unplaced { _ = try? writer.move(id, to: nil) }
      for id in irregularities.missing { try? writer.remove(id) }
    }
    try? writer.remove(nodes[4], orphaningAway: true)
    for part in writer.parts {
      _ = try? writer.makeDelta(of: part)
      guard let archive = try? writer.makeArchive(of: part) else { continue }
      do {
        let again = try RestorationArchive.Reader(base: .init(archive), limits: limits)
        precondition(again.nodeCount == writer.nodeCount(of: part) && again.liveBytes == writer.liveBytes(of: part))
      } catch { preconditionFailure("a part that was written cannot be read: \(error)") }
    }
  }
}

/// Numbers in order, spread over all bits.
private final class Counter: @unchecked Sendable {
  // Sendable: one thread makes the sample.
  private var count: UInt32 = 0

  func next() -> UInt32 {
    count += 1
    return count &* 0x9E37_79B9
  }
}
