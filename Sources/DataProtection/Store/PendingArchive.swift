package import FoundationShim

/// The nodes that one run has saved while the device was locked, opened.
package struct PendingArchive: Sendable {
  /// Its number, among the generations'.
  package let generation: Generation
  /// Whether this run has saved it.
  package let isOwn: Bool
  /// The content, checked to the last byte.
  package let content: Data
}

/// Everything that was saved while locked and is in no generation yet.
package struct PendingArchives: Sendable {
  /// The readable ones, oldest first.
  package var archives: [PendingArchive] = []
  /// Why the rest can't be.
  package var problems: [Generation: ProtectionError] = [:]
}
