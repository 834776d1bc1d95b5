import FoundationEssentials
import RestorationArchive
import Testing

/// A tree in parts: what a part may know, what is away, and what comes back.
struct PartedWriterTests {
  /// A library of folders in the first part; its notes are in the second, with a secret each.
  struct Library {
    var writer = Archive.PartedWriter(context: .sample, draw: SeededBits(seed: 7).draw)
    var stored = StoredParts()
    var library, work: NodeID
    var notes: [NodeID] = []

    init() throws {
      library = try writer.insert("library", attributes: .init(classTag: "weak-class"))
      work = try writer.insert("work", parent: library, attributes: .init(role: "weak-role"))
      for number in 0..<3 {
        let attributes = Archive.Attributes(
          classTag: "secret-class", model: "secret-model", role: "secret-role", save: 77)
        let note = try writer.insert(
          "secret-note-\(number)", parent: work, attributes: attributes, part: .second)
        try writer.setRecord(of: note, entries: [.secret(number)], attributes: attributes)
        notes.append(note)
      }
      try writer.setRecord(
        of: work, entries: [.init(key: "weak-key", value: "weak value")], attributes: .init(role: "weak-role"))
      try stored.save(&writer)
    }

    /// Goes on from what is stored, with the notes away.
    mutating func lock() throws {
      try stored.save(&writer)
      writer = try Archive.PartedWriter(
        continuing: stored.reader(away: [.second]), draw: SeededBits(seed: 8).draw)
    }

    mutating func unlock() throws -> Archive.Attachment {
      try writer.attach(stored.reader(of: .second), as: .second)
    }
  }

  private func expect(
    _ code: ArchiveError.Code, _ location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
  ) {
    #expect(sourceLocation: location, performing: body, throws: { ($0 as? ArchiveError)?.code == code })
  }

  // MARK: Secrets

  @Test func `the weaker part knows of a stronger child a random number and nothing else`() throws {
    let library = try Library()
    let bytes = try #require(library.stored.files[.first]).base
    for word in ["secret", "77"] { #expect(bytes.firstRange(of: Data(word.utf8)) == nil) }
    let reader = try library.stored.reader(of: .first)
    #expect(reader.nodeCount == 5)
    for (note, hole) in zip(library.notes, try reader.children(of: library.work)) {
      let node = try #require(try reader.node(hole))
      #expect(hole == note && node.parent == library.work && node.byteCount == 0)
      #expect(node.attributes == .init(flags: .hole))
      #expect(node.identifier.rawValue == "\u{1}x" + String(note.rawValue, radix: 16))
      #expect(try reader.children(of: hole).isEmpty)
    }
    #expect(Archive.Walk(reader).tags == ["weak-class"])
  }

  @Test func `nothing of a row that got a stronger part is left in the weaker one`() throws {
    var writer = Archive.PartedWriter(context: .sample)
    let top = try writer.insert("top")
    var rows: [NodeID] = []
    for number in 0..<40 {
      let row = try writer.insert("secret-row-\(number)", parent: top, attributes: .init(classTag: "secret-class"))
      try writer.setRecord(
        of: row, entries: [.secret(number)],
        attributes: .init(classTag: "secret-class", model: "secret-model", role: "secret-role"))
      rows.append(row)
    }
    let kept = try writer.insert("kept", parent: top)
    try writer.setRecord(of: kept, entries: [.init(key: "weak-key", value: SampleState(5))], attributes: .init())
    var stored = StoredParts()
    try stored.save(&writer)
    #expect(try #require(stored.files[.first]).base.firstRange(of: Data("secret".utf8)) != nil)

    let map = try writer.assign(Dictionary(uniqueKeysWithValues: rows.map { ($0, .second) }))
    #expect(writer.partsToRemake == [.first] && writer.changedParts == [.first, .second])
    expect(.wrongBase) { _ = try writer.makeDelta(of: .first) }
    try stored.save(&writer)
    #expect(writer.partsToRemake.isEmpty)
    let bytes = try #require(stored.files[.first]).base
    #expect(bytes.firstRange(of: Data("secret".utf8)) == nil)
    let reader = try stored.reader()
    for (number, row) in rows.enumerated() {
      let row = try #require(map[row])
      let record = try reader.record(of: row)
      #expect(try record.decode(String.self, forKey: "secret-key") == "secret-value-\(number)")
      #expect(try reader.path(of: row) == ["top", RestorationIdentifier("secret-row-\(number)")])
    }
    #expect(try reader.record(of: kept).decode(SampleState.self, forKey: "weak-key") == SampleState(5))
    #expect(try reader.children(of: top) == rows.map { map[$0]! } + [kept])

    // And down again: the stronger part is made anew as well.
    let back = try writer.assign(Dictionary(uniqueKeysWithValues: rows.map { (map[$0]!, .first) }))
    #expect(writer.partsToRemake == [.second] && writer.nodeCount(of: .second) == 0)
    try stored.save(&writer)
    #expect(try stored.reader().children(of: top) == rows.map { back[map[$0]!]! } + [kept])
    #expect(try #require(stored.files[.second]).base.firstRange(of: Data("secret".utf8)) == nil)
  }

  @Test func `a part that is to be remade loses the keys and tags of what was removed`() throws {
    var writer = Archive.PartedWriter(context: .sample)
    let row = try writer.insert("secret-row")
    try writer.setRecord(of: row, entries: [.secret(1)], attributes: .init(classTag: "secret-class"))
    _ = try writer.makeArchive(of: .first)
    try writer.remove(row)
    let usual = try writer.makeArchive(of: .first)
    #expect(usual.firstRange(of: Data("secret-key".utf8)) != nil && !writer.hasChanges)
    try writer.remake(.first)
    #expect(writer.hasChanges && writer.partsToRemake == [.first])
    let bytes = try writer.makeArchive(of: .first)
    #expect(bytes.firstRange(of: Data("secret".utf8)) == nil && !writer.hasChanges)
  }

  @Test func `a state that moves to another part leaves neither keys nor values behind`() throws {
    var library = try Library()
    try library.writer.moveState(of: library.notes[0], to: library.work)
    #expect(library.writer.partsToRemake == [.second])
    try library.stored.save(&library.writer)
    let reader = try library.stored.reader()
    #expect(try reader.record(of: library.work).decode(String.self, forKey: "secret-key") == "secret-value-0")
    #expect(try reader.record(of: library.notes[0]).isEmpty)
    #expect(
      try #require(library.stored.files[.second]).base.firstRange(of: Data("secret-value-0".utf8)) == nil)
  }

  @Test func `a state that can't be read through is left out when its part is made anew, and told of`() throws {
    var writer = Archive.PartedWriter(context: .sample)
    let (damaged, row) = (try writer.insert("damaged"), try writer.insert("row"))
    for node in [damaged, row] {
      try writer.setRecord(of: node, entries: [.init(key: "k", value: "word in a state")], attributes: .init())
    }
    var bytes = try writer.makeArchive(of: .first)
    let text = try #require(bytes.firstRange(of: Data("word".utf8)))
    bytes[text.lowerBound - 1] = 0xEF
    let reader = try Archive.PartedReader(base: .init(bytes))
    writer = try Archive.PartedWriter(continuing: reader)
    let map = try writer.assign([row: .second])
    let first = try Archive.Reader(base: .init(try writer.makeArchive(of: .first)))
    #expect(try first.node(damaged)?.attributes.flags == .shed && first.record(of: damaged).isEmpty)
    let shedding = try #require(writer.takeSheddings().first)
    #expect(shedding.path == ["damaged"] && shedding.budget == .unreadable && shedding.isLeftOut)
    #expect(try writer.node(damaged)?.attributes.flags == .shed)
    let second = try Archive.Reader(base: .init(try writer.makeArchive(of: .second)))
    #expect(try second.record(of: map[row]!).decode(String.self, forKey: "k") == "word in a state")
    // A damaged row itself can't go to another part.
    writer = try Archive.PartedWriter(continuing: reader)
    #expect { try writer.assign([row: .second, damaged: .second]) } throws: {
      ($0 as? ArchiveError)?.path == ["damaged"]
    }
    #expect(!writer.hasChanges && writer.parts == [.first])
  }

  // MARK: Assigning

  @Test func `a row takes its records along, and its children stay where they are`() throws {
    var writer = Archive.PartedWriter(context: .sample)
    let row = try writer.insert("row")
    let record = try writer.insert("\u{1}1", parent: row, attributes: .init(flags: .record))
    let child = try writer.insert("child", parent: row)
    let below = try writer.insert("below", parent: child, part: .third)
    let third = try writer.insert("third", parent: row, part: .third)
    for (number, node) in [row, record, child, below, third].enumerated() {
      let attributes = try #require(try writer.node(node)).attributes
      try writer.setRecord(of: node, entries: [.secret(number)], attributes: attributes)
    }
    let map = try writer.assign([row: .second])
    #expect(Set(map.keys) == [row, record, child])
    let (newRow, newRecord, newChild) = (map[row]!, map[record]!, map[child]!)
    #expect(newRow.part == .second && newRecord.part == .second && newChild.part == .first)
    #expect(try writer.roots == [newRow])
    #expect(try writer.children(of: newRow) == [newRecord, newChild, third])
    #expect(try writer.children(of: newChild) == [below])
    #expect(try writer.path(of: below) == ["row", "child", "below"])
    #expect(try writer.irregularities().isEmpty)
    var stored = StoredParts()
    try stored.save(&writer)
    let reader = try stored.reader()
    for (number, node) in [newRow, newRecord, newChild, below, third].enumerated() {
      #expect(try reader.record(of: node).decode(String.self, forKey: "secret-key") == "secret-value-\(number)")
    }
    // To the part of one of its children, which ceases to be a boundary.
    let again = try writer.assign([newRow: .third])
    #expect(Set(again.keys) == [newRow, newRecord, third] && again[third]?.part == .third)
    #expect(try writer.path(of: again[third]!) == ["row", "third"])
    #expect(writer.nodeCount(of: .second) == 0)
    try stored.save(&writer)
    #expect(try stored.reader().irregularities().isEmpty)
  }

  // MARK: Away

  @Test func `what is away shows as holes, keeps its place, and nothing changes it`() throws {
    var library = try Library()
    try library.lock()
    let (work, note) = (library.work, library.notes[1])
    #expect(try library.writer.children(of: work) == library.notes)
    #expect(library.writer.away == [.second] && library.writer.parts == [.first])
    #expect(try library.writer.node(note)?.attributes == .init(flags: .hole))
    #expect(try library.writer.hasHoles(below: library.library) && !library.writer.hasHoles(below: note))
    #expect(library.writer.nodeCount == 5)
    expect(.partAway) { try library.writer.setRecord(of: note, entries: [], attributes: .init()) }
    expect(.partAway) { _ = try library.writer.hasRecord(of: note, entries: []) }
    expect(.partAway) { try library.writer.setAttributes(.init(), of: note) }
    expect(.partAway) { try library.writer.removeState(of: note) }
    expect(.partAway) { try library.writer.moveState(of: work, to: note) }
    expect(.partAway) { try library.writer.moveState(of: note, to: work) }
    expect(.partAway) { try library.writer.rename(note, to: "x") }
    expect(.partAway) { try library.writer.move(note, to: library.library) }
    expect(.partAway) { try library.writer.remove(note) }
    expect(.partAway) { try library.writer.remove(library.library) }
    expect(.partAway) { _ = try library.writer.insert("x", parent: note) }
    expect(.partAway) { _ = try library.writer.insert("x", parent: work, part: .second) }
    expect(.partAway) { _ = try library.writer.assign([note: .first]) }
    expect(.partAway) { _ = try library.writer.assign([work: .second]) }
    expect(.partAway) { _ = try library.writer.makeArchive(of: .second) }
    #expect(!library.writer.hasChanges)
    try library.writer.setChildren(library.notes.reversed(), of: work)
    let new = try library.writer.insert("new", before: note)
    #expect(library.writer.changedParts == [.first])
    let before = library.stored.files[.second]?.base
    try library.stored.save(&library.writer)
    #expect(library.stored.files[.second]?.base == before)
    let attachment = try library.unlock()
    #expect(attachment.clashes.isEmpty && attachment.irregularities.isEmpty)
    #expect(
      try library.writer.children(of: work) == [library.notes[2], new, library.notes[1], library.notes[0]])
    #expect(try library.writer.path(of: note) == ["library", "work", "secret-note-1"])
    #expect(!library.writer.hasChanges)
    #expect(try library.writer.node(note)?.attributes.model == "secret-model")
    expect(.invalidTree) { _ = try library.unlock() }
  }

  @Test func `the parent of what is away may move, and get another number`() throws {
    var library = try Library()
    try library.lock()
    let map = try library.writer.assign([library.work: .third])
    let work = try #require(map[library.work])
    try library.writer.move(work, to: nil, at: 0)
    try library.stored.save(&library.writer)
    let attachment = try library.unlock()
    #expect(attachment.irregularities.relocated == library.notes.sorted() && attachment.irregularities.unplaced.isEmpty)
    #expect(try library.writer.children(of: work) == library.notes)
    #expect(try library.writer.path(of: library.notes[0]) == ["work", "secret-note-0"])
    #expect(try library.writer.child(of: work, identifier: "secret-note-2") == library.notes[2])
    // The same for those who only read, before and after the part was written.
    for round in 0..<2 {
      let reader = try library.stored.reader()
      #expect(try reader.path(of: library.notes[0]) == ["work", "secret-note-0"])
      #expect(try reader.id(at: ["work", "secret-note-0"]) == library.notes[0])
      #expect(try reader.irregularities().relocated.isEmpty == (round == 1))
      try library.stored.save(&library.writer)
    }
  }

  @Test func `a sibling that was inserted while a part was away is told when it has a name from there`() throws {
    var library = try Library()
    try library.lock()
    let newcomer = try library.writer.insert("secret-note-1", parent: library.work)
    try library.stored.save(&library.writer)
    let attachment = try library.unlock()
    #expect(attachment.clashes.map { [$0.kept, $0.newcomer] } == [[library.notes[1], newcomer]])
    try library.writer.rename(newcomer, to: "another")
    #expect(try library.writer.child(of: library.work, identifier: "secret-note-1") == library.notes[1])
    #expect(try library.writer.child(of: library.work, identifier: "another") == newcomer)
  }

  @Test func `what lost its hole has no place, is carried along, and can be given one or be removed`() throws {
    var library = try Library()
    try library.lock()
    try library.writer.remove(library.work, orphaningAway: true)
    try library.stored.save(&library.writer)
    let attachment = try library.unlock()
    #expect(attachment.irregularities.unplaced == library.notes.sorted())
    #expect(library.writer.nodeCount == 4)
    #expect(try library.stored.reader().irregularities().unplaced == library.notes.sorted())
    #expect(try library.stored.reader().child(of: library.work, identifier: "secret-note-0") == nil)
    // A whole new archive of the part still has them.
    library.stored.files[.second] = (try library.writer.makeArchive(of: .second), [])
    #expect(try library.stored.reader().irregularities().unplaced == library.notes.sorted())
    #expect(try library.writer.move(library.notes[0], to: library.library).isEmpty)
    try library.writer.remove(library.notes[1])
    try library.stored.save(&library.writer)
    let reader = try library.stored.reader()
    #expect(try reader.irregularities().unplaced == [library.notes[2]])
    #expect(try reader.path(of: library.notes[0]) == ["library", "secret-note-0"])
    #expect(try reader.record(of: library.notes[0]).decode(String.self, forKey: "secret-key") == "secret-value-0")
    #expect(try reader.node(library.notes[1]) == nil)
  }

  @Test func `a hole of nothing shows as a hole, is listed, and can be removed`() throws {
    var library = try Library()
    let older = library.stored.files[.second]
    let added = try library.writer.insert("secret-later", parent: library.work, part: .second)
    try library.stored.save(&library.writer)
    library.stored.files[.second] = older
    let reader = try library.stored.reader()
    #expect(try reader.irregularities().missing == [added])
    #expect(try reader.node(added)?.attributes.flags == .hole)
    #expect(try reader.children(of: library.work) == library.notes + [added])
    expect(.noSuchNode) { _ = try reader.record(of: added) }
    var writer = try Archive.PartedWriter(continuing: reader)
    #expect(try writer.irregularities().missing == [added] && writer.nodeCount == 6)
    expect(.partAway) { try writer.setRecord(of: added, entries: [], attributes: .init()) }
    try writer.remove(added)
    #expect(try writer.irregularities().isEmpty && writer.nodeCount == 5)
    // The same where the part is nowhere at all.
    var alone = try Archive.PartedWriter(continuing: .init(try library.stored.reader(of: .first)))
    #expect(try alone.irregularities().missing == (library.notes + [added]).sorted())
    expect(.partAway) { try alone.setRecord(of: added, entries: [], attributes: .init()) }
    expect(.partAway) { _ = try alone.insert("x", parent: added) }
  }

  @Test func `of two holes of one node the one that it names counts, and the other goes`() throws {
    var library = try Library()
    // In an older third part lies the hole of a note that has moved to the first part since.
    let box = try library.writer.insert("box", parent: library.library, part: .third)
    try library.writer.move(library.notes[0], to: box)
    try library.stored.save(&library.writer)
    let older = library.stored.files[.third]
    try library.writer.move(library.notes[0], to: library.work)
    try library.stored.save(&library.writer)
    library.stored.files[.third] = older
    let reader = try library.stored.reader()
    #expect(try reader.children(of: box).isEmpty)
    #expect(try reader.path(of: library.notes[0]) == ["library", "work", "secret-note-0"])
    #expect(try reader.irregularities().isEmpty)
    #expect(try Archive.PartedWalk(reader).visit(box)?.children == [])
    let writer = try Archive.PartedWriter(continuing: reader)
    #expect(try writer.children(of: box).isEmpty && writer.changedParts == [.third])
    #expect(writer.nodeCount == 6)
  }

  @Test func `a root may be in a stronger part, and a child in a weaker one`() throws {
    var writer = Archive.PartedWriter(context: .sample, draw: SeededBits(seed: 3).draw)
    let secret = try writer.insert("secret", part: .second)
    let plain = try writer.insert("plain", at: 0)
    let child = try writer.insert("child", parent: secret, part: .first)
    let inner = try writer.insert("inner", parent: child)
    #expect(try writer.roots == [plain, secret])
    let last = try writer.insert("last", at: 2)
    let middle = try writer.insert("middle", at: 1)
    try writer.move(last, to: nil, at: 0)
    #expect(try writer.roots == [last, plain, middle, secret])
    try writer.setChildren([secret, middle, plain, last], of: nil)
    var stored = StoredParts()
    try stored.save(&writer)
    let whole = try stored.reader()
    #expect(try whole.roots == [secret, middle, plain, last])
    #expect(try whole.path(of: inner) == ["secret", "child", "inner"])
    let locked = try stored.reader(away: [.second])
    #expect(try locked.roots == [secret, middle, plain, last])
    #expect(try locked.irregularities().waiting == [child] && locked.irregularities().isEmpty)
    #expect(try locked.id(at: ["secret"]) == nil)
    writer = try Archive.PartedWriter(continuing: locked)
    expect(.partAway) { try writer.remove(child) }
    expect(.partAway) { try writer.move(child, to: plain) }
    // By way of the secret one, the child could lie below itself.
    #expect(try writer.move(plain, to: inner).isEmpty)
    expect(.partAway) { _ = try writer.assign([child: .third]) }
    try writer.setRecord(of: inner, entries: [.secret(1)], attributes: .init())
    try stored.save(&writer)
    _ = try writer.attach(stored.reader(of: .second), as: .second)
    #expect(try writer.path(of: plain) == ["secret", "child", "inner", "plain"])
  }

  @Test func `nothing comes to lie below itself by way of what is away`() throws {
    var writer = Archive.PartedWriter(context: .sample)
    let top = try writer.insert("top")
    let secret = try writer.insert("secret", parent: top, part: .second)
    let inner = try writer.insert("inner", parent: secret)
    let below = try writer.insert("below", parent: inner, part: .first)
    var stored = StoredParts()
    try stored.save(&writer)
    writer = try Archive.PartedWriter(continuing: stored.reader(away: [.second]))
    expect(.partAway) { try writer.move(top, to: below) }
    #expect(!writer.hasChanges)
  }

  @Test func `an archive in the place of another part is refused`() throws {
    let library = try Library()
    let (first, second) = (try library.stored.reader(of: .first), try library.stored.reader(of: .second))
    expect(.corrupt) { _ = try Archive.PartedReader(first: second, further: [:]) }
    expect(.corrupt) { _ = try Archive.PartedReader(first: first, further: [.third: second]) }
    var writer = try Archive.PartedWriter(continuing: library.stored.reader(away: [.second]))
    expect(.corrupt) { _ = try writer.attach(first, as: .second) }
    #expect(writer.away == [.second])
  }

  // MARK: Reports

  @Test func `errors and sheddings tell paths of the whole tree`() throws {
    struct Unencodable: Encodable, Sendable {
      func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(0, .init(codingPath: [], debugDescription: "no"))
      }
    }
    var limits = Archive.Limits.default
    (limits.bytesPerNode, limits.bytesPerArchive) = (400, 500)
    var writer = Archive.PartedWriter(context: .sample, limits: limits)
    let top = try writer.insert("top")
    let secret = try writer.insert("secret", parent: top, part: .second)
    let inner = try writer.insert("inner", parent: secret)
    #expect {
      try writer.setRecord(of: inner, entries: [.init(key: "k", value: Unencodable())], attributes: .init())
    } throws: {
      ($0 as? ArchiveError)?.path == ["top", "secret", "inner"]
    }
    try writer.setRecord(
      of: inner, entries: [.init(key: "k", value: String(repeating: "a", count: 450))], attributes: .init())
    #expect(writer.takeSheddings().map(\.path) == [["top", "secret", "inner"]])
    for node in [top, secret, inner] {
      try writer.setRecord(
        of: node, entries: [.init(key: "k", value: String(repeating: "a", count: 300))], attributes: .init())
    }
    // The budget holds for each part alone: of the second one of two states goes.
    _ = try writer.makeArchive(of: .first)
    #expect(writer.takeSheddings().isEmpty)
    let second = try Archive.Reader(base: .init(try writer.makeArchive(of: .second)))
    #expect(second.liveBytes < 400)
    #expect(writer.takeSheddings().map(\.path) == [["top", "secret", "inner"]])
    #expect(try writer.makeArchiveOverBudget(of: .second).count > 700)
  }

  @Test func `a new context is the first part's to tell, and all parts tell it with their next change`() throws {
    var library = try Library()
    library.writer.context.timeSaved += 60
    #expect(!library.writer.hasChanges)
    library.writer.context.applicationVersion = "9"
    #expect(library.writer.changedParts == [.first])
    try library.stored.save(&library.writer)
    #expect(try library.stored.reader().context.applicationVersion == "9")
    library.writer.context.timeSaved += 60
    try library.writer.setRecord(of: library.notes[0], entries: [.secret(9)], attributes: .init())
    #expect(library.writer.changedParts == [.second])
    try library.stored.save(&library.writer)
    #expect(try library.stored.reader(of: .second).context == library.writer.context)
    #expect(try library.stored.reader().context == library.writer.context)
    #expect(try library.stored.reader(away: [.second]).context.timeSaved == library.writer.context.timeSaved - 60)
  }

  @Test func `records of another tree in parts are copied between the parts' tables`() throws {
    let library = try Library()
    let source = try library.stored.reader()
    var writer = Archive.PartedWriter(context: .sample)
    let first = try writer.insert("first")
    let second = try writer.insert("second", parent: first, part: .fourth)
    try writer.setRecord(of: second, entries: [.init(key: "own", value: ["a": 1])], attributes: .init())
    try writer.copyRecords(
      [
        .init(source: library.notes[0], target: first, attributes: .init(version: 4)),
        .init(source: library.work, target: second, attributes: .init()),
      ], from: source)
    var stored = StoredParts()
    try stored.save(&writer)
    let reader = try stored.reader()
    #expect(try reader.record(of: first).decode(String.self, forKey: "secret-key") == "secret-value-0")
    #expect(try reader.record(of: second).decode(String.self, forKey: "weak-key") == "weak value")
  }
}

extension RestorationArchive.Entry {
  /// A value and a key that only a stronger part may have.
  fileprivate static func secret(_ number: Int) -> Self { .init(key: "secret-key", value: "secret-value-\(number)") }
}
