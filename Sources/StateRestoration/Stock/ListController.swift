public import FoundationShim
public import Observation

/// A list whose selection and scrolling come back with their elements, wherever these have moved.
///
/// The list holds no elements: it knows how many there are in each section, which are selected and which is the first
/// visible. With an ``association`` these are preserved by model identifier; without one, as index paths.
///
/// The data may arrive long after restoring: until ``dataSourceDidLoad(elementCounts:)`` says that it has, the restored
/// position waits, and saves in between keep it.
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

  /// Whether a restored position waits for the data.
  public var isAwaitingData: Bool { awaited != nil }

  /// The restored position, until the data is there.
  private var awaited: ListPosition?
  /// Where the list stands, noted before a change of the data that has not come yet.
  private var noted: ListPosition?
  private var isLoaded = false

  /// Makes an empty list.
  ///
  /// - Parameters:
  ///   - restorationIdentifier: The name among its siblings; nil excludes it.
  ///   - restorationClass: The registered class that remakes it; nil if it exists at launch.
  ///   - association: Tells which element stands where; held weakly.
  public init(
    restorationIdentifier: RestorationIdentifier?, restorationClass: RestorationClass? = nil,
    association: (any DataSourceModelAssociation)? = nil
  ) {
    self.association = association
    hasAssociation = association != nil
    super.init(restorationIdentifier: restorationIdentifier, restorationClass: restorationClass)
  }

  /// Preserves the position; one that still waits for its data is kept as it is.
  override open func encodeRestorableState(with coder: RestorationEncoder) {
    super.encodeRestorableState(with: coder)
    coder.encode(awaited ?? noted ?? position, forKey: "list.position")
  }

  /// Takes the position, to be resolved when the data is there.
  override open func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    try super.decodeRestorableState(with: coder)
    awaited = try coder.decodeIfPresent(ListPosition.self, forKey: "list.position")
  }

  /// Resolves the position if the data has been loaded already; again when an announced change of the data has come.
  override open func applicationFinishedRestoringState() {
    super.applicationFinishedRestoringState()
    guard isLoaded, let restored = awaited else { return }
    let isChanging = noted != nil
    resolve()
    if isChanging { noted = restored }
  }
}

extension ListController {
  /// Tells the list that its data is there, or has changed: elements are looked up, and the position follows them.
  ///
  /// Call ``dataSourceWillChange()`` before a change, so that the list can note the places of its elements.
  ///
  /// - Parameter elementCounts: How many elements there are now in each section.
  public func dataSourceDidLoad(elementCounts: [Int]) {
    self.elementCounts = elementCounts.map { max($0, 0) }
    isLoaded = true
    resolve()
  }

  /// Notes which elements are selected and visible, for the change that follows.
  ///
  /// The change may take its time, or never come: until then the list is as it was, and follows the user.
  public func dataSourceWillChange() {
    if noted == nil { noted = position }
  }

  /// Selects exactly these elements; index paths where no element is are left out.
  ///
  /// If there are elements, this ends the waiting of a restored position.
  public func select(_ paths: [IndexPath]) {
    var kept: Set<IndexPath> = []
    selection = paths.filter { $0.isElement(in: elementCounts) && kept.insert($0).inserted }
    positionDidChange()
  }

  /// Notes where the list is scrolled to; this ends the waiting of a restored position.
  ///
  /// - Parameters:
  ///   - path: The first visible element; ignored if there is none.
  ///   - offset: How far it is scrolled beyond the edge, in units of the toolkit.
  public func scroll(to path: IndexPath, offset: Double = 0) {
    guard path.isElement(in: elementCounts) else { return }
    firstVisible = path
    anchorOffset = offset
    positionDidChange()
  }

  /// The user's action counts, before any restored or noted position.
  private func positionDidChange() {
    guard elementCounts.contains(where: { $0 > 0 }) else { return }
    awaited = nil
    if noted != nil { noted = position }
  }

  private var position: ListPosition {
    ListPosition(
      selection: selection, firstVisible: firstVisible, offset: anchorOffset, counts: elementCounts,
      association: association)
  }

  private func resolve() {
    defer { (awaited, noted) = (nil, nil) }
    guard let position = awaited ?? noted else {
      // Nothing waits: the positions must still be those of elements.
      selection = selection.filter { $0.isElement(in: elementCounts) }
      if let path = firstVisible, !path.isElement(in: elementCounts) {
        firstVisible = IndexPath.clamped(section: path[0], item: path[1], to: elementCounts)
        anchorOffset = 0
      }
      return
    }
    selection = position.resolvedSelection(counts: elementCounts, association: association)
    (firstVisible, anchorOffset) = position.resolvedAnchor(counts: elementCounts, association: association)
  }
}
