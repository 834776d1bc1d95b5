import RestorationArchive
import Testing

@testable import StateRestoration

/// The tables *Commit* and *Leave*: what is stored for an object × what a save meets × what is stored for its parent.
@Suite struct CommitTableTests {
  /// What is stored in the object's place when it is met.
  enum Stored: CaseIterable {
    /// Its own, which it was given; that was in front, or dormant.
    case given, givenDormant
    /// Not its own.
    case otherClass, otherModel, leftOut
    /// Its own, which it could not read.
    case newerVersion, undecodable
    /// Its own, which only holds its children.
    case empty
    case nothing

    var variants: [StoredVariant] {
      let leaf: [(identifier: RestorationIdentifier, variants: [StoredVariant])] = [("leaf", [StoredVariant("L")])]
      return switch self {
      case .given, .undecodable: [StoredVariant("S", leaf)]
      case .givenDormant: [StoredVariant("X", tag: "b"), StoredVariant("S", leaf)]
      case .otherClass: [StoredVariant("S", tag: "b", leaf)]
      case .otherModel: [StoredVariant("S", model: "m1", leaf)]
      case .leftOut: [StoredVariant("S", flags: .leftOut, leaf)]
      case .newerVersion: [StoredVariant("S", version: 2, leaf)]
      case .empty: [StoredVariant(nil, leaf)]
      case .nothing: []
      }
    }

    var isGiven: Bool { self == .given || self == .givenDormant }
  }

  /// What the next save meets.
  enum Event: CaseIterable {
    case nothing, same, differs, otherIdentity, unencodable, moved, movedOver, movedAndDiffers, left, differsAndLeft
  }

  /// The place afterwards, by what was stored; events in the order of their cases.
  private static let table: [Stored: [String]] = [
    .given: [
      "place:S*(leaf:L)", "place:S*(leaf:L)", "place:E*(leaf:L)", "place:E*|S(leaf:L)", "place:S*(leaf:L)",
      "moved:S*(leaf:L)", "taken:S*(leaf:L)|T", "moved:E*(leaf:L)", "", "",
    ],
    .givenDormant: [
      "place:S*(leaf:L)|X", "place:S*(leaf:L)|X", "place:E*(leaf:L)|X", "place:E*|S(leaf:L)|X", "place:S*(leaf:L)|X",
      "moved:S*(leaf:L) place:|X", "place:|X taken:S*(leaf:L)|T", "moved:E*(leaf:L) place:|X", "place:|X", "place:|X",
    ],
    .otherClass: notOwn, .otherModel: notOwn, .leftOut: notOwn,
    .newerVersion: unreadable, .undecodable: unreadable,
    .empty: [
      "place:-(leaf:L)", "place:-(leaf:L)", "place:E*(leaf:L)", "place:E*|-(leaf:L)", "place:-(leaf:L)",
      "moved:-(leaf:L)", "taken:-(leaf:L)|T", "moved:E*(leaf:L)", "place:|-(leaf:L)", "",
    ],
    .nothing: [
      "place:B*", "place:B*", "place:E*", "place:E*|B", "place:B*", "moved:B*", "taken:B*|T", "moved:E*", "", "",
    ],
  ]
  private static let notOwn = [
    "place:S(leaf:L)", "place:S(leaf:L)", "place:E*|S(leaf:L)", "place:E*|S(leaf:L)", "place:S(leaf:L)",
    "place:S(leaf:L)", "place:S(leaf:L) taken:T", "moved:E* place:S(leaf:L)", "place:S(leaf:L)", "place:|S(leaf:L)",
  ]
  private static let unreadable = [
    "place:S(leaf:L)", "place:S(leaf:L)", "place:E*(leaf:L)|S", "place:E*|S(leaf:L)", "place:S(leaf:L)",
    "moved:S(leaf:L)", "taken:S(leaf:L)|T", "moved:E*(leaf:L)|S", "place:|S(leaf:L)", "place:|S",
  ]
  /// The place of an object whose parent has no node, or of any while the state can't be read; nil where nothing is written.
  private static let belowNothing: [String?] = [
    nil, nil, "(place:E*)", "(place:E*)", nil, nil, nil, "(moved:E*)", nil, nil,
  ]
  private static let parent = LiveObject(key: 1, identifier: "top")
  private static let object = LiveObject(key: 2, parent: 1, identifier: "place", model: "m2")

  /// One of the stored object's first values, met, and then what the event says; with another value of the parent, or not.
  private func run(
    _ draft: inout ArchiveDraft, _ event: Event, parent: NodeID?, child: NodeID?, value: String, editsParent: Bool,
    parentIsFirst: Bool
  ) throws -> [PreservationFinding] {
    var batch = CaptureBatch()
    batch.isMeeting = true
    let top = try draft.own(of: Self.parent)
    batch.place(Self.parent, restored: parent, over: top)
    batch.place(Self.object, restored: child, over: try top.flatMap { try draft.own(of: Self.object, below: $0) })
    batch.record(Self.parent, parent == nil ? "B" : "P")
    batch.record(Self.object, value)
    #expect(try draft.commit(batch).isEmpty)
    if event == .differsAndLeft {
      var batch = CaptureBatch()
      batch.record(Self.object, "E")
      #expect(try draft.commit(batch).isEmpty)
    }
    batch = CaptureBatch()
    var object = Self.object
    if editsParent, parentIsFirst { batch.record(Self.parent, "Q") }
    switch event {
    case .nothing: break
    case .same: batch.record(object, value)
    case .differs: batch.record(object, "E")
    case .otherIdentity:
      batch.releases.append(object.key)
      (object.key, object.tag) = (3, "later")
      batch.place(object)
      batch.record(object, "E")
    case .unencodable: batch.record(object, Unencodable())
    case .moved, .movedAndDiffers:
      object.identifier = "moved"
      batch.place(object)
      if event == .movedAndDiffers { batch.record(object, "E") }
    case .movedOver:
      object.identifier = "taken"
      batch.place(object)
    case .left, .differsAndLeft: batch.removals.append(object.key)
    }
    if editsParent, !parentIsFirst { batch.record(Self.parent, "Q") }
    return try draft.commit(batch)
  }

  @Test(arguments: Stored.allCases, Event.allCases)
  func `a save does with an object's place what the table says`(_ stored: Stored, _ event: Event) throws {
    var places: [(identifier: RestorationIdentifier, variants: [StoredVariant])] = [("place", stored.variants)]
    if event == .movedOver { places.append(("taken", [StoredVariant("T", tag: "b")])) }
    let column = try #require(Event.allCases.firstIndex(of: event))
    let place = try #require(Self.table[stored])[column]
    let value = stored.isGiven ? "S" : "B"
    let below = place.isEmpty ? "" : "(\(place))"
    // An owner's parent node and one that it could not read; neither or both orders of two changes make a difference.
    for (version, editsParent, expected) in [
      (StateVersion(1), false, "top:P*\(below)"), (1, true, "top:Q*\(below)"), (2, false, "top:P\(below)"),
      (2, true, "top:Q*\(below)|P"),
    ] {
      for parentIsFirst in [true, false] {
        var draft = try VariantTree.draft([("top", [StoredVariant("P", version: version, places)])])
        let top = try #require(try draft.writer.roots.first)
        let variants = try draft.variants(of: top, "place")
        let findings = try run(
          &draft, event, parent: version == 1 ? top : nil, child: stored.isGiven ? variants.last : nil, value: value,
          editsParent: editsParent, parentIsFirst: parentIsFirst)
        #expect(try VariantTree.text(of: draft) == expected, "\(stored) \(event) \(version) \(editsParent)")
        #expect(findings.count == (event == .unencodable ? 1 : 0))
        #expect(try draft.hasConsistentBindings)
      }
    }
  }

  @Test(arguments: Event.allCases)
  func `below a blank object without a node, nothing is taken for its own`(_ event: Event) throws {
    let places: [(identifier: RestorationIdentifier, variants: [StoredVariant])] = [
      ("place", CommitTableTests.Stored.given.variants)
    ]
    let column = try #require(Event.allCases.firstIndex(of: event))
    for editsParent in [false, true] {
      for parentIsFirst in [true, false] {
        var draft = try VariantTree.draft([("top", [StoredVariant("P", tag: "b", places)])])
        _ = try run(
          &draft, event, parent: nil, child: nil, value: "B", editsParent: editsParent, parentIsFirst: parentIsFirst)
        let below = Self.belowNothing[column]
        let stored = "P(place:S(leaf:L))"
        // What was saved for the sake of one below stays when that leaves.
        let unedited = event == .differsAndLeft ? "B*" : below.map { "B*" + $0 }
        let front = editsParent ? "Q*" + (below ?? "") : unedited
        #expect(try VariantTree.text(of: draft) == "top:" + (front.map { $0 + "|" } ?? "") + stored, "\(event)")
        #expect(try draft.hasConsistentBindings)
      }
    }
  }

  @Test(arguments: Event.allCases)
  func `while the state can't be read, only edits are written`(_ event: Event) throws {
    let column = try #require(Event.allCases.firstIndex(of: event))
    for editsParent in [false, true] {
      for parentIsFirst in [true, false] {
        var draft = ArchiveDraft(
          context: RestorationConfiguration().context, limits: .default, nodeBudget: 64 << 10, isBlind: true)
        _ = try run(
          &draft, event, parent: nil, child: nil, value: "B", editsParent: editsParent, parentIsFirst: parentIsFirst)
        let below = Self.belowNothing[column]
        // What was saved for the sake of one below stays when that leaves.
        let unedited = event == .differsAndLeft ? "B*" : below.map { "B*" + $0 }
        let front = editsParent ? "Q*" + (below ?? "") : unedited
        #expect(try VariantTree.text(of: draft) == (front.map { "top:" + $0 } ?? ""), "\(event) \(editsParent)")
        #expect(try draft.hasConsistentBindings)
      }
    }
  }

  @Test func `values that could not be encoded when the object was met are an edit once they can be`() throws {
    var draft = try VariantTree.draft([("place", [StoredVariant("S", tag: "b")])])
    let object = LiveObject(key: 1, identifier: "place")
    var batch = CaptureBatch()
    batch.isMeeting = true
    batch.place(object)
    batch.record(object, Unencodable())
    #expect(try draft.commit(batch).count == 1)
    #expect(try VariantTree.text(of: draft) == "place:S")
    batch = CaptureBatch()
    batch.record(object, "E")
    #expect(try draft.commit(batch).isEmpty)
    #expect(try VariantTree.text(of: draft) == "place:E*|S")
  }

  @Test func `a shared object that has died leaves its state, and two owners can change places`() throws {
    var draft = try VariantTree.draft([("one", [StoredVariant("1")]), ("two", [StoredVariant("2")])])
    var one = LiveObject(key: 1, identifier: "one")
    var two = LiveObject(key: 2, identifier: "two")
    var batch = CaptureBatch()
    batch.isMeeting = true
    batch.place(one, restored: try draft.writer.roots.first)
    batch.place(two, restored: try draft.writer.roots.last)
    _ = try draft.commit(batch)
    (one.identifier, two.identifier) = ("two", "one")
    batch = CaptureBatch()
    batch.place(one)
    batch.place(two)
    _ = try draft.commit(batch)
    #expect(try VariantTree.text(of: draft) == "one:2* two:1*")
    batch = CaptureBatch()
    batch.releases = [one.key]
    _ = try draft.commit(batch)
    #expect(try VariantTree.text(of: draft) == "one:2* two:1")
  }
}

extension ArchiveDraft {
  /// Whether every owner's node is there, belongs to nobody else and is not dormant.
  var hasConsistentBindings: Bool {
    get throws {
      var owners: [NodeID: CaptureBatch.Key] = [:]
      for (key, binding) in bindings.enumerated() {
        switch binding {
        case .owner(let node)?:
          guard try writer.node(node) != nil, owners.updateValue(key, forKey: node) == nil, !isDormant(node) else {
            return false
          }
        case .blank(let blank)?:
          if let over = blank.over, try writer.node(over) == nil { return false }
        case nil: break
        }
      }
      for dormant in dormants {
        guard try writer.node(dormant.node)?.attributes.flags.contains(.dormant) == true else { return false }
      }
      return owners == ownerOf
    }
  }
}
