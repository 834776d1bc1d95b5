public import FoundationEssentials

/// A generation that was saved while the device was locked, opened after the unlock.
public final class PendingArchive: Sendable {
  /// What a pending generation holds.
  public enum Kind: Hashable, Sendable {
    /// The whole state: it can take the base's place as it is.
    case whole
    /// The touched nodes only: it is merged into the base, and the result is published.
    case touchedNodes
  }

  /// The number of the pending generation.
  public let generation: Generation
  /// What it holds.
  public let kind: Kind
  /// The archive schema its writer gave.
  public let schema: UInt32
  /// The generation it was made on top of; `nil` when there was none.
  public let base: Generation?
  /// Whether it still belongs on top of what is current.
  ///
  /// For a whole state: its base, frames included, is what is current, or an older pending one that is to be taken
  /// over first; damage to what it includes changes nothing. For touched nodes, whose run could not read the base: no newer generation was published since.
  /// When not, both are kept for the caller to judge.
  public let isBaseUnchanged: Bool
  /// Whether this run has saved it itself.
  public let isOwn: Bool
  /// A number that tells it from others that are pending: the beginning of its commitment, never 0.
  public var mark: UInt32 { max(1, commitment.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }) }
  /// The content, opened whole and checked.
  public let content: Data
  let commitment: Data

  init(
    generation: Generation, kind: Kind, schema: UInt32, base: Generation?, isBaseUnchanged: Bool,
    isOwn: Bool, content: Data, commitment: Data
  ) {
    self.generation = generation
    self.kind = kind
    self.schema = schema
    self.base = base
    self.isBaseUnchanged = isBaseUnchanged
    self.isOwn = isOwn
    self.content = content
    self.commitment = commitment
  }
}

/// Everything that was saved while locked and is in no generation yet.
public struct PendingArchives: Sendable {
  /// What can be read, oldest first; later ones are newer edits.
  public var archives: [PendingArchive]
  /// Why others can't: they are gone, damaged or were put back.
  ///
  /// They stay where they are.
  public var problems: [ProtectionError]
}
