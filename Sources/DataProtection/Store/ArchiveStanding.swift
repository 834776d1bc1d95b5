/// How sure it is that an opened generation is the one that was saved last.
package enum ArchiveStanding: Hashable, Sendable {
  /// It is the newest one that was ever saved, as the ledger says.
  case current
  /// The ledger's predecessor: because the newest one is damaged or gone, for the reason given, or because it was
  /// asked for.
  case olderGeneration(because: ProtectionError.Code?)
  /// The ledger is missing or invalid: this is the newest authentic generation there is, but nothing says that
  /// no newer one was taken away. Or the list of slots does not name the slot: it may have been deleted and put back.
  case rollbackUnverifiable
}
