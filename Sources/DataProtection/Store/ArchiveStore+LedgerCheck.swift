extension ArchiveStore {
  /// What is wrong with the store's ledger: for inspection; `nil` when it is whole, or when none is needed yet.
  ///
  /// `missing` or `corrupt`: archives open all the same, and nothing says that they are the newest. Nothing is changed.
  package func ledgerProblem() throws(ProtectionError) -> ProtectionError.Code? {
    try withLock { _, session throws(ProtectionError) in
      do throws(ProtectionError) {
        switch try session.readLedger() {
        case .valid: return nil
        case .invalid: return .corrupt
        case .absent: return try session.names().contains { $0.isSealed } ? .missing : nil
        }
      } catch  where error.code == .unsupportedVersion || error.code == .rolledBack {
        return error.code
      }
    }
  }
}
