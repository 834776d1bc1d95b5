internal import RestorationArchive

/// The children that a parent had before restoring, found by identifier in about constant time each.
@MainActor struct ChildTable {
  private let children: [any RestorableController]
  private var next = 0
  private var table: [RestorationIdentifier: any RestorableController]?

  /// Takes the children as they are.
  init(_ children: [any RestorableController]) {
    self.children = children
  }

  /// The first child with an identifier.
  ///
  /// They are mostly asked for in the order in which they stand, so the one after the last that was found is tried
  /// first; only when one is missing or out of order are all of them put in a table. Each identifier that is passed
  /// was asked for by itself, so none stands twice before the one that is found.
  mutating func child(_ identifier: RestorationIdentifier) -> (any RestorableController)? {
    if table == nil, next < children.count, children[next].restorationIdentifier == identifier {
      next += 1
      return children[next - 1]
    }
    if table == nil {
      table = Dictionary(
        children.compactMap { child in child.restorationIdentifier.map { ($0, child) } },
        uniquingKeysWith: { first, _ in first })
    }
    return table?[identifier]
  }
}
