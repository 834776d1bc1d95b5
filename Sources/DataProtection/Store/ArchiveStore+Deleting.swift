import FileSystem
import Synchronization

extension ArchiveStore {
  /// Deletes the slot with everything in it; works while locked.
  ///
  /// The next save begins anew. One rename is the deletion; the rest only clears up. Throws `.inUse` when somebody else has the
  /// slot, or what the disk says; `.durabilityUnknown` when a power cut may bring it back.
  package func deleteAll() throws(ProtectionError) {
    try turn.take { () throws(ProtectionError) in
      let slot: SlotDirectory
      let epoch: [UInt8]
      if var taken = state.withLock({ $0 }) {
        try requireSlot(&taken)
        slot = taken.slot
        epoch = taken.reading.ledger.value?.epoch ?? taken.reading.entry?.epoch ?? []
      } else {
        guard try exists() else { return }
        slot = try openForWriting(waiting: .zero)
        let entry = try? entryOnList()
        epoch = (try? store.readLedger(in: slot))?.value?.epoch ?? entry?.epoch ?? []
      }
      letGo()
      try delete(slot, try store.deletedName(name, epoch: epoch))
    }
  }

  /// Removes one generation that is set aside; false when it is not there.
  package func removeSetAside(_ generation: Generation) throws(ProtectionError) -> Bool {
    try writing { state throws(ProtectionError) in
      try requireSlot(&state)
      guard var ledger = state.reading.ledger.value,
        let index = ledger.setAside.firstIndex(where: { $0.generation == generation.rawValue })
      else { return false }
      let removed = ledger.setAside.remove(at: index)
      let named = ledger.files
      let gone = removed.parts.map(\.file).filter { !named.contains($0) }
      _ = try commit(ledger, &state)
      guard synchronize(isFirst: try listFirst(ledger, &state), &state) == .durable else {
        throw ProtectionError(.durabilityUnknown, "What was removed may be there again after a power cut.")
      }
      state.isReopened = true
      for file in gone { state.slot.remove(file) }
      return true
    }
  }

  private func entryOnList() throws(ProtectionError) -> SlotList.Entry? {
    isListed ? try store.readList().value?.entries[name] : nil
  }

  /// Whether there is a directory to delete; a slot without one is taken off the list.
  private func exists() throws(ProtectionError) -> Bool {
    if try store.look(at: name) != nil { return true }
    if try entryOnList() != nil { try synchronizeAnew(store.directory) }
    try forget()
    return false
  }

  private func delete(_ slot: SlotDirectory, _ deleted: String) throws(ProtectionError) {
    // Of an earlier deletion of the same slot that was cut short.
    store.removeDeleted(deleted)
    try attempt("delete an archive") { () throws(FileSystemError) in
      do throws(FileSystemError) {
        try store.fileSystem.rename(name.text, to: deleted, in: store.directory, replacing: false)
      } catch  where error.code == .fileExists || error.code == .notEmpty {
        // What stands there is no rest of a deletion, or one that can't be removed.
        try clearName(deleted, in: store.directory, store.fileSystem)
        try store.fileSystem.rename(name.text, to: deleted, in: store.directory, replacing: false)
      }
    }
    try store.fileSystem.synchronize(
      store.directory, orSay: "The archive was deleted, but a power cut may bring it back; delete it again.")
    store.emptyDeleted(deleted)
    // As long as the list names the slot, the empty directory says that it was deleted: a full disk can't change the list.
    if (try? forget()) != nil { store.removeDeleted(deleted) }
  }

  /// Takes the slot off the list.
  private func forget() throws(ProtectionError) {
    let name = name
    guard try entryOnList() != nil else { return }
    try store.changeList { $0.entries[name] = nil }
  }
}
