internal import RestorationArchive

/// What the coordinator remembers of one live object between two captures.
@MainActor final class TrackedNode {
  // What a capture looks at stands first, so that it comes into the cache together.

  /// The object, which parents own and the coordinator doesn't; nil once it died.
  weak let object: (any RestorableObject)?
  let subject: TrackedClass
  let key: CaptureBatch.Key
  var identifier: RestorationIdentifier
  var kind: NodeReport.Kind
  /// Whether the object was asked and had more to say than its identifier, its tag and its one value.
  var isSpecial = false
  /// Whether a change since the last capture is known.
  var isDirty = false
  /// Whether the node has left the tree.
  var isRemoved = false
  /// Whether another owner of the identifier was first, so that this one's earlier state is kept.
  var isShadowed = false
  /// Whether the binding's flag is up or goes up at once: from the beginning, and whenever the list of changes says so.
  var isFlagUp = true
  /// Whether the stored state could not be read and is kept until the object has newer state.
  ///
  /// What says more about that state means nothing while this is false: `isStranger`, `isBorrower`, `isLeftOut`, `staysLeftOut`,
  /// `fingerprintWhenRefused`.
  var keepsStored = false
  /// Whether that state is of another class or model than the object, and what is below it, too.
  var isStranger = false
  /// Whether the stored state is another object's that was in the same place, and stays there when this one moves.
  var isBorrower = false
  /// Whether it has given back its place since it was last recorded: what lies in its next one is somebody else's too.
  var hasBorrowed = false
  /// Whether it has given back its place and was not put into another yet.
  var needsPlace = false
  /// Whether restoring died at the stored state, which is kept and offered again.
  var isLeftOut = false
  /// Whether restoring has died at it again after something newer below it had ended that: what is newer below ends it no more.
  var staysLeftOut = false
  /// The capture in which what was stored here and below was kept for another class or model; nil while it was not.
  var setAsideCapture: Int?
  /// Whether a reference brought it in, and nothing else.
  var isByHand: Bool
  /// Whether a child has a role.
  var hasRoles = false
  /// Whether the object is asked at every capture of everything.
  var isPolled = false
  /// Whether the object called itself by the identifier when it was last asked.
  var hasItsName = false
  /// The capture in which the object was last asked.
  var lastRead = 0
  /// The object's role in its container.
  var role: RestorationRole? { didSet { hasRole = role != nil } }
  private var hasRole = false
  private var isParent = false
  private var isReferrer = false
  /// The parent's key, to compare; -1 for none.
  private(set) var parentKey: CaptureBatch.Key = -1
  /// Live children in order: controllers, then views.
  var children: [TrackedNode] = [] { didSet { isParent = !children.isEmpty } }
  /// Objects that this one's references brought in.
  var byHand: [TrackedNode] = [] { didSet { isReferrer = !byHand.isEmpty } }
  unowned var parent: TrackedNode? { didSet { parentKey = parent?.key ?? -1 } }
  /// The node that the object was restored from; nil for another's.
  var origin: NodeID?
  let objectIdentity: ObjectIdentifier
  /// The object under the engine's eyes.
  let binding: ObjectBinding
  /// What the object had when its stored state was kept; it has newer state once that differs, or if nobody looked.
  var fingerprintWhenRefused: [UInt8]?

  init(
    key: CaptureBatch.Key, object: any RestorableObject, binding: ObjectBinding, subject: TrackedClass,
    identifier: RestorationIdentifier, kind: NodeReport.Kind, isByHand: Bool
  ) {
    self.object = object
    self.subject = subject
    self.key = key
    self.identifier = identifier
    self.kind = kind
    self.isByHand = isByHand
    self.binding = binding
    objectIdentity = ObjectIdentifier(object)
  }

  /// Whether the node and what is known of its object are such that only its value may have to be recorded.
  var isPlain: Bool {
    !isRemoved && !isSpecial && !isShadowed && !keepsStored && !isByHand && !hasRole && !isParent && !isReferrer
  }

  /// Whether what restoring died at waits until something newer is there, or below.
  var waitsForNewer: Bool { isLeftOut && keepsStored && !staysLeftOut }

  /// The object, when it is a controller.
  var controller: (any RestorableController)? { object as? any RestorableController }

  /// This node and those above it.
  private var chain: some Sequence<TrackedNode> { sequence(first: self) { $0.parent } }

  /// Where the object is now.
  var path: RestorationPath {
    var components = chain.map(\.identifier)
    if kind == .shared { components.append(ReservedNode.shared) }
    return RestorationPath(components.reversed())
  }

  /// Where the object is now; nil once it has left the hierarchy.
  var currentPath: RestorationPath? { isRemoved ? nil : path }

  /// This node and those above it, up to another one that is not among them.
  func ancestry(below top: TrackedNode) -> [TrackedNode] {
    Array(chain.prefix { $0 !== top })
  }

  /// Whether this node is the other one or below it.
  func isInside(_ other: TrackedNode) -> Bool {
    chain.contains { $0 === other }
  }
}
