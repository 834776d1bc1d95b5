extension ArchiveStore {
  /// What is wrong with the store's ledger: for inspection; `nil` when it is whole, or when none is needed yet.
  ///
  /// `missing` or `corrupt`: archives open all the same, and nothing says that they are the newest. Nothing is changed.
  package func ledgerProblem() throws(ProtectionError) -> ProtectionError.Code? {
    try withLock { _, session throws(ProtectionError) in try session.checkLedger().problem }
  }
}

extension StoreSession {
  /// Reads the ledger as far as it can be read, and says what is wrong with it.
  ///
  /// Throws what says nothing about its content.
  func checkLedger() throws(ProtectionError) -> (reading: LedgerReading, problem: ProtectionError.Code?) {
    do throws(ProtectionError) {
      let reading = try readLedger()
      switch reading {
      case .valid: return (reading, nil)
      case .invalid: return (reading, .corrupt)
      case .absent:
        // What raised the tip was there, and a ledger before it.
        if try store.readTip() > 0 { return (reading, .missing) }
        return (reading, try names().contains { $0.isSealed } ? .missing : nil)
      }
    } catch  where error.code == .unsupportedVersion || error.code == .rolledBack {
      return (.invalid, error.code)
    }
  }
}
