package import FoundationShim

/// The nodes that one run has saved while the device was locked, opened.
package struct PendingArchive: Sendable {
  /// Its number, among the generations'.
  package let generation: Generation
  /// Whether this run has saved it.
  package let isOwn: Bool
  /// The content, checked to the last byte.
  package let content: Data
  /// Whether the run that has saved it could read the rest of the state.
  package var isBeside = false
}

/// Everything that was saved while locked and is in no generation yet.
package struct PendingArchives: Sendable {
  /// The readable ones, oldest first.
  package var archives: [PendingArchive] = []
  /// Why the rest can't be.
  package var problems: [Generation: ProtectionError] = [:]
  /// Those beside states that are readable without them, which have to wait for an unlock; oldest first.
  package var waiting: [Generation] = []

  /// Begins with readable ones.
  package init(archives: [PendingArchive] = []) { self.archives = archives }
}
