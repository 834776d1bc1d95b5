/// What a request to preserve came to.
///
/// Declining is not the same as having nothing to do.
public enum PreservationOutcome: Sendable, Hashable, Codable {
  /// Why a save waits although nothing failed.
  public enum Deferral: String, Sendable, Hashable, Codable {
    /// The device has been locked since the launch, and the user has changed nothing: there is nothing to write.
    case locked
    /// The state was deleted by a force quit, or with its scene: nothing is saved until something is restored again.
    case discarded
  }

  /// The state is on disk; the receipt says how.
  case preserved(PreservationReceipt)
  /// Nothing has changed since the last save: nothing was written.
  ///
  /// The receipt is the last one, with what this save found. Before the first one of a run there is none, unless something
  /// was found.
  case unchanged(PreservationReceipt?)
  /// The delegate said no to saving.
  case declined
  /// The save waits, and what is on disk stays as it is.
  case deferred(Deferral)

  /// The receipt of the save that holds the state now; nil when there is none.
  public var receipt: PreservationReceipt? {
    switch self {
    case .preserved(let receipt): receipt
    case .unchanged(let receipt): receipt
    case .declined, .deferred: nil
    }
  }
}

extension PreservationOutcome: CustomStringConvertible {
  /// One readable line, or the receipt.
  public var description: String {
    switch self {
    case .preserved(let receipt): receipt.description
    case .unchanged(let receipt):
      (["Preservation: nothing has changed" + (receipt.map { " since generation \($0.generation)" } ?? "")]
        + (receipt?.findings ?? []).map { "! \($0)" }).joined(separator: "\n")
    case .declined: "Preservation: declined by the delegate"
    case .deferred(.locked): "Preservation: locked, and nothing was touched in this run"
    case .deferred(.discarded): "Preservation: discarded by the user"
    }
  }
}
