package import DataProtection
package import RestorationArchive

extension RestorationArchive.Reader {
  /// Reads one part of a generation, opening only the chunks that are asked for.
  ///
  /// For reading a few nodes of many. Throws `sourceFailed` with the store's error as its cause, as every later read
  /// does: also once the class's key is gone. A restoration doesn't read this way, because it needs every node, and
  /// what it carries over has to be there for a save while the device is locked.
  ///
  /// - Parameters:
  ///   - archive: The part.
  ///   - isInMemory: Whether it is read whole now, as its process ends before the reader does.
  ///   - limits: The bounds that reading keeps.
  package init(
    _ archive: OpenedArchive, isInMemory: Bool = false, limits: RestorationArchive.Limits = .default
  ) throws(ArchiveError) {
    var source = RestorationArchive.Source(byteCount: archive.byteCount) { try archive.read($0) }
    if isInMemory {
      do {
        source = RestorationArchive.Source(try archive.readAll())
      } catch {
        throw ArchiveError(.sourceFailed, "the archive's bytes could not be read; nothing was changed", cause: error)
      }
    }
    try self.init(base: source, deltas: archive.frames, limits: limits)
  }
}

extension RestorationArchive.PartedReader {
  /// Reads an opened generation, as ``RestorationArchive/Reader/init(_:isInMemory:limits:)`` does each of its parts; parts that have
  /// no key now are away.
  ///
  /// Throws `sourceFailed` also when the part with the root has none, or is damaged.
  package init(
    _ generation: OpenedGeneration, isInMemory: Bool = false, limits: RestorationArchive.Limits = .default
  ) throws(ArchiveError) {
    var readers: [RestorationArchive.Part: RestorationArchive.Reader] = [:]
    var away: Set<RestorationArchive.Part> = []
    for part in generation.parts {
      let place = RestorationArchive.Part(part.place)
      if let archive = part.archive {
        readers[place] = try RestorationArchive.Reader(archive, isInMemory: isInMemory, limits: limits)
      } else {
        away.insert(place)
      }
    }
    guard let first = readers.removeValue(forKey: .first) else { throw .rootIsAway }
    try self.init(first: first, further: readers, away: away)
  }
}

extension RestorationArchive.NodeFinder {
  /// Reads a generation that was looked at, as ``RestorationArchive/Reader/init(_:isInMemory:limits:)`` does each of its parts.
  ///
  /// Throws `sourceFailed` also when the part with the root has no key, or is damaged.
  package init(
    _ look: GenerationLook, limits: RestorationArchive.Limits = .default
  ) throws(ArchiveError) {
    guard let root = look.first.archive else { throw .rootIsAway }
    try self.init(
      first: RestorationArchive.Reader(root, limits: limits),
      further: Set(look.places.map(RestorationArchive.Part.init))
    ) { part throws(ArchiveError) in
      let opened: OpenedPart?
      do throws(ProtectionError) {
        opened = try look.open(PartPlace(part))
      } catch {
        throw ArchiveError(.sourceFailed, "a part of the archive could not be opened", cause: error)
      }
      switch opened?.state {
      case .opened(let archive), .fellBack(let archive, because: _):
        return .here(try RestorationArchive.Reader(archive, limits: limits))
      case .locked: return .away
      case .damaged, nil: return .none
      }
    }
  }
}

extension ArchiveError {
  fileprivate static let rootIsAway = ArchiveError(
    .sourceFailed, "the part with the root can't be read now",
    cause: ProtectionError(.locked, "The part with the root has no key while the device is locked."))
}

extension OpenedGeneration {
  /// The classes of protection of its parts.
  package var classes: [RestorationArchive.Part: ProtectionClass] {
    Dictionary(uniqueKeysWithValues: parts.map { (RestorationArchive.Part($0.place), $0.protection) })
  }
}

extension RestorationArchive.Part {
  /// The part that stands at a place.
  init(_ place: PartPlace) { self = Self.allCases[Int(place.rawValue)] }
}

extension PartPlace {
  /// The place of a part.
  init(_ part: RestorationArchive.Part) { self = Self.allCases[Int(part.rawValue)] }
}
