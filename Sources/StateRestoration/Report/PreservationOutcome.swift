/// What a request to preserve came to.
///
/// Declining is not the same as having nothing to do.
@nonexhaustive public enum PreservationOutcome: Sendable, Hashable, Codable {
  /// Why a save waits although nothing failed.
  @nonexhaustive public enum Deferral: String, Sendable, Hashable, Codable {
    /// The device has been locked since the launch, and the user has changed nothing: there is nothing to write.
    case locked
    /// The state was deleted by a force quit, or with its scene: nothing is saved until something is restored again.
    case discarded
  }

  /// Why nothing is saved although nothing failed and nothing waits.
  @nonexhaustive public enum Refusal: String, Sendable, Hashable, Codable, CaseIterable {
    /// There is no delegate to say yes: the coordinator holds it weakly, so keep it.
    case noDelegate
    /// The delegate's `shouldSaveApplicationState(with:)` answered no.
    case answeredNo
    /// Nothing was restored or saved in this run, or its root has died: name the root.
    case noRoot
  }

  /// The state is on disk; the receipt says how.
  case preserved(PreservationOutcome.Receipt)
  /// Nothing has changed since the last save: nothing was written.
  ///
  /// The receipt is the last one, with what this save found. Before the first one of a run there is none, unless something
  /// was found.
  case unchanged(PreservationOutcome.Receipt?)
  /// Nothing was saved, for this reason; the stored state stays.
  case declined(Refusal)
  /// The save waits, and the stored state stays.
  case deferred(Deferral)

  /// The receipt of the save that holds the state now; nil when there is none.
  public var receipt: PreservationOutcome.Receipt? {
    switch self {
    case .preserved(let receipt): receipt
    case .unchanged(let receipt): receipt
    case .declined, .deferred: nil
    }
  }
}

extension PreservationOutcome {
  /// Whether the save was declined, for whatever reason.
  var isDeclined: Bool { if case .declined = self { true } else { false } }
}

extension PreservationOutcome: CustomStringConvertible {
  /// One readable line, or the receipt.
  public var description: String {
    switch self {
    case .preserved(let receipt): receipt.description
    case .unchanged(let receipt):
      ([unchangedText(receipt)] + (receipt?.findings ?? []).map { "! \($0)" }).joined(separator: "\n")
    case .declined(.noDelegate):
      "Preservation: declined, there is no delegate to say yes; hold it for as long as the program runs"
    case .declined(.answeredNo): "Preservation: declined, the delegate answered no in shouldSaveApplicationState"
    case .declined(.noRoot):
      "Preservation: declined, there is no root: restore into one and hold it, or name it in preserve(_:)"
    case .deferred(.locked): "Preservation: locked, and nothing was touched in this run"
    case .deferred(.discarded): "Preservation: discarded by the user"
    }
  }

  /// Never that nothing has changed when nobody has looked, because the root is excluded.
  private func unchangedText(_ receipt: PreservationOutcome.Receipt?) -> String {
    let isExcluded = receipt?.findings.contains { if case .excludedRoot = $0 { true } else { false } } ?? false
    if isExcluded { return "Preservation: nothing is preserved" }
    return "Preservation: nothing has changed" + (receipt.map { " since generation \($0.generation)" } ?? "")
  }
}
