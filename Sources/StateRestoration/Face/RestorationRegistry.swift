/// What the program knows how to remake: classes by tag, blueprints by identifier, shared objects.
///
/// Nothing named in an archive is ever looked up as a type: only classes that are registered here are made. Register before
/// restoring: a class or blueprint registered later is known from the next restoration on. An object that is
/// shared later gets its state at once; for a controller or view that is made later there is
/// ``RestorationCoordinator/restore(_:at:)``.
@MainActor public final class RestorationRegistry {
  /// Makes the controller of a path, or declines.
  package typealias Maker<Controller> = @MainActor (RestorationPath, RestorationDecoder) -> Controller?

  /// Decides whether a model object still exists.
  package typealias ModelCheck = @MainActor (ModelIdentifier) -> Bool

  private var classes: [RestorationIdentity.ClassTag: RegisteredClass] = [:]
  private var blueprints: [RestorationIdentifier: Maker<any RestorableController>] = [:]
  private var sharedObjects: [RestorationIdentifier: SharedObject] = [:]
  /// The identifiers by object, the dead ones included.
  private var sharedIdentifiers: [ObjectIdentifier: RestorationIdentifier] = [:]
  private var coordinators: [Coordinator] = []
  /// Counts the registrations of classes.
  private(set) var revision = 0
  /// Today's names of types that name no tag, by former ones.
  private var renamed: [RestorationIdentity.ClassTag: RestorationIdentity.ClassTag] = [:]
  /// What a launch has to ask for at least, so that objects of a class come back; none where the object above says it.
  private var extents: [ObjectIdentifier: Lifecycle.LaunchOptions.Extent] = [:]
  /// The tags and names of classes that the program does not have any more.
  private var retired: Set<RestorationIdentity.ClassTag> = []
  /// Today's tags and names as they were put together last, and at which revision.
  private var knownToday: (revision: Int, today: [RestorationIdentity.ClassTag: RestorationIdentity.ClassTag])?
  /// The classes whose state may be given to instances of a type; emptied by every registration of a class.
  private var acceptedByType: [ObjectIdentifier: Set<RestorationIdentity.ClassTag>] = [:]

  /// Makes an empty registry.
  public init() {}

  /// Registers a class; the tag guards its state.
  ///
  /// Its objects exist at launch, or come from the delegate; a class that makes them again is registered with `make`.
  /// The same class, registered again under its tag, replaces the former registration. Two classes under one tag trap.
  ///
  /// - Parameters:
  ///   - type: The class. An instance of a subclass must have a tag of its own.
  ///   - tag: The tag in the archive: stable through renamings of the type, and the class's alone.
  ///   - formerly: Tags that earlier versions of the program used for it.
  ///   - limit: The age after which state of the class is no longer restored; nil for none. It is counted from the last save
  ///     in which the object was there, a time that is recorded in steps of a sixteenth of the limit.
  ///   - extent: The least extent of a launch that brings back objects of this very class; nil for that of the object above, at the
  ///     top `launch`. Objects that are not asked for keep their stored state, see ``RestorationCoordinator/extent``.
  ///   - modelExists: Asked for state with a model identifier; state of a model object that is gone is not restored.
  public func register<Controller: RestorableController>(
    _ type: Controller.Type, as tag: RestorationIdentity.ClassTag, formerly: [RestorationIdentity.ClassTag] = [],
    freshFor limit: Duration? = nil, extent: Lifecycle.LaunchOptions.Extent? = nil,
    onlyIf modelExists: (@MainActor (ModelIdentifier) -> Bool)? = nil
  ) {
    extents[ObjectIdentifier(type)] = extent
    add(.init(tag: tag, type: type, freshFor: limit, onlyIf: modelExists, make: nil), formerly: formerly)
  }

  /// Registers a restoration class: one whose objects a function makes again.
  ///
  /// ```swift
  /// registry.register(EditorController.self, as: "editor", make: EditorController.makeForRestoration)
  /// ```
  ///
  /// - Parameters:
  ///   - type: The class. An instance of a subclass must have a tag of its own.
  ///   - tag: The tag in the archive: stable through renamings of the type, and the class's alone.
  ///   - formerly: Tags that earlier versions of the program used for it.
  ///   - limit: The age after which state of the class is no longer restored; nil for none.
  ///   - extent: The least extent of a launch that brings back objects of this very class; nil for that of the object above.
  ///   - modelExists: Asked for state with a model identifier; state of a model object that is gone is not restored.
  ///   - make: Makes the object of a path. Its answer is final: after nil the subtree is not restored, and nobody else is asked.
  ///     It is called before any object decodes. It may read of the coder what an initialiser needs; references to other objects
  ///     can't be resolved yet.
  public func register<Controller: RestorableController>(
    _ type: Controller.Type, as tag: RestorationIdentity.ClassTag, formerly: [RestorationIdentity.ClassTag] = [],
    freshFor limit: Duration? = nil, extent: Lifecycle.LaunchOptions.Extent? = nil,
    onlyIf modelExists: (@MainActor (ModelIdentifier) -> Bool)? = nil,
    make: @escaping @MainActor (RestorationPath, RestorationDecoder) -> Controller?
  ) {
    extents[ObjectIdentifier(type)] = extent
    add(.init(tag: tag, type: type, freshFor: limit, onlyIf: modelExists) { make($0, $1) }, formerly: formerly)
  }

  /// Says of a class that names no tag what it was called before, or what brings it back.
  ///
  /// An archive records the plain name of such a class. After a renaming its objects are given the state that the class saved
  /// under its former names.
  ///
  /// ```swift
  /// registry.register(SearchPanel.self, formerly: ["FindPanel"])
  /// ```
  ///
  /// - Parameters:
  ///   - type: The class: of a controller, a view or a shared object.
  ///   - formerly: The names that the type had, without the module and without what is in angle brackets.
  ///   - extent: The least extent of a launch that brings back objects of this very class; nil for that of the object above.
  public func register<Object: RestorableObject>(
    _ type: Object.Type, formerly: [RestorationIdentity.ClassTag] = [], extent: Lifecycle.LaunchOptions.Extent? = nil
  ) {
    extents[ObjectIdentifier(type)] = extent
    let name = ClassPlan.plan(for: type).typeName
    for former in formerly {
      precondition(!former.isEmpty, "A former name of \(type) is empty.")
      if let other = renamed[former], other != name {
        preconditionFailure("“\(former)” is the former name of two classes, \(other) and \(name).")
      }
      renamed[former] = name
    }
    revision += 1
    acceptedByType = [:]
  }

  /// Gives up the state of classes that the program does not have any more.
  ///
  /// Restoring makes nothing of it and warns of nothing; the report says
  /// ``RestorationReport/NotRestoredReason/classRetired(_:)``, and the next save removes it, with everything below.
  /// Without this such state is kept for good, and each launch says that its class is not registered.
  ///
  /// ```swift
  /// registry.retire("attachment")
  /// ```
  ///
  /// - Parameter names: Their tags; the plain names of types that named none. A class that is registered can't be retired.
  public func retire(_ names: RestorationIdentity.ClassTag...) {
    for name in names {
      precondition(!name.isEmpty, "A class is retired under an empty name.")
      if let registered = classes[name] { Self.refuseRetired(name, registered.type) }
      retired.insert(name)
    }
    revision += 1
  }

  /// Whether any class was given up.
  var hasRetired: Bool { !retired.isEmpty }

  /// Whether the program does not have a class any more.
  func isRetired(_ name: RestorationIdentity.ClassTag) -> Bool { hasRetired && retired.contains(name) }

  private static func refuseRetired(_ name: RestorationIdentity.ClassTag, _ type: Any.Type) -> Never {
    preconditionFailure("“\(name)” is retired and registered for \(type): do one of both.")
  }

  /// Registers how to make the controller of an identifier that nobody else makes, as a storyboard does for UIKit.
  public func registerBlueprint(
    _ identifier: RestorationIdentifier,
    make: @escaping @MainActor (RestorationPath, RestorationDecoder) -> (any RestorableController)?
  ) {
    precondition(!identifier.isEmpty, "A blueprint needs an identifier.")
    precondition(blueprints[identifier] == nil, "There are two blueprints for “\(identifier)”.")
    blueprints[identifier] = make
  }

  /// Shares an object that many refer to, such as a model: it is preserved once, under its identifier.
  ///
  /// That is the object's own state: what a controller has below it is preserved when it is in the hierarchy.
  ///
  /// The registry doesn't keep it alive; the state of one that has died is carried over. Shared after restoring, it
  /// gets its state at once. When an object under the identifier was saved and has died, the next one gets nothing in this run,
  /// because the state read at launch is older than the last save; that stays stored until the next one has something
  /// newer. Shared again under another identifier, the object has that one from then on.
  ///
  /// Share it with one scene: an object that several scenes preserve has what the one that was restored last gave it.
  ///
  /// - Parameters:
  ///   - object: The object.
  ///   - identifier: What it is called among all shared objects.
  ///   - version: The version of what its coder methods and marked properties preserve, the same for all objects of its class;
  ///     that of a controller stands in its `restoration`.
  public func share(
    _ object: any RestorableObject, as identifier: RestorationIdentifier, version: StateVersion = 1
  ) {
    ClassPlan.plan(for: type(of: object)).share(as: version)
    precondition(!identifier.isEmpty, "A shared \(type(of: object)) needs an identifier.")
    if let other = sharedObjects[identifier]?.object, other !== object {
      preconditionFailure(
        "“\(identifier)” is the identifier of two shared objects, a \(type(of: other)) and a \(type(of: object)).")
    }
    let key = ObjectIdentifier(object)
    if let former = sharedIdentifiers[key], former != identifier, sharedObjects[former]?.object === object {
      sharedObjects[former] = nil
    }
    sharedIdentifiers[key] = identifier
    sharedObjects[identifier] = SharedObject(object: object)
    coordinators.removeAll { $0.coordinator == nil }
    for entry in coordinators { entry.coordinator?.sharedObjectWasRegistered(as: identifier) }
  }

  private struct SharedObject { weak let object: (any RestorableObject)? }

  private struct Coordinator { weak let coordinator: RestorationCoordinator? }

  /// Has a coordinator told of shared objects that are registered from now on.
  func tell(_ coordinator: RestorationCoordinator) {
    coordinators.append(Coordinator(coordinator: coordinator))
  }

  private func add(_ registered: RegisteredClass, formerly: [RestorationIdentity.ClassTag]) {
    let type = registered.type
    // Migrations that don't fit are found now, and not when the first state comes.
    _ = ClassPlan.plan(for: type)
    if let former = classes[registered.tag], former.tag == registered.tag,
      ObjectIdentifier(former.type) == ObjectIdentifier(type)
    {
      classes = classes.filter { $1.tag != registered.tag }
    }
    for tag in [registered.tag] + formerly {
      precondition(!tag.isEmpty, "\(type) is registered under an empty tag.")
      if isRetired(tag) { Self.refuseRetired(tag, type) }
      if let other = classes[tag] {
        preconditionFailure("“\(tag)” is the tag of two classes, \(other.type) and \(type); give each its own.")
      }
      classes[tag] = registered
    }
    revision += 1
    acceptedByType = [:]
  }
}

/// A class as registered.
@MainActor package struct RegisteredClass {
  /// Today's tag, under which new state is preserved.
  package let tag: RestorationIdentity.ClassTag
  /// The class.
  package let type: any RestorableController.Type
  /// The age after which its state is no longer restored.
  package let freshFor: Duration?
  /// Whether a model object still exists.
  package let onlyIf: RestorationRegistry.ModelCheck?
  /// Makes an instance; nil if others have to.
  package let make: RestorationRegistry.Maker<any RestorableController>?
}

/// Why an object's tag and its class don't go together.
package enum TagFlaw: Hashable, Sendable {
  /// The tag is not registered.
  case unregistered(RestorationIdentity.ClassTag)
  /// The tag is registered for another class, often a superclass from which the tag was inherited.
  case belongs(RestorationIdentity.ClassTag, to: String, found: String)
}

extension RestorationRegistry {
  /// The class of a tag, today's or a former one.
  package func registeredClass(_ tag: RestorationIdentity.ClassTag) -> RegisteredClass? { classes[tag] }

  /// How to make the controller of an identifier.
  package func blueprint(_ identifier: RestorationIdentifier) -> Maker<any RestorableController>? {
    blueprints[identifier]
  }

  /// The shared object of an identifier, if it lives.
  package func sharedObject(_ identifier: RestorationIdentifier) -> (any RestorableObject)? {
    sharedObjects[identifier]?.object
  }

  /// The living shared objects in the order of their identifiers.
  package var livingSharedObjects: [(identifier: RestorationIdentifier, object: any RestorableObject)] {
    sharedObjects.compactMap { entry in entry.value.object.map { (entry.key, $0) } }.sorted { $0.0 < $1.0 }
  }

  /// The flaw of an object's tag when it is preserved; nil if it has none.
  ///
  /// A tag inherited by a subclass that isn't registered would restore the superclass.
  package func flaw(of tag: RestorationIdentity.ClassTag, on object: any RestorableObject) -> TagFlaw? {
    guard let registered = classes[tag] else { return .unregistered(tag) }
    let found = type(of: object)
    guard ObjectIdentifier(registered.type) != ObjectIdentifier(found) else { return nil }
    return .belongs(tag, to: "\(registered.type)", found: "\(found)")
  }

  /// The classes whose state may be given to an object: its own and its superclasses, under their tags and names, former ones
  /// included.
  func acceptedClasses(_ object: any RestorableObject, _ tag: RestorationIdentity.ClassTag?) -> Set<
    RestorationIdentity.ClassTag
  > {
    let type = type(of: object)
    let known = acceptedByType[ObjectIdentifier(type)]
    var accepted = known ?? registeredClasses(type)
    if known == nil {
      accepted.insert(ClassPlan.plan(for: type).typeName)
      // Not by a mirror: the first one of a process takes as long as reading a file.
      var superclass: AnyClass? = _getSuperclass(type)
      while let level = superclass {
        accepted.insert(ClassPlan.name(of: level))
        superclass = _getSuperclass(level)
      }
      for (former, name) in renamed where accepted.contains(name) { accepted.insert(former) }
      acceptedByType[ObjectIdentifier(type)] = accepted
    }
    if let tag, classes[tag] == nil { accepted.insert(tag) }
    return accepted
  }

  /// The tags of a type and of its superclasses that are registered, former ones included.
  private func registeredClasses(_ type: any RestorableObject.Type) -> Set<RestorationIdentity.ClassTag> {
    Set(classes.filter { Self.isSubclass(type, of: $1.type) }.keys)
  }

  /// The least extent of a launch that brings back objects of a class; nil where the object above says it.
  func extent(of type: any RestorableObject.Type) -> Lifecycle.LaunchOptions.Extent? {
    extents.isEmpty ? nil : extents[ObjectIdentifier(type)]
  }

  /// An object as one that asks for state.
  func asker(_ object: any RestorableObject, _ identity: Identity? = nil) -> Asker {
    let plan = ClassPlan.plan(for: type(of: object))
    let own = plan.shape.identity(of: object)
    let asked = identity ?? Identity(own, of: plan)
    return Asker(
      identity: current(asked), version: plan.version(named: own.version),
      acceptedClasses: acceptedClasses(object, identity == nil ? own.class : asked.classTag))
  }

  /// Whose state an object's is, under today's tag, and the newest version that its class can read.
  func identity(of object: any RestorableObject) -> (identity: Identity, version: StateVersion) {
    let plan = ClassPlan.plan(for: type(of: object))
    let own = plan.shape.identity(of: object)
    return (current(Identity(own, of: plan)), plan.version(named: own.version))
  }

  /// Whose state a row holds, under today's tag.
  func current(_ identity: Identity) -> Identity {
    guard hasFormerNames else { return identity }
    var identity = identity
    identity.classTag = identity.classTag.map { today[$0] ?? $0 }
    return identity
  }

  /// Whether any class was called otherwise before.
  private var hasFormerNames: Bool {
    if let knownToday, knownToday.revision == revision { return !knownToday.today.isEmpty }
    return !today.isEmpty
  }

  /// Today's tags and names, by former ones.
  private var today: [RestorationIdentity.ClassTag: RestorationIdentity.ClassTag] {
    if classes.isEmpty, renamed.isEmpty { return [:] }
    if let knownToday, knownToday.revision == revision { return knownToday.today }
    var today = renamed
    for (tag, registered) in classes where tag != registered.tag { today[tag] = registered.tag }
    // Behind a former name of a type that has a tag by now.
    for (former, name) in renamed { today[former] = today[name] ?? name }
    knownToday = (revision, today)
    return today
  }

  /// The registered classes as a value.
  var classTable: ClassTable {
    if classes.isEmpty, renamed.isEmpty { return ClassTable() }
    var accepted: [RestorationIdentity.ClassTag: Set<RestorationIdentity.ClassTag>] = [:]
    for (_, registered) in classes where accepted[registered.tag] == nil {
      accepted[registered.tag] = registeredClasses(registered.type)
    }
    return ClassTable(accepted, today: today, ageLimit: classes.values.lazy.compactMap(\.freshFor).min())
  }

  /// Whether a type is another one, or a subclass of it.
  private static func isSubclass(
    _ type: any RestorableObject.Type, of other: any RestorableController.Type
  ) -> Bool {
    func open<T: RestorableController>(_ other: T.Type) -> Bool { type is T.Type }
    return open(other)
  }
}

extension Identity {
  /// Whose state an object has, by what it says.
  @MainActor fileprivate init(_ own: RestorationIdentity, of plan: ClassPlan) {
    self.init(classTag: own.class ?? plan.typeName, model: own.model, isView: plan.isView)
  }
}
