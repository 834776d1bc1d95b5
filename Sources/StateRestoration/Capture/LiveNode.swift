internal import RestorationArchive

/// What the coordinator remembers of one live object between two captures.
///
/// A capture of everything looks at all of them, ten thousand perhaps: the answers that it needs are stored, side by side.
@MainActor final class LiveNode {
  // What a capture looks at stands first, so that it comes into the cache together.

  /// The object, which parents own and the coordinator doesn't; nil once it died.
  weak let object: (any RestorableObject)?
  let subject: LiveClass
  let key: CaptureBatch.Key
  var identifier: RestorationIdentifier
  var kind = NodeReport.Kind.controller
  /// Whether the object was asked and had more to say than its identifier, its tag and its one value.
  var isSpecial = false
  /// Whether a change since the last capture is known.
  var isDirty = false
  /// Whether the next capture may be the first that copies its value: it was given it in this turn.
  var mayWait = false
  /// Whether the node has left the tree.
  var isRemoved = false
  /// Whether another owner of the identifier was first, so that this one's earlier state stays.
  var isDuplicate = false
  /// Whether the binding's flag is up or goes up at once: from the beginning, and whenever the list of changes says so.
  var isFlagUp = true
  /// Whether nobody gave it anything.
  var cameByItself = false
  /// Whether that is so, and it was not edited since, as far as is known.
  var isNewcomer = false
  /// Whether a reference brought it in, and nothing else.
  var isByHand = false
  /// Whether its state is carried over when it leaves: it died with the turn that restored it, or the program can't read what
  /// it was given.
  var leavesState = false
  /// Whether a child has a role.
  var hasRoles = false
  /// Whether the object is asked at every capture of everything.
  var isPolled = false
  /// Whether the object called itself by the identifier when it was last asked.
  var hasItsName = false
  /// The key that the object had until this capture, in which it has left the hierarchy and come again.
  var former: CaptureBatch.Key?
  /// The record that the object was given by restoring, or else the row that was found for it.
  var givenNode: NodeID?
  /// The capture in which the object was last asked.
  var lastRead = 0
  /// What it said then of its place and of the objects that it refers to, in short; nil where it had nothing special to say.
  ///
  /// Only of objects that are polled.
  var shape: Int? = 0
  /// The children that it listed then; nil where ``shape`` tells of these, and of objects that are not polled.
  var listed: [LiveNode]?
  /// The capture in which it was moved below another parent last.
  var lastMoved = 0
  /// The object's role in its container.
  var role: RestorationArchive.Role? { didSet { hasRole = role != nil } }
  private var hasRole = false
  private var isParent = false
  private var isReferrer = false
  /// The parent's key, to compare; -1 for none.
  private(set) var parentKey: CaptureBatch.Key = -1
  /// Live children in order: controllers, then views.
  var children: [LiveNode] = [] { didSet { isParent = !children.isEmpty } }
  /// Objects that this one's references brought in.
  var byHand: [LiveNode] = [] { didSet { isReferrer = !byHand.isEmpty } }
  unowned var parent: LiveNode? { didSet { parentKey = parent?.key ?? -1 } }
  /// Whose state the object has: the class that it was of when it was last asked, and the model that it named last, or was
  /// given the state of; nil for plain objects.
  var identity: Identity?
  /// Whether the object named a model when it was last asked.
  var namesModel = false
  let objectIdentity: ObjectIdentifier
  /// Raised when the object may have changed since it was last captured, and from the beginning.
  let flag: ChangeFlag
  /// The object's marked properties.
  private let properties: [RestorationEncoder.Property]

  /// Tracks an object.
  ///
  /// - Parameter onChange: Called when the flag goes up, from whatever thread made the change, before the change is visible:
  ///   capture later.
  init(
    key: CaptureBatch.Key, object: any RestorableObject, subject: LiveClass, identifier: RestorationIdentifier,
    onChange: @escaping @Sendable () -> Void
  ) {
    self.object = object
    self.subject = subject
    self.key = key
    self.identifier = identifier
    objectIdentity = ObjectIdentifier(object)
    properties = subject.plan.markedProperties(of: object)
    flag = ChangeFlag(onChange: onChange)
    for property in properties { property.add(flag) }
  }

  isolated deinit { flag.retire() }

  /// Whether only the object's value may have to be recorded, by all that is known of the node.
  var isPlain: Bool {
    kind == .controller && !isRemoved && !isSpecial && !isDuplicate && !isByHand && !hasRole && !isParent && !isReferrer
  }

  /// The object, when it is a controller.
  var controller: (any RestorableController)? { object as? any RestorableController }

  /// This node and those above it.
  var chain: some Sequence<LiveNode> { sequence(first: self) { $0.parent } }

  /// Where the object is now.
  var path: RestorationPath {
    var components = chain.map(\.identifier)
    if kind == .shared { components.append(ReservedNode.shared) }
    return RestorationPath(components.reversed())
  }

  /// Where the object is now; nil once it has left the hierarchy.
  var currentPath: RestorationPath? { isRemoved ? nil : path }

  /// How many nodes are above it.
  var depth: Int { chain.reduce(-1) { count, _ in count + 1 } }

  /// Whether this node is the other one or below it.
  func isInside(_ other: LiveNode) -> Bool {
    chain.contains { $0 === other }
  }
}

extension LiveNode {
  /// Runs a reading of the object; what it reads is watched until it changes if the flag was armed for that.
  func watch<Read>(_ isArmed: Bool, _ read: () -> Read) -> Read {
    isArmed ? flag.observe(read) : read()
  }

  /// Copies what the object has to preserve, its one value into the column of its class.
  ///
  /// - Parameters:
  ///   - object: The node's object.
  ///   - values: Its values, where they were copied already.
  ///   - context: What coder methods may ask for.
  func read(
    _ object: any RestorableObject, values: CapturedValues? = nil,
    context: @autoclosure () -> RestorationArchive.Context
  ) -> CapturedState {
    let values = values ?? readValues(object, context: context())
    let shape = subject.plan.shape.read(object)
    return CapturedState(shape: shape, version: subject.plan.version(named: shape.version), values: values)
  }

  /// Copies an object's values as `read` does, and asks neither for its identity nor for its children.
  func readValues(_ object: any RestorableObject, context: @autoclosure () -> RestorationArchive.Context)
    -> CapturedValues
  {
    let plan = subject.plan
    var captured = CapturedValues()
    if let column = subject.column { captured.row = plan.state?.capture(object, in: column) }
    if !properties.isEmpty { captured.entries = properties.map { $0.capture() } }
    guard let coding = plan.coding else { return captured }
    let coder = RestorationEncoder(
      path: nil, node: self, context: context(), owner: plan.type, properties: properties)
    coding.encode(object, with: coder)
    captured.isAsStored = coder.isLeftAsStored
    let (entries, references) = coder.finish()
    if captured.entries.isEmpty { captured.entries = entries } else { captured.entries += entries }
    captured.references = references
    return captured
  }
}
