import FoundationEssentials
import RestorationArchive

/// A state with a few kinds of values.
private struct State: Codable {
  var title: String
  var numbers: [Int]
  var ratio: Double
  var note: String?
}

/// A valid base and two deltas, which inputs change in places.
private let sample: (base: Data, deltas: [Data]) = {
  var writer = RestorationArchive.Writer(
    context: RestorationArchive.Context(timeSaved: Date(timeIntervalSinceReferenceDate: 1)))
  func state(_ number: Int) -> [RestorationArchive.Entry] {
    [
      RestorationArchive.Entry(
        key: "state", value: State(title: "state \(number)", numbers: [1, 2, number], ratio: 0.5, note: nil))
    ]
  }
  do {
    let root = try writer.insert("root")
    for number in 0..<4 {
      let child = try writer.insert("child \(number)", parent: root)
      try writer.setRecord(of: child, entries: state(number), attributes: .init(classTag: "child"))
    }
    let base = try writer.makeArchive()
    try writer.setRecord(of: root, entries: state(9), attributes: .init(classTag: "root"))
    let added = try writer.insert("added")
    let first = try writer.makeDelta()
    try writer.move(root, to: added)
    let second = try writer.makeDelta()
    return (base, [first ?? Data(), second ?? Data()])
  } catch {
    fatalError("the sample cannot be made: \(error)")
  }
}()

/// Reads and edits an archive in every way; errors are fine, traps and endless loops are not.
///
/// An input that begins with a zero is a base as it is; others are lists of changes to a valid archive, each four
/// bytes: which of its parts, a position, a value.
@c(LLVMFuzzerTestOneInput)
public func fuzzArchive(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let start = unsafe start, count > 0 else { return 0 }
  let input = unsafe Data(bytes: start, count: count)
  if input[0] == 0 {
    exercise(input.dropFirst(), [])
    return 0
  }
  var parts = [sample.base] + sample.deltas
  var position = 1
  while position + 4 <= input.count {
    let part = Int(input[position]) % parts.count
    let place = (Int(input[position + 1]) << 8 | Int(input[position + 2])) % parts[part].count
    parts[part][place] = input[position + 3]
    position += 4
  }
  exercise(parts[0], Array(parts[1...]))
  return 0
}

private func exercise(_ base: Data, _ deltas: [Data]) {
  let limits = RestorationArchive.Limits(nodeCount: 10_000, depth: 64)
  let source = RestorationArchive.Source(Data(base))
  guard let reader = try? RestorationArchive.Reader(base: source, deltas: deltas, limits: limits) else { return }
  _ = try? reader.context
  for number in 0..<8 as Range<UInt32> {
    let id = NodeID(rawValue: number)
    _ = try? reader.node(id)
    _ = try? reader.children(of: id)
    _ = try? reader.path(of: id)
    if let record = try? reader.record(of: id) { _ = try? record.decode(State.self, forKey: "state") }
  }
  for path: RestorationPath in [["root", "child 2"], ["added", "root", "child 1"], ["nothing"]] {
    _ = try? reader.record(at: path)
  }
  _ = try? RestorationArchive.Dump(reader, revealsValues: true).json()
  guard var writer = try? RestorationArchive.Writer(continuing: reader, limits: limits) else { return }
  if let root = try? writer.roots.first {
    _ = try? writer.insert("more", parent: root)
    _ = try? writer.makeDelta()
    try? writer.remove(root)
  }
  _ = try? writer.makeArchive()
}
