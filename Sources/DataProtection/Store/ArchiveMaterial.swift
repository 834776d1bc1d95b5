/// One file of a slot and what became of reading it: for inspection and for reports.
package struct ArchiveMaterial: Hashable, Sendable {
  /// What a file is for.
  package enum Kind: Hashable, Sendable {
    /// A whole generation, with the changes appended to it.
    case generation
    /// Nodes touched while locked, in no generation yet.
    case pending
    /// A generation that is set aside.
    case setAside
    /// The slot's ledger.
    case ledger
    /// The crash marker.
    case marker
    /// A generation that no ledger names: it was being written, or is being removed.
    case unlisted
  }

  /// The file's name in the slot's directory.
  package let name: String
  /// What the file is for.
  package let kind: Kind
  /// The generation that it holds; nil for none.
  package let generation: Generation?
  /// Which part of that it is; nil for a file that is none, or of which only its name is known.
  package var place: PartPlace?
  /// The class that protects it; nil for a file that has none, or of which only its name is known.
  package var protection: ProtectionClass?
  /// Its length in bytes.
  package let byteCount: Int
  /// Whether the ledger lists it as the generation to restore.
  package let isCurrent: Bool
  /// Bytes behind its changes that are none.
  package var tailDropped = 0
  /// Why it can't be used; nil when it was read and is whole.
  package var problem: ProtectionError.Code?
}
