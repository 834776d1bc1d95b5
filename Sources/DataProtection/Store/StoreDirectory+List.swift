import FileSystem

extension StoreDirectory {
  /// The beginning of the names of slots that are being deleted.
  static let deletedPrefix = "deleted-"

  /// Reads the list of slots.
  ///
  /// Throws `.rolledBack` when it has seen a later keybag than the device has now.
  func readList() throws(ProtectionError) -> RecordReading<SlotList> {
    guard hasParent else { return .absent }
    let reading = try readRecord(SlotList.fileName, in: parent, limit: SlotList.byteLimit) {
      bytes throws(ProtectionError) in try SlotList(bytes, keys: keys)
    }
    if let list = reading.value { try check(revision: list.keybagRevision) }
    return reading
  }

  /// Refuses a keybag that is older than what the store has seen.
  func check(revision: UInt64) throws(ProtectionError) {
    guard revision > keys.keybagRevision else { return }
    // Another program may have changed the passcode since this one looked.
    guard revision > (try keys.refreshKeybagRevision()) else { return }
    throw ProtectionError(
      .rolledBack, "The keybag is older than what was saved under it: somebody put an old one back.")
  }

  /// Changes the list durably, while nobody else does.
  ///
  /// A list that is damaged is made anew from the slots that are there. Throws `.unsupportedVersion` for a
  /// newer format.
  ///
  /// - Parameter body: Changes the list; nothing is written when it leaves it as it is.
  /// - Returns: The list as it is now.
  @discardableResult
  func changeList(_ body: (inout SlotList) -> Void) throws(ProtectionError) -> SlotList {
    try listTurn.take { () throws(ProtectionError) in
      let directory = directory
      let isOurs = try attempt("lock the list of slots") { () throws(FileSystemError) in
        try fileSystem.lock(directory, .exclusive, patience: options.patience)
      }
      guard isOurs else {
        throw ProtectionError(.busy, "Another process keeps the list of slots locked; try again when it is done.")
      }
      defer { try? fileSystem.unlock(directory) }
      var list: SlotList
      // What a lost or damaged list is made anew from is on no disk yet.
      var before = SlotList()
      switch try readList() {
      case .valid(let found):
        list = found
        before = found
      case .absent: list = try rebuiltList()
      case .invalid(let error) where error.code == .unsupportedVersion: throw error
      case .invalid:
        list = try rebuiltList()
        list.wasRebuilt = true
      }
      body(&list)
      guard list != before else { return list }
      guard list.entries.count <= SlotList.entryLimit else {
        throw ProtectionError(.io, "The device has \(SlotList.entryLimit) archives already; delete some.")
      }
      list.keybagRevision = max(list.keybagRevision, keys.keybagRevision)
      markAsCache()
      let bytes = try list.encoded(keys: keys)
      try replaceFile(SlotList.fileName, by: SlotList.newFileName, in: parent, with: bytes, fileSystem)
      try fileSystem.synchronize(parent, orSay: "The list of slots may not survive a power cut.")
      sweepDeleted(list)
      return list
    }
  }

  /// A list of the slots that are there and have an authentic ledger; throws when one of them can't be looked at.
  private func rebuiltList() throws(ProtectionError) -> SlotList {
    var list = SlotList()
    for name in try slotNames() {
      guard let slot = try lookIfDirectory(at: name) else { continue }
      let ledger = try readLedger(in: slot)
      if case .absent = ledger { continue }
      list.wasRebuilt = true
      guard let epoch = ledger.value?.epoch else { continue }
      list.entries[name] = SlotList.Entry(epoch: epoch, isNew: false)
    }
    return list
  }

  /// All slots whose directories are there, in order.
  func slotNames() throws(ProtectionError) -> [SlotName] {
    guard isThere else { return [] }
    let names = try attempt("list the slots") { () throws(FileSystemError) in try fileSystem.names(in: directory) }
    return names.compactMap(SlotName.init).sorted()
  }

  /// The directory of a slot; nil when there is none, or something else stands in its place.
  func lookIfDirectory(at name: SlotName) throws(ProtectionError) -> SlotDirectory? {
    do throws(ProtectionError) {
      return try look(at: name)
    } catch  where error.code == .corrupt {
      return nil
    }
  }

  /// Whether any slot is there that was ever saved: its list would be, too.
  ///
  /// Throws when one of them can't be looked at: nobody knows then.
  func hasSavedSlots() throws(ProtectionError) -> Bool {
    for name in try slotNames() {
      guard let slot = try lookIfDirectory(at: name) else { continue }
      let ledger = try attempt("look at a slot") { () throws(FileSystemError) in
        try fileSystem.statusIfAny(ofName: SlotFile.ledger.text, in: slot.descriptor)
      }
      if ledger != nil { return true }
    }
    return false
  }

  /// Whether there is a list, whatever it says.
  func hasList() throws(ProtectionError) -> Bool {
    try attempt("look for the list of slots") { () throws(FileSystemError) in
      try fileSystem.statusIfAny(ofName: SlotList.fileName, in: parent) != nil
    }
  }

  /// Records that the passcode has changed: an old keybag put back is noticed from now on.
  func noteRevision() throws(ProtectionError) {
    try changeList { list in
      guard !list.entries.isEmpty || list.wasRebuilt else { return }
      list.keybagRevision = max(list.keybagRevision, keys.keybagRevision)
    }
  }

  // MARK: Deleting

  /// The name of a slot during its deletion; nobody can make it without the keys.
  func deletedName(_ slot: SlotName, epoch: [UInt8]) throws(ProtectionError) -> String {
    let code = try keys.authenticationCode(.name, over: Array("deleted/".utf8) + slot.bytes + epoch)
    return Self.deletedPrefix + hexadecimal(code.prefix(SlotName.byteCount))
  }

  /// Whether what the list names was deleted, and could not be taken off the list.
  func isDeleted(_ slot: SlotName, _ entry: SlotList.Entry) throws(ProtectionError) -> Bool {
    guard isThere else { return false }
    let deleted = try deletedName(slot, epoch: entry.epoch)
    return try attempt("look for a deleted slot") { () throws(FileSystemError) in
      try fileSystem.statusIfAny(ofName: deleted, in: directory) != nil
    }
  }

  /// Removes what deletions have left, of slots that are not on the list any more.
  private func sweepDeleted(_ list: SlotList) {
    guard let names = try? fileSystem.names(in: directory).filter({ $0.hasPrefix(Self.deletedPrefix) }),
      !names.isEmpty
    else { return }
    // A slot that is still on the list may need its own: whoever asks for that removes it.
    var needed: Set<String> = []
    for (slot, entry) in list.entries.all {
      guard let name = try? deletedName(slot, epoch: entry.epoch) else { return }
      needed.insert(name)
    }
    for name in names where !needed.contains(name) { removeDeleted(name) }
  }

  /// Empties and removes the directory of a deleted slot; any rest goes later.
  func removeDeleted(_ name: String) {
    emptyDeleted(name)
    try? fileSystem.removeDirectory(name, in: directory)
  }

  /// Removes everything in the directory of a deleted slot.
  func emptyDeleted(_ name: String) {
    guard let deleted = try? fileSystem.openDirectory(name, in: directory) else { return }
    defer { fileSystem.close(deleted) }
    for file in (try? fileSystem.names(in: deleted)) ?? [] { try? fileSystem.unlink(file, in: deleted) }
  }
}
