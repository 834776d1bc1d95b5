import FoundationEssentials
import RestorationArchive
import Synchronization

/// The state that the tests' nodes have.
struct SampleState: Codable, Hashable, Sendable {
  var title: String
  var count: Int
  var ratio: Double
  var marks: [Int]
  var note: String?

  init(_ number: Int) {
    title = "title of \(number) — naïve"
    count = number
    ratio = Double(number) / 3
    marks = Array(0..<number % 7)
    note = number.isMultiple(of: 3) ? nil : "note \(number)"
  }
}

typealias Archive = RestorationArchive

extension RestorationArchive.Context {
  /// A context with something in every field.
  static let sample = {
    var context = RestorationArchive.Context(
      applicationVersion: "2.1", schemaVersion: 3, systemVersion: "6.8.0",
      timeSaved: Date(timeIntervalSince1970: 1.25e9), interfaceIdiom: .terminal, versionTag: "blue")
    (context.boot, context.bootSeconds) = ("a start of the machine", 70_000)
    return context
  }()
}

extension RestorationArchive.Writer {
  /// A writer with `branches` roots of `leaves` children each, all with state.
  static func sample(
    branches: Int, leaves: Int, limits: RestorationArchive.Limits = .default
  ) throws -> RestorationArchive.Writer {
    var writer = RestorationArchive.Writer(context: .sample, limits: limits)
    for branch in 0..<branches {
      let parent = try writer.insert("container \(branch)")
      try writer.set(parent, branch)
      for leaf in 0..<leaves {
        let child = try writer.insert("document \(branch).\(leaf)", parent: parent)
        try writer.set(child, branch * leaves + leaf)
      }
    }
    return writer
  }

  /// Gives a node the sample state of a number.
  mutating func set(_ id: NodeID, _ number: Int, priority: RestorationArchive.Priority = .normal) throws {
    try setRecord(
      of: id,
      entries: [
        RestorationArchive.Entry(key: "state", value: SampleState(number)),
        RestorationArchive.Entry(key: "number", value: number),
      ],
      attributes: RestorationArchive.Attributes(classTag: "document", version: 2, priority: priority))
  }
}

/// Bytes in memory that count what is read of them.
final class CountedBytes: Sendable {
  let data: Data
  private let ranges = Mutex<[Range<Int>]>([])

  init(_ data: Data) {
    self.data = data
  }

  /// The ranges read so far.
  var read: [Range<Int>] { ranges.withLock { $0 } }

  /// The numbers of the sealed file's chunks that were needed so far.
  var chunks: Set<Int> { Set(read.flatMap { $0.lowerBound / 16384...($0.upperBound - 1) / 16384 }) }

  var source: RestorationArchive.Source {
    RestorationArchive.Source(byteCount: data.count) { range in
      self.ranges.withLock { $0.append(range) }
      return self.data[range]
    }
  }
}

/// Counts calls from any thread.
final class Counter: Sendable {
  private let calls = Mutex(0)

  /// The number so far.
  var count: Int { calls.withLock { $0 } }

  func add() { calls.withLock { $0 += 1 } }
}
