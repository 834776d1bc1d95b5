internal import DataProtection
internal import FoundationShim
internal import RestorationArchive

/// The bytes of one part of a state, in memory: a base and the changes since.
struct PartBytes: Sendable {
  var base: Data
  var deltas: [Data] = []
}

/// The parts of a state, in memory.
struct PartsInMemory: Sendable {
  private var parts: [RestorationArchive.Part: PartBytes] = [:]
  /// Those that can't be read now.
  private var away: Set<RestorationArchive.Part> = []
  private let limits: RestorationArchive.Limits

  /// Reads all that can be read of a state; of a part that turns out to be damaged, what stands in for it.
  ///
  /// Throws what is wrong with the first part: nothing else can be shown without it.
  init(_ state: inout StoredState, in store: any PreservationStore, limits: RestorationArchive.Limits) throws {
    self.limits = limits
    for index in state.parts.indices {
      do {
        try read(state.parts[index])
      } catch let error as ProtectionError where !error.code.isTransient && index > 0 {
        guard let file = state.parts[index].file else { throw error }
        state.parts[index] = try store.openStandIn(for: file, because: error.code)
        try read(state.parts[index])
      }
    }
  }

  private mutating func read(_ part: StoredState.Part) throws {
    if let content = part.content {
      parts[part.part] = PartBytes(base: try content.read(0..<content.byteCount), deltas: content.frames)
    } else if part.damage == nil {
      away.insert(part.part)
    }
  }

  /// What has changed in a part since it was read; a new one is read whole.
  mutating func add(_ change: Table.PartChange, to part: RestorationArchive.Part) {
    switch change {
    case .delta(let delta): parts[part]?.deltas.append(delta)
    case .base(let base): parts[part] = PartBytes(base: base)
    }
  }

  /// A reader of all that is here.
  var reader: RestorationArchive.PartedReader {
    get throws(ArchiveError) {
      var readers: [RestorationArchive.Part: RestorationArchive.Reader] = [:]
      for (place, part) in parts {
        readers[place] = try RestorationArchive.Reader(base: .init(part.base), deltas: part.deltas, limits: limits)
      }
      guard let first = readers.removeValue(forKey: .first) else {
        throw ArchiveError(.corrupt, "the part with the root is missing")
      }
      return try RestorationArchive.PartedReader(first: first, further: readers, away: away)
    }
  }
}

/// What was saved while the device was locked, of any class: the parts of an archive in one sequence of bytes, which is sealed
/// one-way.
enum PendingParts {
  /// The bytes: for each part its class, one byte, its length, eight bytes, lowest first, and its archive.
  ///
  /// - Parameter overBudget: Whether nothing is left out, whatever the budget: for what is read and not stored.
  static func encode(_ table: inout Table, overBudget: Bool = false) throws(ArchiveError) -> Data {
    var bytes = Data()
    for place in table.parts.parts {
      let archive =
        overBudget ? try table.writer.makeArchiveOverBudget(of: place) : try table.writer.makeArchive(of: place)
      bytes.append(table.parts[place].rawValue)
      for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: archive.count >> shift)) }
      bytes.append(archive)
    }
    return bytes
  }

  /// Reads them; throws `corrupt` for anything else.
  static func decode(
    _ bytes: Data, limits: RestorationArchive.Limits
  ) throws(ArchiveError) -> (reader: RestorationArchive.PartedReader, parts: PartClasses) {
    let corrupt = ArchiveError(.corrupt, "what was saved while locked is no sequence of archives")
    var readers: [RestorationArchive.Reader] = []
    var classes: [ProtectionClass] = []
    var next = bytes.startIndex
    while next < bytes.endIndex {
      guard bytes.endIndex - next >= 9, let protection = ProtectionClass(rawValue: bytes[next]), readers.count < 4
      else {
        throw corrupt
      }
      let length = bytes[next + 1..<next + 9].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      next += 9
      guard let count = Int(exactly: length), count <= bytes.endIndex - next else { throw corrupt }
      readers.append(
        try RestorationArchive.Reader(base: .init(bytes.subdata(in: next..<next + count)), limits: limits))
      classes.append(protection)
      next += count
    }
    guard !readers.isEmpty else { throw corrupt }
    let further = Dictionary(uniqueKeysWithValues: zip(RestorationArchive.Part.allCases, readers).dropFirst())
    return (try RestorationArchive.PartedReader(first: readers[0], further: further), PartClasses(classes))
  }
}
