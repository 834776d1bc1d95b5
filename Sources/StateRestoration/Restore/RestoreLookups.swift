/// What one pass over the nodes looks up again and again.
@MainActor struct RestoreLookups {
  /// The children that existed before, of parents that have many; by the parent's index.
  var childTables: [Int: ChildTable<any RestorableController>] = [:]
  /// The views of owners, until their containers get children, which may bring views.
  var viewTables: [Int: ChildTable<any RestorableView>] = [:]
  /// For parents, the place after the child that was last found to be installed.
  var nextInstalled: [Int: Int] = [:]
  /// The places of the controllers that were met, once one of them was made or looked for.
  var takenPlaces: [ObjectIdentifier: Int] = [:]
  /// Whether the delegate makes controllers, as far as is known.
  var asksDelegate = true
  /// The plan of the class whose instance was decoded last.
  var lastClassPlan: ClassPlan?
  /// How many instances of each class were looked at for fields that the class does not know.
  var probedCounts: [ObjectIdentifier: Int] = [:]
  /// The decoder of what no code of the program sees: one for all nodes.
  var unseenDecoder: RestorationDecoder?
}
