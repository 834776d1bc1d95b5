internal import RestorationArchive

/// What the coordinator remembers of one live object between two captures.
@MainActor final class TrackedNode {
  /// How much of an object's change is noticed without asking it.
  enum Awareness {
    /// State and children: the object is observable.
    case everything
    /// State only: marked properties, but children may change silently.
    case state
    /// Nothing: its coder methods have to run to find out.
    case nothing
  }

  let key: CaptureBatch.Key
  let kind: NodeReport.Kind
  let objectIdentity: ObjectIdentifier
  /// The object, when it is a controller; parents own children, the coordinator owns neither.
  private(set) weak var controller: (any RestorableController)?
  /// The object under the engine's eyes.
  let binding: ObjectBinding
  unowned var parent: TrackedNode?
  var identifier: RestorationIdentifier
  var awareness = Awareness.nothing
  /// Live children in order: controllers, then views.
  var children: [TrackedNode] = []
  /// Objects that this one's references brought in.
  var byHand: [TrackedNode] = []
  /// Whether a reference brought it in, and nothing else.
  var isByHand: Bool
  /// Whether a change since the last capture is known.
  var isDirty = false
  /// Whether the object is asked at every capture of everything.
  var isUnnoticed = false
  /// Whether the node has left the tree.
  var isRemoved = false
  /// Whether the stored state could not be read and is kept until the object has newer state.
  var keepsStored = false
  /// What the object had when its stored state was kept; it has newer state once that differs.
  var sighted: [UInt8] = []
  /// The object's role in its container.
  var role: RestorationRole?
  /// Whether a child has a role.
  var hasRoles = false
  /// Whether another owner of the identifier was first, so that this one's earlier state is kept.
  var isShadowed = false

  init(
    key: CaptureBatch.Key, controller: any RestorableController, binding: ObjectBinding,
    identifier: RestorationIdentifier, isByHand: Bool
  ) {
    self.key = key
    self.kind = .controller
    self.controller = controller
    self.binding = binding
    self.objectIdentity = ObjectIdentifier(controller)
    self.identifier = identifier
    self.isByHand = isByHand
  }

  init(
    key: CaptureBatch.Key, object: any RestorableObject, binding: ObjectBinding, identifier: RestorationIdentifier,
    kind: NodeReport.Kind
  ) {
    self.key = key
    self.kind = kind
    self.binding = binding
    self.objectIdentity = ObjectIdentifier(object)
    self.identifier = identifier
    self.isByHand = false
  }

  /// The object; nil when it is gone.
  var object: (any RestorableObject)? { binding.object }

  /// Where the object is now.
  var path: RestorationPath {
    var components = [identifier]
    var node = parent
    while let current = node {
      components.append(current.identifier)
      node = current.parent
    }
    if kind == .shared { components.append(ReservedNode.shared) }
    return RestorationPath(components.reversed())
  }

  /// Whether this node is the other one or below it.
  func isInside(_ other: TrackedNode) -> Bool {
    var node: TrackedNode? = self
    while let current = node {
      if current === other { return true }
      node = current.parent
    }
    return false
  }
}
