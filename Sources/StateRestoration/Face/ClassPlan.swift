import ApplicationLifecycle
import Observation

/// The lasting facts about a class: which ways of preserving its instances use, and how to use them.
///
/// Casting to protocols and reflecting cost more than a capture may; so both are done once per class.
@MainActor final class ClassPlan {
  let type: any RestorableObject.Type
  let shape: any ShapeFacet
  let state: (any StateFacet)?
  let coding: (any CodingFacet)?
  /// Whether instances are views.
  let isView: Bool
  /// Whether the class is the program's own, and not one of the stock.
  private(set) lazy var isOfProgram = !String(reflecting: type).hasPrefix(SilentPart.ownModule)
  /// Whether instances are told when restoring is over.
  private(set) lazy var isTold = type is any FinishingObject.Type
  /// The version of the state's type; nil where the object names it, or whoever shares it.
  private let stateVersion: StateVersion?
  /// The version of instances that are shared, and have no identity of their own.
  private var sharedVersion: StateVersion?
  /// The plain name of the type: what an archive calls the class of objects that name no tag.
  let typeName: RestorationIdentity.ClassTag

  /// Whether instances have marked properties; nil until the first instance was reflected on.
  private(set) var hasMarkedProperties: Bool?

  private lazy var isObservable = type is any Observable.Type

  /// Whether every change of an instance's stored properties is observed; false until the first was reflected on.
  ///
  /// A subclass inherits the conformance to `Observable` without the observation: one that adds stored properties of
  /// its own and isn't marked `@Observable` itself changes silently.
  private(set) var observesEverything = false

  /// Whether the macro observes instances at every level of their class, though parts of them may change silently.
  private(set) var observesMost = false

  private static var plans: [ObjectIdentifier: ClassPlan] = [:]

  private init(_ type: any RestorableObject.Type) {
    self.type = type
    typeName = Self.name(of: type)
    // Each question that the runtime answers with no searches every conformance of the program, so few are asked.
    if let controller = type as? any RestorableController.Type {
      (shape, isView) = (ClassPlan.controllerShape(controller), false)
    } else if let view = type as? any RestorableView.Type {
      (shape, isView) = (ClassPlan.viewShape(view), true)
    } else {
      (shape, isView) = (SharedShape(), false)
    }
    state = (type as? any StatefulObject.Type).map { ClassPlan.stateFacet($0) }
    coding = (type as? any CodingObject.Type).map { ClassPlan.codingFacet($0) }
    stateVersion = state?.version
    if let flaw = state?.flaw {
      preconditionFailure("The migrations of \(type) \(flaw).")
    }
  }

  /// The version of what an object preserves and can read.
  func version(of object: any RestorableObject) -> StateVersion { version(named: shape.identity(of: object).version) }

  /// The version of what an object preserves and can read, by the one that it names.
  func version(named: StateVersion) -> StateVersion {
    guard let stateVersion else { return sharedVersion ?? named }
    precondition(
      named == 1, "\(type) names version \(named), but its state says \(stateVersion) itself; leave version: out.")
    return stateVersion
  }

  /// Takes the version of instances that have no identity to name it.
  func share(as version: StateVersion) {
    precondition(
      version == 1 || (stateVersion == nil && shape is SharedShape),
      "\(type) says its version itself; leave version: out where it is shared.")
    precondition(
      sharedVersion == nil || sharedVersion == version,
      "\(type) is shared with version \(version), and was with \(sharedVersion ?? 1).")
    if shape is SharedShape { sharedVersion = version }
  }

  /// The plain name of a type, without what is in angle brackets: a value's type may change, and its state be migrated.
  static func name(of type: Any.Type) -> RestorationIdentity.ClassTag {
    // A value of a scope and one that stands alone are the same.
    if type == ScopeEntry.self { return ScopeEntry.className }
    return RestorationIdentity.ClassTag(String("\(type)".prefix { $0 != "<" }))
  }

  /// The plan of a class, made at first use.
  static func plan(for type: any RestorableObject.Type) -> ClassPlan {
    let key = ObjectIdentifier(type)
    if let plan = plans[key] { return plan }
    let plan = ClassPlan(type)
    plans[key] = plan
    return plan
  }

  /// The marked properties of an instance, the superclass's first; reflects only if the class may have some.
  func markedProperties(of object: any RestorableObject) -> [RestorationEncoder.Property] {
    if hasMarkedProperties == false { return [] }
    // Reflecting is dear where a process has just begun. An instance has its properties, so that there would be some by now.
    if !RestorationEncoder.Property.isUsed, !isObservable {
      hasMarkedProperties = false
      return []
    }
    var levels: [[RestorationEncoder.Property]] = []
    var mirror: Mirror? = Mirror(reflecting: object)
    var isObserved = isObservable
    var isWhole = true
    while let level = mirror {
      // Asked of the type first: casting a value that is no object would convert it to one of Objective-C's.
      let marked = level.children.compactMap { child in
        Swift.type(of: child.value) is RestorationEncoder.Property.Type
          ? child.value as? RestorationEncoder.Property : nil
      }
      let isSilent = level.children.count > marked.count && !level.children.contains { $0.label == Self.registrar }
      if isSilent { isObserved = false }
      if isObserved, isWhole { isWhole = SilentPart.isWhole(level) }
      levels.append(marked)
      mirror = level.superclassMirror
    }
    observesEverything = isObserved && isWhole
    observesMost = isObserved
    let properties = levels.reversed().flatMap { $0 }
    hasMarkedProperties = !properties.isEmpty
    var keys: Set<String> = []
    for property in properties {
      precondition(
        keys.insert(property.key).inserted,
        "\(type) has two properties marked @Restored(\"\(property.key)\"), one of them perhaps in a superclass.")
    }
    return properties
  }

  // What the observation macro calls the property that it adds.
  fileprivate static let registrar = "_$observationRegistrar"

  private static func controllerShape<T: RestorableController>(_ type: T.Type) -> any ShapeFacet {
    let views = (type as? any RestorationViewOwner.Type).map { viewsFacet($0) }
    guard let parent = type as? any RestorationParent.Type else {
      return ControllerShape<T>(parent: nil, owner: views)
    }
    let container = (type as? any RestorationContainer.Type).map { rolesFacet($0) }
    return ControllerShape<T>(parent: childrenFacet(parent), owner: views, container: container)
  }

  private static func childrenFacet<T: RestorationParent>(_ type: T.Type) -> any ChildrenFacet { ParentFacet<T>() }

  private static func viewsFacet<T: RestorationViewOwner>(_ type: T.Type) -> any ViewsFacet { OwnerFacet<T>() }

  private static func rolesFacet<T: RestorationContainer>(_ type: T.Type) -> any RolesFacet { ContainerFacet<T>() }

  private static func viewShape<T: RestorableView>(_ type: T.Type) -> any ShapeFacet { ViewShape<T>() }

  private static func stateFacet<T: StatefulObject>(_ type: T.Type) -> any StateFacet {
    ValueFacet<T, T.RestorableState>()
  }

  private static func codingFacet<T: CodingObject>(_ type: T.Type) -> any CodingFacet { HookFacet<T>() }
}

/// Finds the parts of an observed class that may change without its observation.
///
/// Those are properties that the macro was told to ignore, and objects of classes that nobody observes: state may be read from
/// either. A constant can't be told from a variable here, so that it counts as one; identities and model identifiers are taken for
/// constants.
/// Objects that are preserved themselves are asked themselves.
@MainActor private enum SilentPart {
  /// Whether the observation of a level of a class notices every change.
  static func isWhole(_ level: Mirror) -> Bool {
    // The stock classes say themselves what changes.
    if String(reflecting: level.subjectType).hasPrefix(ownModule) { return true }
    return level.children.allSatisfy { child in
      guard let label = child.label, label != ClassPlan.registrar else { return true }
      let type = Swift.type(of: child.value)
      if type is RestorationEncoder.Property.Type { return true }
      // The macro keeps the value of an observed property under its name behind a line.
      return label.hasPrefix("_") ? !mayChangeSilently(type) : isName(type)
    }
  }

  static let ownModule = "StateRestoration."

  private static func isName(_ type: Any.Type) -> Bool {
    let type = (type as? any Wrapper.Type)?.wrapped ?? type
    return type == RestorationIdentity.self || type == ModelIdentifier.self
  }

  /// Whether a value of a type leads to an object that nobody observes.
  private static func mayChangeSilently(_ type: Any.Type) -> Bool {
    if let wrapper = type as? any Wrapper.Type { return mayChangeSilently(wrapper.wrapped) }
    return type is AnyClass && !(type is any Observable.Type) && !(type is any RestorableObject.Type)
  }
}

/// A value that holds others of one type.
private protocol Wrapper { static var wrapped: Any.Type { get } }

extension Optional: Wrapper { fileprivate static var wrapped: Any.Type { Wrapped.self } }
extension Array: Wrapper { fileprivate static var wrapped: Any.Type { Element.self } }
extension Dictionary: Wrapper { fileprivate static var wrapped: Any.Type { Value.self } }
