extension ProtectedDevice {
  /// The archives of one slot: the generations of one thing that a program saves.
  ///
  /// - Parameters:
  ///   - slot: Whose archive it is.
  ///   - protection: The class that new generations get, and existing ones must have.
  /// - Returns: The store of that slot, which nobody else can have open for writing at the same time. It keeps the device.
  /// - Throws: `unsafeLocation` or `io` when the store's directory can't be opened.
  package func archives(
    for slot: ArchiveSlot, protection: ProtectionClass = .complete
  ) throws(ProtectionError) -> ArchiveStore {
    try stores.archives().archives(for: slot, protection: protection, of: self)
  }

  /// A directory of protected files; it is made when it isn't there.
  ///
  /// - Parameter directory: Its name: any string, which never becomes part of a path.
  /// - Returns: The directory.
  /// - Throws: `unsafeLocation` or `io` when it can't be opened.
  public func files(in directory: String = "") throws(ProtectionError) -> ProtectedFiles {
    if !isMade { try makeAgain() }
    return ProtectedFiles(collection: try stores.files(in: directory))
  }
}
