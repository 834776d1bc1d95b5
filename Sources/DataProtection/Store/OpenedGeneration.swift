/// One generation of several parts, as far as the keys and the disk allow to open it.
package struct OpenedGeneration: Sendable {
  /// The number of the generation.
  package let generation: Generation
  /// How sure it is that this is the last save; what became of single parts is said by them.
  package let standing: ArchiveStanding
  /// The parts in the order of their places; the first holds the root.
  package let parts: [OpenedPart]
  /// What names these contents and no others, 32 bytes: for the crash marker.
  ///
  /// Of one part it is what its key commits to.
  package let commitment: [UInt8]

  /// The part at a place; nil for none.
  package subscript(_ place: PartPlace) -> OpenedPart? { parts.first { $0.place == place } }
}

/// One part of a generation, as far as it could be opened.
package struct OpenedPart: Sendable {
  /// What became of opening it.
  package enum State: Sendable {
    /// It is the one that was saved last.
    case opened(OpenedArchive)
    /// It can't be used, for the reason given: this is the file that the generation before has in its place.
    case fellBack(OpenedArchive, because: ProtectionError.Code)
    /// Its class has no key now.
    case locked
    /// It can't be used, for the reason given, and there is no other file.
    case damaged(ProtectionError.Code)
  }

  /// What became of opening it.
  package let state: State
  let record: Ledger.Part

  init(_ record: Ledger.Part, _ state: State) {
    self.record = record
    self.state = state
  }

  /// Where it stands.
  package var place: PartPlace { record.place }
  /// Its file, which a later generation can name again; of a part that fell back it is the older one.
  package var file: PartFile { record.identity }
  /// The class of the file.
  package var protection: ProtectionClass { record.protection }
  /// Whether it was sealed one-way, because its class had no key then.
  package var isSealedOneWay: Bool { record.flags.contains(.oneWay) }
  /// The length of its file when it was written.
  package var byteCount: Int { Int(clamping: record.byteCount) }
  /// What was opened; nil for nothing.
  package var archive: OpenedArchive? {
    switch state {
    case .opened(let archive), .fellBack(let archive, because: _): archive
    case .locked, .damaged: nil
    }
  }
  /// Why it could not be used.
  var problem: ProtectionError.Code? {
    switch state {
    case .fellBack(_, because: let code), .damaged(let code): code
    case .opened, .locked: nil
    }
  }
}

/// A look at one generation, of which only the first part is open.
package struct GenerationLook: Sendable {
  /// The number of the generation.
  package let generation: Generation
  /// How sure it is that this is the last save.
  package let standing: ArchiveStanding
  /// The first part, which holds the root.
  package let first: OpenedPart
  /// The places of the others.
  package var places: [PartPlace] { others.map(\.place) }
  private let others: [Ledger.Part]
  private let opening: @Sendable (Ledger.Part) throws(ProtectionError) -> OpenedPart

  init(
    _ first: OpenedPart, of record: Ledger.Record,
    opening: @escaping @Sendable (Ledger.Part) throws(ProtectionError) -> OpenedPart
  ) {
    generation = Generation(rawValue: record.generation)
    standing = .current
    self.first = first
    others = Array(record.parts.dropFirst())
    self.opening = opening
  }

  /// All parts are open.
  init(_ opened: OpenedGeneration) {
    (generation, standing, first) = (opened.generation, opened.standing, opened.parts[0])
    others = opened.parts.dropFirst().map(\.record)
    opening = { part in opened.parts.first { $0.place == part.place } ?? OpenedPart(part, .damaged(.missing)) }
  }

  /// Opens another part.
  ///
  /// Throws `.superseded` once its file is gone, as there are newer generations: the parts of two are never shown
  /// together. A change that was appended since the look is seen in the part that it lies in.
  package func open(_ place: PartPlace) throws(ProtectionError) -> OpenedPart? {
    guard let part = others.first(where: { $0.place == place }) else { return nil }
    return try opening(part)
  }
}
