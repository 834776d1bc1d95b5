/// How sure it is that an opened generation is the one that was saved last.
public enum ArchiveStanding: Hashable, Sendable {
  /// It is the newest one that was ever saved, as the ledger says.
  case current
  /// The newest one is damaged or gone, for the reason given; the ledger's predecessor stands in for it.
  case olderGeneration(because: ProtectionError.Code)
  /// The ledger is missing or invalid: this is the newest authentic generation there is, but nothing says that
  /// no newer one was taken away.
  case rollbackUnverifiable
}
