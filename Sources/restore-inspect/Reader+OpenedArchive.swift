package import DataProtection
package import RestorationArchive

extension RestorationArchive.Reader {
  /// Reads an opened generation, opening only the chunks that are asked for.
  ///
  /// For reading a few nodes of many. Throws `sourceFailed` with the store's error as its cause, as every later read
  /// does: also once the class's key is gone. A restoration doesn't read this way, because it needs every node, and
  /// what it carries over has to be there for a save while the device is locked.
  package init(
    _ archive: OpenedArchive, limits: RestorationArchive.Limits = .default
  ) throws(ArchiveError) {
    try self.init(
      base: RestorationArchive.Source(byteCount: archive.byteCount) { try archive.read($0) },
      deltas: archive.frames,
      limits: limits)
  }
}
