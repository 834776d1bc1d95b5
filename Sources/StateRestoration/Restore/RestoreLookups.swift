/// What one pass over the nodes looks up again and again.
@MainActor struct RestoreLookups {
  /// The children that existed before, of parents that have many; by the parent's index, as soon as there is one.
  private var childTables: [ChildTable<any RestorableController>?] = []
  /// The views of owners, until their containers get children, which may bring views.
  var viewTables: [Int: ChildTable<any RestorableView>] = [:]
  /// For parents, the place after the child that was last found to be installed; empty before the first.
  private var nextInstalled: [Int] = []
  /// The places of the controllers that were met, once one of them was made or looked for.
  var takenPlaces: [ObjectIdentifier: Int] = [:]
  /// Whether the delegate makes controllers, as far as is known.
  var asksDelegate = true
  /// The plan of the class whose instance was decoded last.
  var lastClassPlan: ClassPlan?
  /// How many instances of each class were looked at for fields that the class does not know.
  var probedCounts: [ObjectIdentifier: Int] = [:]
  /// The class whose instances were looked at as often as they are.
  var probedClass: ObjectIdentifier?
  /// The decoder of what no code of the program sees: one for all nodes.
  var unseenDecoder: RestorationDecoder?

  /// The children that existed before of a parent; nil until they are added.
  func childTable(of parent: Int) -> ChildTable<any RestorableController>? {
    parent < childTables.count ? childTables[parent] : nil
  }

  /// Adds the children that existed before of a parent.
  mutating func add(_ table: ChildTable<any RestorableController>, of parent: Int, among count: Int) {
    if childTables.isEmpty { childTables = Array(repeating: nil, count: count) }
    childTables[parent] = table
  }

  /// For a parent, the place after the child that was last found to be installed; 0 before the first.
  func nextInstalled(of parent: Int) -> Int { parent < nextInstalled.count ? nextInstalled[parent] : 0 }

  /// Notes the place after the child of a parent that was found to be installed.
  mutating func setNextInstalled(_ next: Int, of parent: Int, among count: Int) {
    if nextInstalled.isEmpty { nextInstalled = Array(repeating: 0, count: count) }
    nextInstalled[parent] = next
  }

  /// Forgets them: containers have got children since.
  mutating func forgetChildTables() { childTables = [] }
}
