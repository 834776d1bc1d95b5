import Foundation
import RestorationArchive

/// Reads and edits archives in every way: errors are fine; traps, endless loops and archives that contradict themselves
/// are not.
///
/// An input that begins as a base or as a delta does is one: so the golden files are seeds as they are. A delta stands
/// in its place among the golden ones. Inputs that begin with 1 are edits of an archive without damage, of which
/// the writer and every reader must agree. Inputs that begin with 2 are changes of a tree in several parts. Others are
/// changes of the golden files. A change is four bytes: of which file, a position, a value.
@c(LLVMFuzzerTestOneInput)
public func fuzzArchive(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let start = unsafe start, count > 0 else { return 0 }
  let input = unsafe Data(bytes: start, count: count)
  if input.starts(with: [0x89, 0x52, 0x53, 0x41]), count > 16 {
    if input[12] == 0 {
      exercise(input, [])
      return 0
    }
    var deltas = Golden.files.deltas
    let number = (Int(input[12]) + deltas.count - 1) % deltas.count
    deltas[number] = input
    exercise(Golden.files.base, deltas)
  } else if input[0] == 1 {
    EditedArchive().edit(input.dropFirst())
  } else if input[0] == 2 {
    PartedArchive.sample.change(input.dropFirst())
  } else {
    var parts = [Golden.files.base] + Golden.files.deltas
    var position = 1
    while position + 4 <= input.count {
      let part = Int(input[position]) % parts.count
      let place = (Int(input[position + 1]) << 8 | Int(input[position + 2])) % parts[part].count
      parts[part][place] = input[position + 3]
      position += 4
    }
    exercise(parts[0], Array(parts[1...].prefix(Int(input[0]) % parts.count)))
  }
  return 0
}

/// The golden files.
struct Golden {
  let base: Data
  let deltas: [Data]

  static let files = Golden()

  private init() {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "../../Fixtures/Archives/0.1.0")
    func file(_ name: String) -> Data {
      do {
        return try Data(contentsOf: folder.appendingPathComponent("\(name).bin"))
      } catch { fatalError("the golden files are not where they were: \(error)") }
    }
    base = file("base")
    deltas = [file("delta-1"), file("delta-2"), file("delta-3")]
  }
}

/// A state with a few kinds of values, all of which may be missing.
private struct State: Codable {
  var title: String?
  var numbers: [Int]?
  var ratio: Double?
  var note: [String: State]?
}

/// A value of any kind, read as far as its bytes tell of it.
private struct Unknown: Decodable {
  private struct Key: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: Key.self) {
      for key in container.allKeys { _ = try container.decode(Unknown.self, forKey: key) }
    } else if var list = try? decoder.unkeyedContainer() {
      while !list.isAtEnd { _ = try list.decode(Unknown.self) }
    } else {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() { return }
      for type in [Bool.self, UInt128.self, Int128.self, Double.self, Date.self, UUID.self, String.self]
        as [any Decodable.Type]
      where (try? container.decode(type)) != nil { return }
      _ = try container.decode(Data.self)
    }
  }
}

/// Reads all there is from the roots on, as a tool does that shows an archive.
private func dump(_ reader: RestorationArchive.Reader) {
  var pending = (try? reader.roots) ?? []
  var count = 0
  // Damage can make circles: a tool counts.
  while let id = pending.popLast(), count < reader.nodeCount {
    count += 1
    guard let node = try? reader.node(id) else { continue }
    precondition(node.id == id)
    if let record = try? reader.record(of: id) {
      for key in record.keys {
        precondition(record.contains(key))
        _ = try? record.decode(Unknown.self, forKey: key)
      }
    }
    pending += (try? reader.children(of: id)) ?? []
  }
}

/// Asks everything that a reader can be asked, then goes on writing.
private func exercise(_ base: Data, _ deltas: [Data]) {
  let limits = RestorationArchive.Limits(nodeCount: 10_000, depth: 64, bytesPerArchive: 1 << 16)
  let source = RestorationArchive.Source(base)
  guard let reader = try? RestorationArchive.Reader(base: source, deltas: deltas, limits: limits) else { return }
  _ = try? reader.context
  var ids = (try? reader.roots) ?? []
  for number in 0..<8 as Range<UInt32> {
    let id = NodeID(rawValue: number)
    ids += (try? reader.children(of: id)) ?? []
    if let node = try? reader.node(id) {
      precondition(node.id == id)
      if let path = try? reader.path(of: id) { _ = try? reader.record(at: path) }
    }
    guard let record = try? reader.record(of: id) else { continue }
    for key in record.keys {
      _ = try? record.decode(State.self, forKey: key)
      _ = try? record.decode([String: Int].self, forKey: key)
      _ = try? record.decode(Unknown.self, forKey: key)
    }
  }
  for path: RestorationPath in [["root"], ["window", "tabs"], ["nothing"]] { _ = try? reader.record(at: path) }
  dump(reader)
  write(continuing: reader, limits, ids: ids)
}

private func isBelowRoot(_ id: NodeID, _ writer: RestorationArchive.Writer) throws -> Bool {
  var next: NodeID? = id
  while let current = next {
    guard let node = try writer.node(current) else { return false }
    next = node.parent
  }
  return true
}

/// Goes on writing from whatever was read; what is written must be readable.
private func write(continuing reader: RestorationArchive.Reader, _ limits: RestorationArchive.Limits, ids: [NodeID]) {
  guard var writer = try? RestorationArchive.Writer(continuing: reader, limits: limits) else { return }
  let entries = [
    RestorationArchive.Entry(key: "state", value: State(title: "t", numbers: [1, 2], ratio: 0.5, note: [:]))
  ]
  let added = try? writer.insert("added by the fuzzer", parent: ids.first)
  if let added { _ = try? writer.setRecord(of: added, entries: entries, attributes: .init(classTag: "fuzzed")) }
  for (id, other) in zip(ids, ids.dropFirst()).prefix(4) {
    try? writer.move(id, to: other)
    try? writer.rename(other, to: "renamed")
    _ = try? writer.setRecord(of: id, entries: entries, attributes: .init(classTag: "child"))
    if let children = try? writer.children(of: other) { try? writer.setChildren(children.reversed(), of: other) }
  }
  _ = try? writer.makeDelta()
  if let last = ids.last { try? writer.remove(last) }
  _ = try? writer.makeDelta()
  var sheddings = writer.takeSheddings()
  guard let archive = try? writer.makeArchive() else { return }
  sheddings += writer.takeSheddings()
  // The writer keeps what it leaves out of the archive.
  let isWhole = !sheddings.contains(where: \.isLeftOut)
  do {
    let again = try RestorationArchive.Reader(base: RestorationArchive.Source(archive), limits: limits)
    precondition(again.nodeCount == writer.nodeCount && again.liveBytes == writer.liveBytes)
    for root in try again.roots { _ = try again.path(of: root) }
    // One below a boundary has a path in its own part only, and can't be found by that.
    if let added, let node = try writer.node(added), try isBelowRoot(added, writer) {
      let found = try again.node(at: writer.path(of: added))
      precondition(found?.id == added)
      precondition(found?.byteCount == node.byteCount || (!isWhole && found?.byteCount == 0))
    }
  } catch { preconditionFailure("what was written cannot be read: \(error)") }
}
