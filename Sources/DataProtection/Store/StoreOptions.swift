/// How a store behaves where there is a choice.
struct StoreOptions: Sendable {
  /// Whether a directory on a network volume is taken all the same.
  var allowsNetworkVolumes = false
  /// Whether archives are refused, rather than reported as unverifiable, when their ledger was lost.
  var refusesUnverifiableArchives = false
  /// How long to wait for another process before `busy`.
  var patience: Duration = .seconds(5)
}
