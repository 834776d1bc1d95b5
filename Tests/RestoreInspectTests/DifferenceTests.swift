import DataProtection
import FaultyFileSystem
import FileSystem
import Foundation
import RestorationArchive
import Testing
import restore_inspect

/// Two generations with real differences.
@MainActor @Suite struct DifferenceTests {
  private struct Report: Decodable {
    struct Change: Decodable, Equatable {
      var what: String
      var before: String
      var after: String
    }
    struct Node: Decodable {
      var path: [String]
      var change: String
      var from: [String]?
      var values: [Change]
    }
    var format: Int
    var context: [Change]
    var nodes: [Node]

    subscript(_ path: String...) -> Node? { nodes.first { $0.path == path } }
  }

  private static func context(_ version: RestorationArchive.ApplicationVersion) -> RestorationArchive.Context {
    RestorationArchive.Context(applicationVersion: version, timeSaved: Date(timeIntervalSince1970: 1.7e9))
  }

  /// A tree with something of everything that can change.
  private static func before() throws -> RestorationArchive.Writer {
    var writer = RestorationArchive.Writer(context: context("1.0"))
    let root = try writer.insert("root")
    for (name, text) in [("a", "same"), ("b", "before"), ("c", "gone"), ("d", "moves"), ("e", "old class")] {
      let node = try writer.insert(RestorationIdentifier(name), parent: root)
      try writer.setRecord(
        of: node,
        entries: [
          RestorationArchive.Entry(key: "text", value: text),
          RestorationArchive.Entry(key: "state", value: ["x": 1, "y": 2]),
        ],
        attributes: RestorationArchive.Attributes(classTag: "page", version: 1))
    }
    let deep = try writer.insert("deep", parent: try writer.child(of: root, identifier: "d"))
    try writer.setRecord(
      of: deep, entries: [RestorationArchive.Entry(key: "n", value: 1)], attributes: RestorationArchive.Attributes())
    return writer
  }

  /// The same tree some time later, in the same lineage.
  private static func after(_ archive: Data) throws -> RestorationArchive.Writer {
    let reader = try RestorationArchive.Reader(base: RestorationArchive.Source(archive), deltas: [])
    var writer = try RestorationArchive.Writer(continuing: reader)
    writer.context = context("2.0")
    let root = try #require(try writer.child(of: nil, identifier: "root"))
    func child(_ name: RestorationIdentifier) throws -> NodeID {
      try #require(try writer.child(of: root, identifier: name))
    }
    let (a, b, c, d, e) = (try child("a"), try child("b"), try child("c"), try child("d"), try child("e"))
    let page = RestorationArchive.Attributes(classTag: "page", version: 1)
    try writer.setRecord(
      of: b,
      entries: [
        RestorationArchive.Entry(key: "text", value: "afterwards"),
        RestorationArchive.Entry(key: "state", value: ["x": 1, "y": 3]),
        RestorationArchive.Entry(key: "fresh", value: true),
      ], attributes: page)
    try writer.setRecord(
      of: e,
      entries: [
        RestorationArchive.Entry(key: "text", value: "old class"),
        RestorationArchive.Entry(key: "state", value: ["x": 1, "y": 2]),
      ], attributes: RestorationArchive.Attributes(classTag: "leaf", version: 2, priority: .high))
    try writer.remove(c)
    try writer.move(d, to: a)
    let added = try writer.insert("f", parent: root)
    try writer.setRecord(
      of: added, entries: [RestorationArchive.Entry(key: "text", value: "new")],
      attributes: RestorationArchive.Attributes())
    try writer.setChildren([added, e, b, a], of: root)
    return writer
  }

  private func publish(_ archives: [Data], on state: InspectedState) async throws {
    try await state.inProgram { store in for archive in archives { try store.publish(archive) } }
  }

  private func archives() throws -> [Data] {
    var writer = try Self.before()
    let old = try writer.makeArchive()
    var later = try Self.after(old)
    return [old, try later.makeArchive()]
  }

  private func report(_ result: InspectTool.Result) throws -> Report {
    try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
  }

  @Test func `added, removed, moved and changed nodes are told by path`() async throws {
    let state = try await InspectedState()
    try await publish(try archives(), on: state)
    let result = await state.run("diff", InspectedState.path, "--json")
    #expect(result.code == .different && result.error.isEmpty)
    let found = try report(result)
    #expect(found.context == [Report.Change(what: "program", before: "1.0", after: "2.0")])
    #expect(found["root", "f"]?.change == "added")
    #expect(found["root", "c"]?.change == "removed")
    #expect(found["root", "a", "d"]?.change == "moved" && found["root", "a", "d"]?.from == ["root", "d"])
    #expect(found["root", "a", "d", "deep"] == nil, "it moved with its parent")
    #expect(found["root", "d"] == nil, "what has moved is not gone")
    #expect(
      found["root", "e"]?.values == [
        Report.Change(what: "class", before: "page", after: "leaf"),
        Report.Change(what: "version", before: "1", after: "2"),
        Report.Change(what: "priority", before: "normal", after: "high"),
      ])
    #expect(
      found["root"]?.values == [Report.Change(what: "order of children", before: "a, b, e", after: "e, b, a")])
    #expect(
      found["root", "b"]?.values == [
        Report.Change(what: "fresh", before: "nothing", after: "bool"),
        Report.Change(what: "state", before: "keyed, 2 values", after: "keyed, 2 values"),
        Report.Change(what: "text", before: "string, 6 bytes", after: "string, 10 bytes"),
      ])
    #expect(found["root", "a"] == nil, "what is the same is not mentioned")
  }

  @Test func `values are told only when they are to be revealed`() async throws {
    let state = try await InspectedState()
    try await publish(try archives(), on: state)
    let redacted = await state.run("diff", InspectedState.path)
    #expect(!redacted.output.contains("afterwards") && redacted.output.contains("state: keyed, 2 values, changed"))
    #expect(redacted.output.contains("> root/a/d, from root/d") || redacted.output.contains("> /root/a/d"))
    let found = try report(await state.run("diff", InspectedState.path, "--json", "--reveal"))
    #expect(
      found["root", "b"]?.values == [
        Report.Change(what: "fresh", before: "nothing", after: "true"),
        Report.Change(what: "state.y", before: "2", after: "3"),
        Report.Change(what: "text", before: "\"before\"", after: "\"afterwards\""),
      ])
  }

  /// Two devices on one disk, in `/older` and `/newer`.
  private static func together(_ older: InspectedState, _ newer: InspectedState) -> MemoryFileSystem {
    let both = MemoryFileSystem()
    for (name, state) in [("older", older), ("newer", newer)] {
      for (path, bytes) in state.contents() {
        let copy = "/\(name)" + path.dropFirst(InspectedState.path.count)
        // Its directories first, from the top.
        let names = copy.split(separator: "/")
        for depth in 1..<names.count {
          let directory = "/" + names.prefix(depth).joined(separator: "/")
          if both.status(atPath: directory) == nil { both.plant(.directory, atPath: directory) }
        }
        both.plant(bytes, atPath: copy)
      }
    }
    return both
  }

  @Test func `two directories are compared, the older one first`() async throws {
    let (older, newer) = (try await InspectedState(), try await InspectedState())
    let archives = try archives()
    try await publish([archives[0]], on: older)
    try await publish([archives[1]], on: newer)
    let both = Self.together(older, newer)
    let result = await older.run("diff", "/older", "/newer", "--json", on: both)
    #expect(result.code == .different, "\(result.error)")
    #expect(try report(result)["root", "f"]?.change == "added")
    let back = try report(await older.run("diff", "/newer", "/older", "--json", on: both))
    #expect(back["root", "f"]?.change == "removed" && back["root", "c"]?.change == "added")
    let same = await older.run("diff", "/older", "/older", on: both)
    #expect(same.code == .success && same.output == "no difference\n")
    let gone = await older.run("diff", "/older", "/nowhere", on: both)
    #expect(gone.code == .notFound && gone.error.contains("/nowhere"))
  }

  @Test func `with two directories the passcode is asked for twice, in their order`() async throws {
    let (older, newer) = (try await InspectedState(passcode: "1234"), try await InspectedState(passcode: "5678"))
    let both = Self.together(older, newer)
    let tool = InspectTool(environment: InspectedState.environment(both), style: InspectStyle(hasColours: false))
    let passcodes = Box(["1234", "5678"])
    let result = await tool.run(["diff", "/older", "/newer"]) { _ throws(InspectFailure) in
      do throws(ProtectionError) {
        return try ProtectedDevice.Passcode(passcodes.take())
      } catch {
        throw InspectFailure(error)
      }
    }
    #expect(result.code == .success, "\(result)")
    #expect(passcodes.isEmpty)
  }

  @Test func `one generation has nothing to be compared with`() async throws {
    let state = try await InspectedState()
    try await state.inProgram { store in
      try store.deleteAll()
      try store.publish(try Self.archive())
    }
    let result = await state.run("diff", InspectedState.path)
    #expect(result.code == .notFound && result.error.contains("only one generation"))
  }

  nonisolated private static func archive() throws -> Data {
    var writer = RestorationArchive.Writer(
      context: RestorationArchive.Context(timeSaved: Date(timeIntervalSince1970: 0)))
    _ = try writer.insert("root")
    return try writer.makeArchive()
  }

  /// Values that are taken one after the other.
  private final class Box {
    private var values: [String]
    init(_ values: [String]) { self.values = values }
    var isEmpty: Bool { values.isEmpty }
    func take() -> String { values.removeFirst() }
  }
}
