extension ArchiveStore {
  /// Every file of the slot, with what became of reading it whole; newest generations first.
  ///
  /// What was set aside is read as well; that it is damaged is why it is there. No archive is changed, and contents are
  /// read piece by piece after the store's lock was given back.
  public func listMaterial() throws(ProtectionError) -> [ArchiveMaterial] {
    try withLock { state, session throws(ProtectionError) in
      session.examine(try session.survey(slot), protection: state.protection)
    }.finish()
  }
}
