import Foundation
import FuzzSupport

@testable import DataProtection
@testable import RestorationArchive
@testable import StateRestoration

/// Reads any bytes as what was saved while the device was locked, and merges what can be read into a stored state.
///
/// The first byte chooses: in its lowest bit whether the rest is that, or changes of a sample, and in the next one whether the
/// run could read other parts.
@c(LLVMFuzzerTestOneInput)
public func fuzzPending(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let input = unsafe fuzzInput(start, count, atLeast: 1) else { return 0 }
  let rest = Array(input[1...])
  let bytes = input[0] & 1 == 0 ? Data(rest) : Data(Sample.only.pending.edited(by: rest))
  guard let pending = try? PendingParts.decode(bytes, limits: Sample.limits) else { return 0 }
  Sample.only.merge(pending.reader, pending.parts, isBeside: input[0] & 2 != 0)
  return 0
}

/// A stored state of two classes, and what a run has saved that could read one of them.
private struct Sample {
  static let limits = RestorationArchive.Limits(nodeCount: 1_000, depth: 32, bytesPerArchive: 1 << 16)
  static let only = Sample()

  private let stored: RestorationArchive.PartedReader
  private let classes: PartClasses
  /// What the run has saved.
  let pending: [UInt8]

  init() {
    do {
      var table = Self.table()
      let root = try Self.add("root", to: nil, nil, &table)
      let hidden = try Self.add("hidden", to: root, nil, &table)
      _ = try Self.add("secret", to: hidden, .complete, &table)
      let editor = try Self.add("editor", to: root, .complete, &table)
      _ = try Self.add("inner", to: editor, nil, &table)
      _ = try Self.add("list", to: root, nil, &table)
      try table.becomeAbsent(hidden)
      try table.hide([0: hidden], as: [0: Self.token])
      (stored, classes) = (try table.readerOfAll(), table.parts)
      pending = try Self.saved()
    } catch { preconditionFailure("a sample can't be made: \(error)") }
  }

  /// The name of a hidden row.
  private static let token = RowName.hidden(1, 2)

  private static func table() -> Table {
    let context = RestorationArchive.Context(timeSaved: Date(timeIntervalSinceReferenceDate: 1))
    var table = Table(
      context: context, protection: .completeUntilFirstUserAuthentication, limits: limits, nodeBudget: 1 << 12)
    // The same numbers in every process, so that inputs mean the same.
    let bits = Counter()
    table.writer = RestorationArchive.PartedWriter(context: context, limits: limits, draw: { bits.next() })
    return table
  }

  private static func add(
    _ identifier: RestorationIdentifier, to parent: NodeID?, _ protection: ProtectionClass?, _ table: inout Table,
    flags: RestorationArchive.NodeFlags = [], model: ModelIdentifier? = nil
  ) throws -> NodeID {
    var attributes = RestorationArchive.Attributes(classTag: "note", flags: flags)
    attributes.model = model
    let row = try table.insert(at: .init(parent: parent, identifier: identifier), attributes, protection)
    if !flags.contains(.way) { try set("\(identifier)", of: row, attributes, &table) }
    return row
  }

  private static func set(
    _ text: String, of node: NodeID, _ attributes: RestorationArchive.Attributes, _ table: inout Table
  ) throws {
    var attributes = attributes
    attributes.save = table.save
    table.save += 1
    try table.writer.setRecord(of: node, entries: [.init(key: "text", value: text)], attributes: attributes)
  }

  /// Rows that lead to others, that have one record or two, that wait, that are new, that have lost a name elsewhere.
  private static func saved() throws -> [UInt8] {
    var table = table()
    let root = try add("root", to: nil, nil, &table, flags: .way)
    _ = try add("list", to: root, nil, &table, flags: .way)
    let editor = try add("editor", to: root, .complete, &table)
    let record = try table.insertFurtherRecord(in: editor, .init(flags: .record))
    try set("editor 2", of: record, .init(flags: [.record, .first]), &table)
    _ = try add("inner", to: editor, .complete, &table, model: "another")
    try table.becomeAbsent(try add("closed", to: editor, nil, &table))
    let hidden = try add("hidden", to: root, .complete, &table)
    try set("", of: table.writer.insert(token, parent: hidden, attributes: .init()), .init(), &table)
    _ = try add("new", to: root, .complete, &table, flags: .view)
    return [UInt8](try PendingParts.encode(&table))
  }

  /// Merges what was saved; all that is stored is there afterwards.
  func merge(_ other: RestorationArchive.PartedReader, _ parts: PartClasses, isBeside: Bool) {
    do {
      let plan = try RestorePlan(reader: stored)
      var table = try Table(
        continuing: stored, parts: classes, plan.index, limits: Self.limits, nodeBudget: 1 << 12)
      let records = try Self.recordCount(of: table)
      var context = try stored.context
      guard (try? table.merge(other, parts, &context, isBeside: isBeside)) != nil else { return }
      let remaining = try Self.recordCount(of: table)
      precondition(remaining >= records, "a merge has removed records")
      table.writer.context = context
      let merged = try table.readerOfAll()
      let irregularities = try merged.irregularities()
      precondition(irregularities.isEmpty, "parts don't fit after a merge: \(irregularities)")
      _ = try RestorePlan(reader: merged)
    } catch { preconditionFailure("a state can't be read after a merge: \(error)") }
  }

  private static func recordCount(of table: Table) throws -> Int {
    var count = 0
    var stack = try table.writer.roots
    while let next = stack.popLast() {
      if try table.writer.node(next)?.hasRecord == true { count += 1 }
      stack += try table.writer.children(of: next)
    }
    return count
  }
}

/// Numbers in order, spread over all bits.
private final class Counter: @unchecked Sendable {
  // Sendable: one thread makes the samples.
  private var count: UInt32 = 0

  func next() -> UInt32 {
    count += 1
    return count &* 0x9E37_79B9
  }
}
