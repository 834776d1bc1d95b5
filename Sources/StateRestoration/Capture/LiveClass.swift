internal import FoundationShim
internal import RestorationArchive

/// What a capture needs to know of a class whose instances are tracked, found out once for the class or once a capture.
@MainActor final class LiveClass {
  /// How much of an object's change is noticed without asking it.
  enum Awareness {
    /// State and children: the object is observable.
    case everything
    /// Most: the object is observable, but parts of it may change silently.
    case most
    /// State only: marked properties, but children may change silently.
    case state
    /// Nothing: its coder methods have to run to find out.
    case nothing
  }

  let awareness: Awareness
  /// Whether instances are lists, which may lose their associations.
  let isList: Bool
  /// Whether instances are scopes, which ask their coordinator what became of the stored state.
  let isScope: Bool
  /// Whether instances join edits made while locked to the stored state.
  let joins: Bool
  let plan: ClassPlan
  /// Whether the current capture has met an instance.
  private(set) var isOpen = false
  /// Where the current capture copies the one values of instances; nil until the first, and between captures.
  private(set) var column: (any StateColumn)?
  /// How to read plain instances in the current capture; nil until one was met, and for classes whose values are not one.
  private(set) var fastPath: FastPath?
  /// What plain instances say of themselves, as the first of them did; nil until one was met.
  private(set) var plain: PlainIdentity?
  /// The number of the plain instances' kind in the current capture; nil until one was met.
  private(set) var plainKind: Int?
  /// The classes whose state may be given to instances with a tag, as they were asked for last, and at which revision.
  private var accepted: (revision: Int, tag: RestorationArchive.ClassTag?, classes: Set<RestorationArchive.ClassTag>)?
  /// The facts found in the current capture for the tags of instances, nearly always one for all of them.
  private var tags: [Tag] = []

  /// What instances with one tag have in common.
  struct Tag {
    /// The tag; nil for none.
    let tag: RestorationArchive.ClassTag?
    /// The version of what they preserve.
    let version: StateVersion
    /// The number of their kind in the batch.
    let kind: Int
    /// The class that the tag is registered for, and that of the instances, when they are not the same.
    let mistaken: (registered: String, found: String)?
  }

  /// Describes the class of an object.
  init(_ object: any RestorableObject, _ plan: ClassPlan) {
    self.plan = plan
    // Whether a class is observed is not known before one of its instances was reflected on.
    _ = plan.markedProperties(of: object)
    isList = object is ListController
    isScope = object is RestorationScope
    joins = plan.state != nil && object is any MergingObject
    awareness =
      if plan.observesEverything {
        .everything
      } else if plan.state != nil || plan.coding != nil {
        plan.observesMost ? .most : .nothing
      } else {
        .state
      }
  }

  /// Makes the column for the values of a capture, if instances have one value.
  func open() {
    isOpen = true
    column = plan.state?.makeColumn()
  }

  /// Forgets the current capture, which is handed over.
  func close() {
    isOpen = false
    column = nil
    fastPath = nil
    plainKind = nil
    tags = []
  }

  /// The classes whose state may be given to instances with a tag; asked for again once classes were registered.
  func acceptedClasses(
    _ tag: RestorationArchive.ClassTag?, _ revision: Int, _ find: () -> Set<RestorationArchive.ClassTag>
  ) -> Set<RestorationArchive.ClassTag> {
    if let accepted, accepted.revision == revision, accepted.tag == tag { return accepted.classes }
    let classes = find()
    accepted = (revision, tag, classes)
    return classes
  }

  /// The facts found in the current capture for instances with a tag; nil if none was met.
  func facts(for tag: RestorationArchive.ClassTag?) -> Tag? {
    for index in tags.indices where tags[index].tag == tag { return tags[index] }
    return nil
  }

  /// Takes the facts about instances with a tag, which name a version.
  func add(_ facts: Tag, named version: StateVersion) {
    tags.append(facts)
    guard facts.mistaken == nil, !joins, !isList, !isScope else { return }
    // Decided once: records of plain instances leave these facts out.
    let plain = self.plain ?? PlainIdentity(classTag: facts.tag, version: version)
    guard plain.classTag == facts.tag, plain.version == version else { return }
    self.plain = plain
    plainKind = facts.kind
    guard let column, let state = plan.state, plan.coding == nil, plan.hasMarkedProperties == false else { return }
    fastPath = FastPath(plain: plain, kind: facts.kind, column: column, shape: plan.shape, state: state)
  }
}

/// How to read instances of one class that are as they were but for their one value.
@MainActor struct FastPath {
  let plain: PlainIdentity
  let kind: Int
  let column: any StateColumn
  let shape: any ShapeFacet
  let state: any StateFacet

  /// Whether an object is as it was but for its one value.
  func isPlain(_ object: any RestorableObject, _ node: LiveNode) -> Bool { shape.isPlain(object, node, plain) }

  /// Copies the value of an object and returns its row; nil if the object isn't plain.
  @inline(__always)
  func read(_ object: any RestorableObject, _ node: LiveNode) -> Int? {
    guard isPlain(object, node) else { return nil }
    return state.capture(object, in: column)
  }
}
