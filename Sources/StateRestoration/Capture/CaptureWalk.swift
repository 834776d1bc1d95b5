internal import RestorationArchive

/// One walk through the hierarchy: its finds, and its open tasks.
@MainActor struct CaptureWalk {
  /// What coder methods may ask for.
  let context: RestorationArchive.Context
  /// The number of the capture.
  let number: Int
  /// The objects with this key or a higher one have come with it.
  let firstNewKey: CaptureBatch.Key
  /// The capture, handed over at the end.
  var batch = CaptureBatch()
  /// The trees of other windows.
  var others: [LiveTree] = []
  /// The classes whose instances were met.
  var openClasses: [LiveClass] = []
  /// Nodes that may have left the hierarchy.
  var orphans: [LiveNode] = []
  /// Those that have: a reference may lead to their objects, or they are registered as shared.
  var left: [ObjectIdentifier: LiveNode] = [:]
  /// Parents that children have left, whose lists still have them.
  var parentsThatLostChildren: [CaptureBatch.Key: LiveNode] = [:]
  /// Records whose references lead to objects that may not have been met.
  var unresolved: [Referrer] = []
  /// Records to which the places of the objects that they refer to are added at the end.
  var resolved: [Referrer] = []
  /// Whether an object that was known before has another place now.
  var hasPlacedAgain = false
  /// Siblings that have the identifiers of others; named at the end, when those above them have their names.
  var duplicates: [Duplicate] = []
  /// Nodes whose objects have moved to where another one has their place.
  var displaced: Set<CaptureBatch.Key> = []
  /// Whether nodes have come, moved or left, so that references to them lead elsewhere.
  var hasMoved = false
  /// Objects whose parents were asked again, as they call themselves something else.
  var relinked: Set<CaptureBatch.Key> = []
  /// Objects below one that came anew: what was below them stays below the row that it left.
  var leftWhole: Set<CaptureBatch.Key> = []
  /// Objects whose rows stay below that of one that came anew, unless they are met below another one.
  var stayedBehind: [ObjectIdentifier: LiveNode] = [:]
  /// Objects that have moved away from below one that came anew and have brought their rows, by their former keys and by those that
  /// they have: an object that was below them, and that no other one lists, has left.
  var movedAway: Set<CaptureBatch.Key> = []
  /// The nodes that were removed, which those that were below them still name as their parents.
  var removed: [LiveNode] = []
  /// The keys that objects have which came by themselves, as those above them did, by the keys that they had.
  var successors: [CaptureBatch.Key: CaptureBatch.Key] = [:]
  /// The keys that objects had before they came anew in this walk, and those of the parents below which they did, by their keys.
  var cameAnew: [CaptureBatch.Key: (former: CaptureBatch.Key, parent: CaptureBatch.Key?)] = [:]
  /// What objects that have left were given: a record, or the row that was found for them.
  var leftGiven: [NodeID] = []
  /// Objects that name models which they did not name before.
  var named: [LiveNode] = []
  /// Where the node stood in its list that another one has replaced last.
  var lastReplaced = 0
}

/// A sibling that has the identifier of another one.
@MainActor struct Duplicate {
  let parent: LiveNode?
  let identifier: RestorationIdentifier
  let kept: String
  let refused: String

  var finding: PreservationOutcome.Finding {
    .duplicateIdentifier(path: (parent?.path ?? []).appending(identifier), kept: kept, refused: refused)
  }
}

/// A record that was captured, and the references in it.
struct Referrer {
  let node: LiveNode
  let record: Int
  let references: [CapturedReference]
}
