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

  /// A list that nobody has touched.
  init() {}

  /// Is scrolled as another position is.
  mutating func takeAnchor(of other: ListPosition) {
    (anchor, offset, neighbours) = (other.anchor, other.offset, other.neighbours)
  }

  /// Describes what is selected in a list.
  @MainActor init(selection: [IndexPath], in elements: ListElements) {
    selected = selection.map(elements.element)
  }

  /// Describes how a list is scrolled.
  @MainActor init(firstVisible: IndexPath?, offset: Double, in elements: ListElements) {
    self.offset = offset
    anchor = firstVisible.map(elements.element)
    if let anchor, anchor.identifier != nil, elements.counts.indices.contains(anchor.section) {
      neighbours = Self.neighbours(of: anchor, in: elements)
    }
  }

  /// Whether it knows some element by its row only.
  var isAnonymous: Bool { selected.contains { $0.identifier == nil } || anchor.map { $0.identifier == nil } ?? false }

  @MainActor private static func neighbours(of anchor: Element, in elements: ListElements) -> [ModelIdentifier] {
    var after: IndexPath? = IndexPath(indexes: [anchor.section, anchor.item])
    var before = after
    return (1...neighboursOnEachSide).flatMap { _ in
      after = after?.elementAfter(in: elements.counts)
      before = before?.elementBefore(in: elements.counts)
      return [after, before].compactMap { $0.flatMap(elements.identifier) }
    }
  }

  /// Where the selected elements are now, each once; those that are gone are left out.
  @MainActor func resolvedSelection(in elements: ListElements) -> [IndexPath] {
    var kept: Set<IndexPath> = []
    return selected.compactMap { elements.path(of: $0) }.filter { kept.insert($0).inserted }
  }

  /// Whether every selected element is there.
  @MainActor func hasWholeSelection(in elements: ListElements) -> Bool {
    selected.allSatisfy { elements.path(of: $0) != nil }
  }

  /// Whether the first visible element is there; also when there was none.
  @MainActor func hasAnchor(in elements: ListElements) -> Bool { anchor.map { elements.path(of: $0) != nil } ?? true }

  /// Where the first visible element is now, or its nearest surviving neighbour, or else the nearest row.
  ///
  /// - Returns: The index path, and the offset, which holds for the very element only.
  @MainActor func resolvedAnchor(in elements: ListElements) -> (path: IndexPath?, offset: Double) {
    guard let anchor else { return (nil, 0) }
    if let path = elements.path(of: anchor) {
      return (path, anchor.identifier == nil && path != IndexPath(indexes: [anchor.section, anchor.item]) ? 0 : offset)
    }
    for neighbour in neighbours {
      if let path = elements.path(of: neighbour) { return (path, 0) }
    }
    return (IndexPath.clamped(section: anchor.section, item: anchor.item, to: elements.counts), 0)
  }
}

/// The elements of a list that are there, as its association knows them.
@MainActor struct ListElements {
  /// The list.
  let list: ListController
  /// How many elements there are in each section.
  let counts: [Int]
  /// Whether there will be no more: what is not there is gone.
  var isComplete = true

  /// The element at an index path of two indexes.
  func element(at path: IndexPath) -> ListPosition.Element {
    ListPosition.Element(identifier: identifier(at: path), section: path[0], item: path[1])
  }

  /// Who stands at an index path; nil without an association.
  func identifier(at path: IndexPath) -> ModelIdentifier? {
    list.association?.modelIdentifier(forElementAt: path, in: list)
  }

  /// Where an element stands; nil if it is not there.
  func path(of identifier: ModelIdentifier) -> IndexPath? {
    list.association?.indexPath(forElementWithModelIdentifier: identifier, in: list)
      .flatMap { $0.isElement(in: counts) ? $0 : nil }
  }

  /// Where an element stands; one that nobody can identify by its row, or the nearest row if there will be no more.
  func path(of element: ListPosition.Element) -> IndexPath? {
    if list.association != nil, let identifier = element.identifier {
      // Most stand where they stood, and looking there is quick, however many there are.
      let former = IndexPath(indexes: [element.section, element.item])
      if former.isElement(in: counts), self.identifier(at: former) == identifier { return former }
      return path(of: identifier)
    }
    guard isComplete else {
      let path = IndexPath(indexes: [element.section, element.item])
      return path.isElement(in: counts) ? path : nil
    }
    return IndexPath.clamped(section: element.section, item: element.item, to: counts)
  }
}

extension IndexPath {
  /// Whether there is an element at this path in a list with so many elements in each section.
  func isElement(in counts: [Int]) -> Bool {
    count == 2 && counts.indices.contains(self[0]) && (0..<counts[self[0]]).contains(self[1])
  }

  /// The next element; nil after the last one.
  func elementAfter(in counts: [Int]) -> IndexPath? {
    if self[1] + 1 < counts[self[0]] { return IndexPath(indexes: [self[0], self[1] + 1]) }
    return counts.indices.dropFirst(self[0] + 1).first { counts[$0] > 0 }.map { IndexPath(indexes: [$0, 0]) }
  }

  /// The element before; nil before the first one.
  func elementBefore(in counts: [Int]) -> IndexPath? {
    if self[1] > 0 { return IndexPath(indexes: [self[0], self[1] - 1]) }
    return counts.indices.prefix(self[0]).last { counts[$0] > 0 }.map { IndexPath(indexes: [$0, counts[$0] - 1]) }
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
