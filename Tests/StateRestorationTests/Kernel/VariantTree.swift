import FoundationEssentials
import RestorationArchive
import Testing

@testable import StateRestoration

/// A variant to store in an archive, with the places below it.
struct StoredVariant {
  /// The value of its record; nil for none.
  ///
  /// Digits are stored as a number, which no text decodes.
  var value: String?
  var attributes: RestorationArchive.Attributes
  /// The variants of the places below, newest first.
  var places: [(identifier: RestorationIdentifier, variants: [StoredVariant])]

  init(
    _ value: String?, tag: RestorationClass? = "a", model: ModelIdentifier? = nil, version: StateVersion = 1,
    flags: RestorationArchive.NodeFlags = [],
    _ places: [(identifier: RestorationIdentifier, variants: [StoredVariant])] = []
  ) {
    self.value = value
    attributes = .init(classTag: tag, version: version, flags: flags, model: model)
    self.places = places
  }
}

/// Archives of few variants, written and read as text.
///
/// `top:P*(place:E*|S(leaf:L))` is a place `top` with the variant P, and below it a place with the variant E in front of the
/// dormant S, below which is another place. A live object owns P and E. A variant without a record is `-`.
enum VariantTree {
  /// The bytes of an archive with places at its top.
  static func archive(
    _ places: [(identifier: RestorationIdentifier, variants: [StoredVariant])]
  ) throws -> RestorationArchive.Reader {
    var writer = RestorationArchive.Writer(context: RestorationConfiguration().context)
    // The first that is stored is the newest.
    var number = 1000
    try store(places, below: nil, in: &writer, &number)
    return try RestorationArchive.Reader(base: .init(try writer.makeArchive()))
  }

  private static func store(
    _ places: [(identifier: RestorationIdentifier, variants: [StoredVariant])], below parent: NodeID?,
    in writer: inout RestorationArchive.Writer, _ number: inout Int
  ) throws {
    for (identifier, variants) in places {
      for (position, variant) in variants.enumerated() {
        var attributes = variant.attributes
        var name = identifier
        if position > 0 || attributes.flags.contains(.dormant) {
          attributes.flags.insert(.dormant)
          name = VariantName(identifier, number: number).stored
          number -= 1
        }
        let node = try writer.insert(name, parent: parent, attributes: attributes)
        if let value = variant.value {
          let entry: RestorationArchive.Entry =
            Int(value).map { .init(key: "value", value: $0) } ?? .init(key: "value", value: value)
          try writer.setRecord(of: node, entries: [entry], attributes: attributes)
        }
        try store(variant.places, below: node, in: &writer, &number)
      }
    }
  }

  /// A draft that goes on from an archive.
  static func draft(
    _ places: [(identifier: RestorationIdentifier, variants: [StoredVariant])],
    limits: RestorationArchive.Limits = .default
  ) throws -> ArchiveDraft {
    let reader = try archive(places)
    return try ArchiveDraft(
      continuing: reader, dormants: try RestorePlan(reader: reader).allDormants, limits: limits, nodeBudget: 64 << 10)
  }

  /// The archive that a draft would save, read back.
  static func text(of draft: ArchiveDraft) throws -> String {
    var draft = draft
    let reader = try RestorationArchive.Reader(base: .init(try draft.writer.makeArchive()))
    return try text(of: reader.roots, in: reader, draft.ownerOf)
  }

  /// An archive without the program's own state; nobody owns anything in it.
  static func text(of reader: RestorationArchive.Reader) throws -> String {
    let roots = try reader.roots.filter { try reader.node($0)?.identifier != ReservedNode.application }
    return try text(of: roots, in: reader, [:])
  }

  private static func text(
    of siblings: [NodeID], in reader: RestorationArchive.Reader, _ owners: [NodeID: CaptureBatch.Key]
  ) throws -> String {
    var places: [RestorationIdentifier: (active: String, dormant: [(number: Int, text: String)])] = [:]
    for id in siblings {
      let node = try #require(try reader.node(id))
      let record = try reader.record(of: id)
      let number = try? record.decodeIfPresent(Int.self, forKey: "value")
      var text = try number.map { "\($0)" } ?? record.decodeIfPresent(String.self, forKey: "value") ?? "-"
      if owners[id] != nil { text += "*" }
      let below = try self.text(of: reader.children(of: id), in: reader, owners)
      if !below.isEmpty { text += "(\(below))" }
      let isDormant = node.attributes.flags.contains(.dormant)
      let name = isDormant ? VariantName(node.identifier) : VariantName(node.identifier, number: 0)
      if isDormant {
        places[name.identifier, default: ("", [])].dormant.append((name.number, text))
      } else {
        #expect(places[name.identifier]?.active ?? "" == "", "one variant is in front")
        places[name.identifier, default: ("", [])].active = text
      }
    }
    return places.sorted { $0.key < $1.key }.map { identifier, variants in
      let dormant = variants.dormant.sorted { $0.number > $1.number }.map(\.text)
      return "\(identifier):" + ([variants.active] + dormant).joined(separator: "|")
    }.joined(separator: " ")
  }
}

/// A live object, as a capture tells of it.
struct LiveObject {
  var key: CaptureBatch.Key
  var parent: CaptureBatch.Key?
  var identifier: RestorationIdentifier
  var tag: RestorationClass? = "a"
  var model: ModelIdentifier?
}

extension CaptureBatch {
  /// The objects that come, or go elsewhere, with this capture.
  mutating func place(
    _ object: LiveObject, restored: NodeID? = nil, over own: NodeID? = nil, wasRefused: Bool = false
  ) {
    placements.append(
      Placement(
        key: object.key, parent: object.parent, section: object.parent == nil ? .interface : nil,
        identifier: object.identifier,
        given: restored.map { .owner($0) } ?? own.map { .over($0) } ?? (wasRefused || isMeeting ? .nothing : nil)))
  }

  /// The values of an object.
  mutating func record(_ object: LiveObject, _ value: any Encodable & Sendable) {
    records.append(
      Record(key: object.key, kind: kinds.count, entries: [.init(key: "value", value: value)], model: object.model))
    kinds.append(
      Kind(version: 1, classTag: object.tag, acceptedTags: Set([object.tag].compactMap(\.self))))
  }
}

/// A value that can't be encoded.
struct Unencodable: Encodable, Sendable {
  struct Failure: Error {}

  func encode(to encoder: any Encoder) throws { throw Failure() }
}

extension ArchiveDraft {
  /// The variant in its place that is an object's own, by the table *Select*; restoring finds it before anybody is met.
  func own(of object: LiveObject, below parent: NodeID? = nil) throws -> NodeID? {
    let claimant = Claimant(
      identity: Identity(classTag: object.tag, model: object.model), version: 1,
      acceptedTags: Set([object.tag].compactMap(\.self)))
    let variants = try variants(of: parent, object.identifier)
    let choice = try Selection.choose(among: variants, tags: tags) { variant in
      let attributes = try writer.node(variant)?.attributes ?? .init()
      return (attributes.identity, Selection.verdict(on: .init(attributes), for: claimant))
    }
    switch choice {
    case .owner(let position), .blank(let position?): return variants[position]
    case .blank(nil): return nil
    }
  }
}
