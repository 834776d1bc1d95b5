import FileSystem

/// A slot that a list of the caller's names, as the index of protected files does: whoever finds it in no list learns whether it
/// is left from a creation or a deletion that was cut short, or the list is an old one.
extension SlotDirectory {
  /// Marks the slot before it gets its first generation, or before its name is taken off the list.
  ///
  /// - Parameter isDurable: Whether to wait for the disk. The first generation of a slot waits for it anyway.
  func markUnnamed(isDurable: Bool) throws(ProtectionError) {
    try attempt("mark a file that is made or deleted") { () throws(FileSystemError) in
      try touchFile(SlotFile.unnamed.text, in: descriptor, fileSystem)
      if isDurable { try fileSystem.synchronize(descriptor) }
    }
  }

  /// Takes the mark away, once the slot's name is on the list; the next opening of the list repeats what fails.
  func markNamed() {
    guard (try? isUnnamed()) == true,
      (try? clearName(SlotFile.unnamed.text, in: descriptor, fileSystem)) != nil
    else { return }
    // A mark that a power cut brings back would have an old list delete the slot.
    try? fileSystem.synchronize(descriptor)
  }

  /// Whether it is marked, or was never saved.
  func isUnnamed() throws(ProtectionError) -> Bool {
    try attempt("look at a file") { () throws(FileSystemError) in
      if try fileSystem.statusIfAny(ofName: SlotFile.unnamed.text, in: descriptor) != nil { return true }
      return try fileSystem.statusIfAny(ofName: SlotFile.ledger.text, in: descriptor) == nil
    }
  }
}

extension ArchiveStore {
  /// Makes the slot, marked as one that no list names yet.
  func makeUnnamed() throws(ProtectionError) {
    try writing { state throws(ProtectionError) in try state.slot.markUnnamed(isDurable: false) }
  }
}
