import DataProtection
import Foundation
import RestorationArchive
import StateRestoration

extension Node {
  /// Its state, as an archive's writer takes it.
  var entries: [RestorationArchive.Entry] { [RestorationArchive.Entry(key: "state", value: state)] }

  /// Its class and version, as an archive's writer takes them.
  var attributes: RestorationArchive.Attributes {
    RestorationArchive.Attributes(
      classTag: RestorationIdentity.ClassTag(classTag), version: StateVersion(rawValue: version))
  }

  /// Decodes its state from a record.
  ///
  /// Throws when there is no record.
  static func state(in record: RestorationArchive.Record?, at path: RestorationPath) throws -> State {
    guard let record else { throw WrongValue(description: "the archive does not find \(path)") }
    return try record.decode(State.self, forKey: "state", userInfo: [:])
  }
}

/// An archive of typical nodes in a store, and the same nodes as JSON and in SQLite.
final class DiskBench {
  typealias Item = Node<Typical.State>

  /// The directory of the files without keys.
  let directory: String
  /// The store.
  let store: ArchiveStore
  private let device: ProtectedDevice
  private let slot: ArchiveSlot
  private var nodes: [Item]
  private var ids: [NodeID] = []
  private var paths: [RestorationPath] = []
  private var writer: RestorationArchive.Writer
  private let hasPeers: Bool
  private var turn = 0
  private let sqlite: SQLite?
  private var rows: [(Int, Data)] = []
  private let raw: Int32
  private var rawOffset = 0
  /// The bytes of the whole archive.
  private(set) var archiveBytes = 0
  /// The processor time of encoding one changed node and making its delta, in nanoseconds, save by save.
  private(set) var deltaTimes: [Double] = []
  /// The bytes of the last delta.
  private(set) var deltaBytes = 0
  /// The chunks opened by the last cold restore.
  private(set) var chunksOpened = 0
  /// The generation that was saved last.
  private var newest: Generation?
  /// The frames behind the base at the last cold restore.
  private(set) var frameCount = 0

  /// Makes the tree, about a hundred children to a container, and everything's first save.
  init(count: Int, device: ProtectedDevice, directory: String, hasPeers: Bool) throws {
    self.device = device
    self.directory = directory
    slot = ArchiveSlot(application: "restore-bench", scene: "\(count)")
    store = try device.archives(for: slot)
    nodes = Typical.nodes(count)
    writer = RestorationArchive.Writer(
      context: RestorationArchive.Context(timeSaved: Date(timeIntervalSinceReferenceDate: 0)),
      limits: RestorationArchive.Limits(bytesPerArchive: max(256 << 20, count << 10)))
    self.hasPeers = hasPeers
    sqlite = hasPeers ? SQLite() : nil
    raw = try RawFile.preallocated("\(directory)/raw.journal", byteCount: 4 << 20)
    var container: (id: NodeID, path: RestorationPath)?
    for (index, node) in nodes.enumerated() {
      let identifier = RestorationIdentifier(node.identifier)
      let parent = index.isMultiple(of: 100) ? nil : container
      let id = try writer.insert(identifier, parent: parent?.id)
      let path = (parent?.path ?? []).appending(identifier)
      if parent == nil { container = (id, path) }
      ids.append(id)
      paths.append(path)
    }
    if let sqlite {
      let encoder = ArchiveEncoder()
      rows = try nodes.enumerated().map { ($0.offset, try encoder.encode($0.element)) }
      sqlite.connect("\(directory)/peer.sqlite")
      sqlite.run("CREATE TABLE state (id INTEGER PRIMARY KEY, value BLOB)")
      sqlite.replace(rows)
    }
    try preserveAll()
    if hasPeers { try preserveAllAsJSON() }
  }

  /// Deletes what it has put on the disk: the next size needs the room.
  func discard() { try? store.deleteAll() }

  deinit { close(raw) }

  /// A lane for SQLite, or none when there is no SQLite.
  func sqliteLane(_ pass: @escaping (SQLite) -> Void) -> [Lane] {
    guard let sqlite else { return [] }
    return [
      Lane(name: "sqlite", prepare: { sqlite.connect("\(self.directory)/peer.sqlite") }) { pass(sqlite) }
    ]
  }

  /// A lane for Foundation's JSON, or none beside very many nodes.
  func jsonLane(_ pass: @escaping () throws -> Void) -> [Lane] {
    hasPeers ? [Lane(name: "json", pass: pass)] : []
  }

  private func set(_ index: Int) throws {
    try writer.setRecord(of: ids[index], entries: nodes[index].entries, attributes: nodes[index].attributes)
  }

  // MARK: Preserving

  /// Encodes every node, makes a whole archive and publishes it.
  func preserveAll() throws {
    newest = try store.publish(try makeArchive()).generation
  }

  /// Encodes every node and makes a whole archive.
  @discardableResult
  func makeArchive() throws -> Data {
    turn += 1
    for index in nodes.indices {
      nodes[index].state.selection = turn &* 31 &+ index
      try set(index)
    }
    let archive = try writer.makeArchive()
    archiveBytes = archive.count
    return archive
  }

  /// Encodes a changed node, makes a delta and appends it; every thousandth time a whole archive.
  func preserveOne() throws {
    turn += 1
    let index = turn &* 7919 % nodes.count
    nodes[index].state.selection = turn
    let begun = Clock.processor.now
    try set(index)
    guard let delta = try writer.makeDelta() else { return }
    deltaTimes.append(Clock.processor.now - begun)
    deltaBytes = delta.count
    guard let newest, try store.append(delta, to: newest) == nil else { return }
    // There is no room for another change: a whole generation is due, as it is in a program.
    self.newest = try store.publish(try writer.makeArchive()).generation
  }

  /// Appends bytes as a change; a whole generation, when there is no room for another change.
  func append(_ frame: Data) throws {
    guard let newest, try store.append(frame, to: newest) == nil else { return }
    self.newest = try store.publish(try writer.makeArchive()).generation
  }

  /// Looks for changes when there are none.
  func preserveNothing() throws {
    guard try writer.makeDelta() == nil else { throw WrongValue(description: "a writer without changes") }
  }

  /// Saves one node at a time until a compaction is about due: by the bytes of the changes, or by their number.
  func fillJournal() throws {
    for _ in 0..<250 where writer.deltaBytes < archiveBytes / 4 - 2_000 { try preserveOne() }
  }

  /// The same with Foundation's JSON, not encrypted.
  func preserveAllAsJSON() throws {
    try RawFile.replace("peer.json", in: directory, with: try JSONEncoder().encode(nodes))
  }

  /// The same with SQLite, not encrypted: rows that are encoded as ours.
  func preserveAllWithSQLite(_ sqlite: SQLite) {
    let encoder = ArchiveEncoder()
    let rows = nodes.enumerated().map { ($0.offset, (try? encoder.encode($0.element)) ?? Data()) }
    sqlite.replace(rows)
  }

  /// One row.
  func preserveOneWithSQLite(_ sqlite: SQLite) {
    turn += 1
    let index = turn &* 7919 % nodes.count
    nodes[index].state.selection = turn
    sqlite.replace([(index, (try? ArchiveEncoder().encode(nodes[index])) ?? Data())])
  }

  /// Appends as many bytes as a delta has, without keys.
  func appendRaw(_ data: Data? = nil) throws {
    let data = data ?? Data(repeating: 0x33, count: deltaBytes + 60)
    try RawFile.append(raw, data, at: rawOffset)
    rawOffset = (rawOffset + data.count) % (3 << 20)
  }

  // MARK: Restoring

  /// Opens the preserved state.
  func openReader() throws -> (reader: RestorationArchive.Reader, archive: OpenedArchive) {
    let archive = try device.archives(for: slot).openNewest()
    let base = RestorationArchive.Source(byteCount: archive.byteCount) { try archive.read($0) }
    return (try RestorationArchive.Reader(base: base, deltas: archive.frames), archive)
  }

  /// Opens the archive, finds one node, decodes it and compares it.
  func restoreOneCold() throws {
    let (reader, archive) = try openReader()
    try restoreOne(reader)
    chunksOpened = archive.chunksOpened
    frameCount = archive.frames.count
  }

  /// Finds one node of an open archive, decodes it and compares it.
  func restoreOne(_ reader: RestorationArchive.Reader) throws {
    turn += 1
    let index = turn &* 7907 % nodes.count
    let state = try Node<Typical.State>.state(in: try reader.record(at: paths[index]), at: paths[index])
    try verify(state.title == nodes[index].state.title, "the archive")
  }

  /// Restores every node of an open archive once, so that its blocks have been read.
  func warm(_ reader: RestorationArchive.Reader) throws {
    for path in paths { consume(try reader.record(at: path)) }
  }

  /// Decodes all JSON to have one node of it.
  func restoreOneFromJSON() throws {
    let data = try Data(contentsOf: URL(fileURLWithPath: "\(directory)/peer.json"))
    consume(try JSONDecoder().decode([Item].self, from: data))
  }

  /// Opens the database, reads one row and decodes it.
  func restoreOneFromSQLite(_ sqlite: SQLite) {
    sqlite.disconnect()
    sqlite.connect("\(directory)/peer.sqlite")
    turn += 1
    if let value = sqlite.value(turn &* 7907 % nodes.count) {
      consume(try? ArchiveDecoder().decode(Item.self, from: value))
    }
  }
}
