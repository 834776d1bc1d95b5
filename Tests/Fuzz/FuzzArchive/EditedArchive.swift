import Foundation
import RestorationArchive

/// An archive without damage that is edited as bytes say, beside a model of what it should hold.
struct EditedArchive {
  /// A node of the model.
  private struct Model {
    var parent: NodeID?
    var name: String
    var value: Int?
  }

  private var writer = RestorationArchive.Writer(
    context: RestorationArchive.Context(timeSaved: Date(timeIntervalSinceReferenceDate: 1)),
    limits: RestorationArchive.Limits(depth: 12))
  private var model: [NodeID: Model] = [:]
  private var base = Data()
  private var deltas: [Data] = []

  /// Makes the edits, each of three bytes; after each tenth, and at the end, everything is compared.
  func edit(_ bytes: Data) {
    var copy = self
    do {
      copy.base = try copy.writer.makeArchive()
      var steps = 0
      var bytes = [UInt8](bytes)[...]
      while bytes.count >= 3, steps < 64 {
        try copy.step(bytes[bytes.startIndex], bytes[bytes.startIndex + 1], bytes[bytes.startIndex + 2])
        bytes = bytes.dropFirst(3)
        steps += 1
        if steps % 10 == 0 { try copy.compare() }
      }
      try copy.preserve()
      try copy.compare()
    } catch { preconditionFailure("an archive without damage cannot be edited: \(error)") }
  }

  private mutating func step(_ operation: UInt8, _ first: UInt8, _ second: UInt8) throws {
    let ids = model.keys.sorted { $0.rawValue < $1.rawValue }
    let one = ids.isEmpty ? nil : ids[Int(first) % ids.count]
    let other = second == 255 || ids.isEmpty ? nil : ids[Int(second) % ids.count]
    let name = "n\(first % 8)"
    switch operation % 13 {
    case 0, 1:
      guard
        let id = try allowing({
          try $0.insert(RestorationIdentifier(name), parent: other, at: second % 3 == 0 ? 0 : nil)
        })
      else { return }
      precondition(!isTaken(name, under: other), "two siblings have one name")
      model[id] = Model(parent: other, name: name)
    case 2, 3:
      guard let one else { return }
      let value = Int(second) << Int(first % 32)
      let entry = RestorationArchive.Entry(key: "k\(second % 5)", value: value)
      try writer.setRecord(
        of: one, entries: [entry], attributes: .init(classTag: RestorationArchive.ClassTag("t\(second % 4)")))
      model[one]?.value = value
      let hasValue = try writer.hasRecord(of: one, entries: [entry])
      precondition(hasValue, "a node has other values than it was given")
    case 10:
      guard let one, let other else { return }
      try writer.moveState(of: one, to: other)
      let value = model[one]?.value
      model[one]?.value = nil
      model[other]?.value = value
    case 11:
      guard let one else { return }
      try writer.removeState(of: one)
      model[one]?.value = nil
    case 12:
      guard let one else { return }
      let isEmpty = try writer.hasRecord(of: one, entries: [])
      precondition(isEmpty == (model[one]?.value == nil), "a node has lost its state")
    case 4:
      guard let one, try allowing({ try $0.move(one, to: other, at: Int(second % 4)) }) != nil else { return }
      model[one]?.parent = other
    case 5:
      let name = "n\(second % 8)"
      guard let one, try allowing({ try $0.rename(one, to: RestorationIdentifier(name)) }) != nil else { return }
      model[one]?.name = name
    case 6:
      guard let one else { return }
      try writer.remove(one)
      removeFromModel(one)
    case 7: try preserve()
    case 8:
      base = try writer.makeArchive()
      deltas = []
    default:
      try preserve()
      writer = try RestorationArchive.Writer(continuing: reader(), limits: RestorationArchive.Limits(depth: 12))
    }
  }

  /// Does what the tree may forbid; nil when it does.
  private mutating func allowing<Result>(
    _ body: (inout RestorationArchive.Writer) throws -> Result
  ) throws -> Result? {
    do {
      return try body(&writer)
    } catch let error as ArchiveError {
      guard [.duplicateIdentifier, .limitExceeded, .invalidTree].contains(error.code) else { throw error }
      return nil
    }
  }

  private mutating func preserve() throws { if let delta = try writer.makeDelta() { deltas.append(delta) } }

  private func reader() throws -> RestorationArchive.Reader {
    try RestorationArchive.Reader(base: RestorationArchive.Source(base), deltas: deltas)
  }

  private func isTaken(_ name: String, under parent: NodeID?) -> Bool {
    model.values.contains { $0.parent == parent && $0.name == name }
  }

  private mutating func removeFromModel(_ id: NodeID) {
    for child in model.filter({ $0.value.parent == id }).keys { removeFromModel(child) }
    model[id] = nil
  }

  private mutating func compare() throws {
    try preserve()
    let reader = try reader()
    precondition(reader.nodeCount == model.count && writer.nodeCount == model.count)
    precondition(reader.liveBytes == writer.liveBytes)
    for (id, expected) in model {
      guard let node = try reader.node(id) else { preconditionFailure("node \(id) is missing") }
      precondition(node.parent == expected.parent && node.identifier.rawValue == expected.name)
      let found = try reader.node(at: reader.path(of: id))
      precondition(found == node, "node \(id) is not at its path")
      let record = try reader.record(of: id)
      guard let key = record.keys.first else {
        precondition(expected.value == nil, "node \(id) has lost its value")
        continue
      }
      let value = try record.decode(Int.self, forKey: key)
      precondition(value == expected.value, "node \(id) has another value")
    }
  }
}
