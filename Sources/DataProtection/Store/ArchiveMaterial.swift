/// One file of a slot and what became of reading it: for inspection and for reports.
public struct ArchiveMaterial: Hashable, Sendable {
  /// What a file is for.
  public enum Kind: Hashable, Sendable {
    /// A whole generation.
    case generation
    /// A generation saved while locked, not yet taken over.
    case pending
    /// The journal of a generation, and its number among that generation's journals.
    case journal(Int)
    /// Damaged material kept aside.
    case setAside
    /// The crash marker.
    case marker
  }

  /// The file's name in the store's directory; it tells nothing about the slot.
  public let name: String
  /// What the file is for.
  public let kind: Kind
  /// The generation it belongs to, by its name; `nil` for what belongs to none.
  public let generation: Generation?
  /// Its length in bytes.
  public let byteCount: Int
  /// Whether the ledger lists it as the generation to restore.
  public let isCurrent: Bool
  /// Why it can't be used; `nil` when it was read and is whole.
  public internal(set) var problem: ProtectionError.Code?

  /// Puts a finding together.
  package init(
    name: String, kind: Kind, generation: Generation?, byteCount: Int, isCurrent: Bool,
    problem: ProtectionError.Code?
  ) {
    self.name = name
    self.kind = kind
    self.generation = generation
    self.byteCount = byteCount
    self.isCurrent = isCurrent
    self.problem = problem
  }
}
