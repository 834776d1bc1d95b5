public import FoundationShim
public import Observation

/// A list whose selection and scrolling come back with their elements, wherever these have moved.
///
/// The list holds no elements: it knows how many there are in each section, which are selected and which is the first
/// visible. With an ``association`` these are preserved by model identifier; without one, as index paths.
///
/// The data may arrive long after restoring, and in pages: an element that ``dataSourceDidLoad(elementCounts:isComplete:)``
/// has not brought yet is waited for, and saves in between keep it.
@Observable @MainActor open class ListController: ContainerController {
  /// Tells which element stands where; not kept alive by the list.
  @ObservationIgnored public weak var association: (any DataSourceModelAssociation)? {
    didSet { hasAssociation = association != nil }
  }

  /// Whether there was an association that nobody has taken away.
  @ObservationIgnored private var hasAssociation = false
  /// Whether the association has died: the program has not held it.
  var hasLostAssociation: Bool { hasAssociation && association == nil }

  /// How many elements there are in each section, as the data source said last.
  public private(set) var elementCounts: [Int] = []

  /// The selected elements, in the order of selecting; each index path is one of an element.
  public private(set) var selection: [IndexPath] = []

  /// The first visible element: the anchor of the scroll position.
  ///
  /// Nil when the list is empty or was never shown.
  public private(set) var firstVisible: IndexPath?

  /// How far the anchor is scrolled beyond the edge, in units of the toolkit.
  public private(set) var anchorOffset = 0.0

  /// Whether a selected element or the scroll position waits for data: while it does, load the next page.
  public var isAwaitingData: Bool { awaited != nil }

  /// A position whose elements are not all there yet.
  private struct Awaited {
    var position: ListPosition
    /// Whether selected elements are waited for; else the user has selected others, or all are there.
    var hasSelection = true
    /// Whether the first visible element is waited for; else the user has scrolled elsewhere, or it is there.
    var hasAnchor = true
  }

  /// The restored position, until the data is there.
  private var awaited: Awaited?
  /// Where the list stands, by the elements that stood there when the user or the data came there.
  ///
  /// When it is wanted the data source may have changed: then nobody knows any more who stood in a row.
  private var known = ListPosition()
  private var isLoaded = false
  /// Whether the data source has said that more pages will come.
  private var isComplete = true

  /// Makes an empty list.
  ///
  /// - Parameters:
  ///   - restoration: What it is called among its siblings, and which class remakes it.
  ///   - association: Tells which element stands where; held weakly.
  public init(
    _ restoration: RestorationIdentity,
    association: (any DataSourceModelAssociation)? = nil
  ) {
    self.association = association
    hasAssociation = association != nil
    super.init(restoration)
  }

  /// Preserves the position; one that still waits for its data is kept as it is.
  override open func encodeRestorableState(with coder: RestorationEncoder) {
    super.encodeRestorableState(with: coder)
    coder.encode(preservedPosition, forKey: "list.position")
  }

  /// Takes the position, to be resolved when the data is there.
  override open func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    try super.decodeRestorableState(with: coder)
    awaited = try coder.decodeIfPresent(ListPosition.self, forKey: "list.position").map { Awaited(position: $0) }
  }

  /// Resolves the position if the data has been loaded already; once more with the next data, which may have what is missing.
  override open func applicationFinishedRestoringState() {
    super.applicationFinishedRestoringState()
    guard isLoaded, let restored = awaited?.position else { return }
    resolve()
    if awaited == nil { known = restored }
  }
}

extension ListController {
  /// Tells the list that its data is there, or has changed: elements are looked up, and the position follows them.
  ///
  /// Until then the list is as it was, and follows the user: a change may take its time, or never come.
  ///
  /// - Parameters:
  ///   - elementCounts: How many elements there are now in each section.
  ///   - isComplete: False while more pages will come: what is not there yet is waited for. With true it is gone.
  public func dataSourceDidLoad(elementCounts: [Int], isComplete: Bool = true) {
    self.elementCounts = elementCounts.map { max($0, 0) }
    self.isComplete = isComplete
    isLoaded = true
    resolve()
  }

  /// Selects exactly these elements; index paths where no element is are left out.
  ///
  /// If there are elements, restored ones that have not come yet are waited for no longer.
  public func select(_ paths: [IndexPath]) {
    var kept: Set<IndexPath> = []
    selection = paths.filter { $0.isElement(in: elementCounts) && kept.insert($0).inserted }
    guard hasElements else { return }
    wait(selection: false, anchor: awaited.map { $0.hasAnchor && $0.position.anchor != nil } ?? false)
    known.selected = ListPosition(selection: selection, in: elements).selected
  }

  /// Notes where the user has scrolled the list to; a restored place that has not come yet is waited for no longer.
  ///
  /// - Parameters:
  ///   - path: The first visible element; ignored if there is none.
  ///   - offset: How far it is scrolled beyond the edge, in units of the toolkit.
  public func scroll(to path: IndexPath, offset: Double = 0) {
    guard path.isElement(in: elementCounts) else { return }
    firstVisible = path
    anchorOffset = offset
    wait(selection: awaited?.hasSelection ?? false, anchor: false)
    known.takeAnchor(of: ListPosition(firstVisible: path, offset: offset, in: elements))
  }

  /// Waits on for the selection, for the anchor, for both or for nothing.
  private func wait(selection: Bool, anchor: Bool) {
    awaited?.hasSelection = selection
    awaited?.hasAnchor = anchor
    if !selection, !anchor { awaited = nil }
  }

  private var hasElements: Bool { elementCounts.contains { $0 > 0 } }

  private var elements: ListElements { ListElements(list: self, counts: elementCounts, isComplete: isComplete) }

  /// The position as the data source knows it now.
  private var position: ListPosition {
    var position = ListPosition(firstVisible: firstVisible, offset: anchorOffset, in: elements)
    position.selected = ListPosition(selection: selection, in: elements).selected
    return position
  }

  private var preservedPosition: ListPosition {
    // An association that has come since may know who stands there.
    withWhatIsAwaited(association != nil && known.isAnonymous ? position : known)
  }

  /// A position with what is waited for, which has not changed.
  private func withWhatIsAwaited(_ position: ListPosition) -> ListPosition {
    var position = position
    if let awaited, awaited.hasSelection { position.selected = awaited.position.selected }
    if let awaited, awaited.hasAnchor { position.takeAnchor(of: awaited.position) }
    return position
  }

  /// Looks up where the elements are; what is missing is waited for, if more pages will come.
  private func resolve() {
    let elements = elements
    let wanted = withWhatIsAwaited(known)
    let next = Awaited(
      position: wanted, hasSelection: !isComplete && !wanted.hasWholeSelection(in: elements),
      hasAnchor: !isComplete && !wanted.hasAnchor(in: elements))
    selection = wanted.resolvedSelection(in: elements)
    // What is seen stays until the anchor comes, and does not jump from neighbour to neighbour.
    if next.hasAnchor { clampAnchor() } else { (firstVisible, anchorOffset) = wanted.resolvedAnchor(in: elements) }
    awaited = next
    wait(selection: next.hasSelection, anchor: next.hasAnchor)
    known = position
  }

  /// Keeps the first visible element among those that there are.
  private func clampAnchor() {
    guard let path = firstVisible, !path.isElement(in: elementCounts) else { return }
    firstVisible = IndexPath.clamped(section: path[0], item: path[1], to: elementCounts)
    anchorOffset = 0
  }
}
