package import DataProtection

/// The extent of a check: everything, or the files of the slot that the command line names.
package struct VerifyScope: Sendable {
  /// The slots whose names are known: hashes tell nothing back.
  let slots: [ArchiveSlot]

  /// Whether these are all that is checked.
  let isNarrow: Bool

  /// A check that knows a slot by name and, if it is an archive's, the files beside it.
  package init(_ slot: ArchiveSlot, isNarrow: Bool) {
    self.isNarrow = isNarrow
    var slots = [slot]
    if slot.slot == "archive" {
      slots.append(ArchiveSlot(application: slot.application, scene: slot.scene, slot: "snapshot"))
    }
    if !isNarrow { slots.append(ArchiveSlot(application: slot.application, scene: "", slot: "scenes")) }
    self.slots = slots
  }

  /// Whether a slot of that name holds an archive, and nothing else.
  static func holdsArchive(_ slot: String) -> Bool {
    slot == "archive" || slot == "scenes"
  }
}
