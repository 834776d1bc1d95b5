public import Observation

/// Controllers side by side, of which one is selected.
///
/// The selection is preserved by identifier, so tabs can be added and moved between versions. Tabs that exist at
/// launch stay, unless the factory of their class makes them anew; restored ones come in the preserved order, new ones
/// after them. If the selected tab can't be restored, the selection is what it was at launch; the stored one is preserved on,
/// until that tab comes or another one is selected. Of a tab that names a class of protection the place is preserved
/// instead: its identifier may be a secret of that class.
@Observable @MainActor open class TabController: ContainerController {
  /// The tabs, first to last.
  public private(set) var tabs: [any RestorableController]

  /// The index of the selected tab; nil when there are none.
  public private(set) var selectedIndex: Int?

  /// A restored selection.
  private enum Selection {
    case tab(RestorationIdentifier)
    /// A tab that names a class of protection.
    case secret(at: Int)
  }

  /// The restored selection, until its tab is there.
  private var awaited: Selection?

  /// Makes tabs; the first is selected.
  ///
  /// - Parameters:
  ///   - restoration: What it is called among its siblings, and which class remakes it.
  ///   - tabs: The tabs, first to last.
  public init(
    _ restoration: RestorationIdentity,
    tabs: [any RestorableController] = []
  ) {
    self.tabs = tabs
    selectedIndex = tabs.isEmpty ? nil : 0
    super.init(restoration)
  }

  /// The tabs.
  override open var containedControllers: [any RestorableController] { tabs }

  /// The selected tab, and what is presented over it.
  override open var visibleControllers: [any RestorableController] {
    [selected, presentedController].compactMap { $0 }
  }

  /// The selected tab; nil when there are none.
  public var selected: (any RestorableController)? { selectedIndex.map { tabs[$0] } }

  /// Selects a tab.
  ///
  /// - Precondition: There is a tab at that index.
  open func select(_ index: Int) {
    precondition(tabs.indices.contains(index), "\(describe(self)) has \(tabs.count) tabs; there is none at \(index).")
    selectedIndex = index
    awaited = nil
  }

  /// Replaces the tabs; the selected one stays selected if it is still among them, else the first is.
  ///
  /// If the tab of a restored selection is among them only now, it is selected.
  open func setTabs(_ controllers: [any RestorableController]) {
    let former = selected
    tabs = controllers
    selectedIndex = tabs.firstIndex { $0 === former } ?? (tabs.isEmpty ? nil : 0)
    selectAwaited()
  }

  private func selectAwaited() {
    let index: Int?
    switch awaited {
    case .tab(let identifier)?: index = tabs.firstIndex { $0.restoration.identifier == identifier }
    case .secret(let place)?:
      index = tabs.indices.contains(place) && tabs[place].restoration.protection != nil ? place : nil
    case nil: return
    }
    guard let index else { return }
    selectedIndex = index
    awaited = nil
  }

  /// Preserves which tab is selected, by identifier, or by its place where that may be secret.
  override open func encodeRestorableState(with coder: RestorationEncoder) {
    super.encodeRestorableState(with: coder)
    switch awaited ?? selectedIndex.flatMap(selection(of:)) {
    case .tab(let identifier)?: coder.encode(identifier, forKey: "tabs.selected")
    case .secret(let place)?: coder.encode(place, forKey: "tabs.selectedPlace")
    case nil: break
    }
  }

  private func selection(of index: Int) -> Selection? {
    let tab = tabs[index].restoration
    return tab.protection == nil ? tab.identifier.map(Selection.tab) : .secret(at: index)
  }

  /// Selects the tab that was selected, if it is there.
  override open func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    try super.decodeRestorableState(with: coder)
    awaited = try coder.decodeIfPresent(RestorationIdentifier.self, forKey: "tabs.selected").map(Selection.tab)
    if let place = try coder.decodeIfPresent(Int.self, forKey: "tabs.selectedPlace") { awaited = .secret(at: place) }
    selectAwaited()
  }

  /// Takes the restored tabs in their order; tabs that exist and were not preserved come after them.
  ///
  /// A tab that exists keeps its preserved place also when its state was left out, so that the order stays what it was. One
  /// that was made anew takes the place of the one that exists, and is selected if that was.
  override open func install(_ children: [RestoredChild]) {
    let replacements = Replacements(of: tabs, by: children)
    let (former, wasWaiting) = (selected, awaited != nil)
    setTabs(children.arranged(with: tabs))
    // A tab that was waited for, and is there, is selected by now.
    guard wasWaiting == (awaited != nil), let former, let made = replacements[former] else { return }
    selectedIndex = tabs.firstIndex { $0 === made } ?? selectedIndex
  }
}
