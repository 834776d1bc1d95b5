import FoundationShim

/// Where a list stood: selected elements and the first visible one, by model identifier where there is one.
struct ListPosition: Codable, Equatable, Sendable {
  /// One element: who it is and where it stood.
  struct Element: Codable, Equatable, Sendable {
    var identifier: ModelIdentifier?
    var section: Int
    var item: Int
  }

  /// How many neighbours of the anchor are kept on each side.
  ///
  /// Enough for a screenful to be deleted; a thousand nodes of lists stay small.
  static let neighboursOnEachSide = 32

  var selected: [Element] = []
  /// The first visible element.
  var anchor: Element?
  /// How far the anchor is scrolled beyond the edge, in the toolkit's units.
  var offset = 0.0
  /// The elements around the anchor, nearest first, the one after before the one before.
  var neighbours: [ModelIdentifier] = []

  /// Describes the present position of a list.
  @MainActor init(
    selection: [IndexPath], firstVisible: IndexPath?, offset: Double, counts: [Int],
    association: (any DataSourceModelAssociation)?
  ) {
    let element = { (path: IndexPath) -> Element? in
      guard path.count == 2 else { return nil }
      return Element(identifier: association?.modelIdentifier(forElementAt: path), section: path[0], item: path[1])
    }
    selected = selection.compactMap(element)
    self.offset = offset
    anchor = firstVisible.flatMap(element)
    if let association, let anchor, anchor.identifier != nil, counts.indices.contains(anchor.section) {
      neighbours = Self.neighbours(of: anchor, counts: counts, association: association)
    }
  }

  @MainActor private static func neighbours(
    of anchor: Element, counts: [Int], association: any DataSourceModelAssociation
  ) -> [ModelIdentifier] {
    let ordinal = counts.prefix(anchor.section).reduce(0, +) + anchor.item
    return (1...neighboursOnEachSide).flatMap { [ordinal + $0, ordinal - $0] }.compactMap {
      IndexPath.element(at: $0, in: counts).flatMap(association.modelIdentifier)
    }
  }

  /// Where the selected elements are now; those that are gone are left out.
  @MainActor func resolvedSelection(counts: [Int], association: (any DataSourceModelAssociation)?) -> [IndexPath] {
    var kept: Set<IndexPath> = []
    let paths = selected.compactMap { Self.resolve($0, counts: counts, association: association) }
    return paths.filter { kept.insert($0).inserted }
  }

  /// Where the first visible element is now, or its nearest surviving neighbour, or else the nearest row.
  ///
  /// - Returns: The index path, and the offset, which holds for the very element only.
  @MainActor func resolvedAnchor(
    counts: [Int], association: (any DataSourceModelAssociation)?
  ) -> (path: IndexPath?, offset: Double) {
    guard let anchor else { return (nil, 0) }
    if let path = Self.resolve(anchor, counts: counts, association: association) {
      return (path, anchor.identifier == nil && path != IndexPath(indexes: [anchor.section, anchor.item]) ? 0 : offset)
    }
    for neighbour in neighbours {
      let path = association?.indexPath(forElementWithModelIdentifier: neighbour)
      if let path, path.isElement(in: counts) { return (path, 0) }
    }
    return (IndexPath.clamped(section: anchor.section, item: anchor.item, to: counts), 0)
  }

  @MainActor private static func resolve(
    _ element: Element, counts: [Int], association: (any DataSourceModelAssociation)?
  ) -> IndexPath? {
    if let association, let identifier = element.identifier {
      let path = association.indexPath(forElementWithModelIdentifier: identifier)
      return path.flatMap { $0.isElement(in: counts) ? $0 : nil }
    }
    return IndexPath.clamped(section: element.section, item: element.item, to: counts)
  }
}

extension IndexPath {
  /// Whether there is an element at this path in a list with so many elements in each section.
  func isElement(in counts: [Int]) -> Bool {
    count == 2 && counts.indices.contains(self[0]) && (0..<counts[self[0]]).contains(self[1])
  }

  /// The nearest element to a section and an item; nil if the list is empty.
  static func clamped(section: Int, item: Int, to counts: [Int]) -> IndexPath? {
    let exact = IndexPath(indexes: [section, item])
    if exact.isElement(in: counts) { return exact }
    let items = counts.indices.contains(section) ? counts[section] : 0
    let ordinal = counts.prefix(Swift.max(section, 0)).reduce(0, +) + Swift.max(Swift.min(item, items - 1), 0)
    return element(at: Swift.min(ordinal, counts.reduce(0, +) - 1), in: counts)
  }

  /// The element at a place in the order of all elements; nil if there is none.
  static func element(at ordinal: Int, in counts: [Int]) -> IndexPath? {
    var item = ordinal
    for (section, count) in counts.enumerated() where item >= 0 {
      if item < count { return IndexPath(indexes: [section, item]) }
      item -= count
    }
    return nil
  }
}
