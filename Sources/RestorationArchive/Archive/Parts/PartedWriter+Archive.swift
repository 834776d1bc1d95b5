package import FoundationShim

extension RestorationArchive.PartedWriter {
  /// Makes a whole archive of a part as it is now, the base of its deltas.
  ///
  /// See ``RestorationArchive/Writer/makeArchive()``.
  /// A part that something left is made anew: nothing of that is in it, neither keys nor class tags.
  package mutating func makeArchive(of part: RestorationArchive.Part) throws(ArchiveError) -> Data {
    if further.isEmpty, part == .first { return try first.makeArchive() }
    let context = context
    let archive = try changeHere(part) { (writer) throws(ArchiveError) in
      writer.context = context
      return try writer.makeArchive()
    }
    completePaths(in: part)
    return archive
  }

  /// Makes a whole archive of a part that leaves out nothing, whatever the budget.
  ///
  /// See ``RestorationArchive/Writer/makeArchiveOverBudget()``.
  package func makeArchiveOverBudget(of part: RestorationArchive.Part) throws(ArchiveError) -> Data {
    if further.isEmpty, part == .first { return try first.makeArchiveOverBudget() }
    var copy = self
    return try copy.changeHere(part) { [context] (writer) throws(ArchiveError) in
      writer.context = context
      return try writer.makeArchiveOverBudget()
    }
  }

  /// Makes a delta of a part's changes since its last archive or delta; nil when there are none.
  ///
  /// See ``RestorationArchive/Writer/makeDelta()``. It throws `wrongBase` for a part that needs an archive: it is new,
  /// or something left it.
  package mutating func makeDelta(of part: RestorationArchive.Part) throws(ArchiveError) -> Data? {
    try makeDelta(of: part) { (writer) throws(ArchiveError) in try writer.makeDelta() }
  }

  /// Makes a delta of a part that leaves out nothing, whatever the budget: for changes that are read and not stored.
  package mutating func makeDeltaOverBudget(of part: RestorationArchive.Part) throws(ArchiveError) -> Data? {
    try makeDelta(of: part) { (writer) throws(ArchiveError) in try writer.makeDeltaOverBudget() }
  }

  private mutating func makeDelta(
    of part: RestorationArchive.Part, _ body: (inout RestorationArchive.Writer) throws(ArchiveError) -> Data?
  ) throws(ArchiveError) -> Data? {
    if further.isEmpty, part == .first { return try body(&first) }
    // New circumstances alone are the first part's to tell.
    guard changedParts.contains(part) else { return nil }
    let context = context
    let delta = try changeHere(part) { (writer) throws(ArchiveError) in
      writer.context = context
      return try body(&writer)
    }
    completePaths(in: part)
    return delta
  }

  private mutating func changeHere<Result>(
    _ part: RestorationArchive.Part, _ body: (inout RestorationArchive.Writer) throws(ArchiveError) -> Result
  ) throws(ArchiveError) -> Result {
    guard isHere(part) else { throw Self.partAway(part) }
    return try change(part, body)
  }

  /// Reads the bases from sources from now on, instead of holding all their bytes; what was read ahead is forgotten.
  ///
  /// - Parameter sources: Each part's base that was made last, or is continued, wherever it lies now; anything else is
  ///   not taken.
  package mutating func release(to sources: [RestorationArchive.Part: RestorationArchive.Source]) {
    for part in parts {
      try? change(part) { (writer) throws(ArchiveError) in writer.release(to: sources[part]) }
    }
  }
}
