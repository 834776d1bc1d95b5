/// Findings that a run says once: they don't change from one save to the next.
///
/// Nil is also the documented way to leave an object out on purpose. So an object without an identifier is a finding only if
/// the class has something to preserve, and no instance of it has been preserved: one that is left out among others of
/// its class is meant to be. An object that says so is none.
@MainActor struct OneTimeFindings {
  /// The first object of a class.
  private struct First {
    weak let object: (any RestorableObject)?
  }

  private var unnamed: [(type: ObjectIdentifier, finding: PreservationOutcome.Finding)] = []
  private var lost: [PreservationOutcome.Finding] = []
  private var first: [First] = []
  /// The classes, and the objects with a finding, that were met.
  private var met: Set<ObjectIdentifier> = []

  /// Notes an object whose identifier is nil.
  mutating func noteUnnamed(_ object: any RestorableObject, below parent: RestorationPath) {
    let type = type(of: object)
    guard !ClassPlan.plan(for: type).shape.identity(of: object).isExcluded, met.insert(ObjectIdentifier(type)).inserted,
      hasState(object)
    else { return }
    unnamed.append((ObjectIdentifier(type), .missingIdentifier(parent: parent, owner: "\(type)")))
  }

  /// Notes the first object of a class, which may hold others that nobody preserves.
  mutating func noteFirst(_ object: any RestorableObject) { first.append(First(object: object)) }

  /// Notes a list whose association has gone.
  mutating func noteLostAssociation(of list: ListController, at path: RestorationPath) {
    if met.insert(ObjectIdentifier(list)).inserted { lost.append(.associationNotHeld(path: path)) }
  }

  /// Notes an object that another window preserves as well.
  mutating func noteElsewhere(_ object: any RestorableObject, at path: RestorationPath) {
    if met.insert(ObjectIdentifier(object)).inserted { lost.append(.inTwoWindows(path: path)) }
  }

  /// The findings that no save has said.
  ///
  /// - Parameters:
  ///   - isPreserved: Whether an instance of a class has been preserved.
  ///   - path: Where an object is; nil for one that nobody preserves.
  mutating func take(
    isPreserved: (ObjectIdentifier) -> Bool, path: (any RestorableObject) -> RestorationPath?
  ) -> [PreservationOutcome.Finding] {
    defer { (unnamed, lost, first) = ([], [], []) }
    var findings = unnamed.filter { !isPreserved($0.type) }.map(\.finding) + lost
    for object in first.compactMap(\.object) where ClassPlan.plan(for: type(of: object)).isOfProgram {
      guard let own = path(object) else { continue }
      for property in misplaced(in: object) {
        findings.append(.misplacedDeclaration(path: own, owner: "\(type(of: object))", property: property))
      }
      for held in HeldObjects(of: object).held where path(held.object) == nil {
        let (owner, other) = ("\(type(of: object))", "\(type(of: held.object))")
        findings.append(.notListed(path: own, owner: owner, property: held.property, object: other))
      }
    }
    return findings
  }

  /// The properties of an object that are called as UIKit's are, and say something that its `restoration` doesn't.
  private func misplaced(in object: any RestorableObject) -> [String] {
    let identity = ClassPlan.plan(for: type(of: object)).shape.identity(of: object)
    let said = ["restorationIdentifier": identity.identifier?.rawValue, "restorationClass": identity.class?.rawValue]
    var (found, mirror): ([String], Mirror?) = ([], Mirror(reflecting: object))
    while let level = mirror {
      for child in level.children {
        guard let label = child.label.map({ $0.hasPrefix("_") ? String($0.dropFirst()) : $0 }), let known = said[label],
          let text = Self.text(of: child.value), text != known
        else { continue }
        found.append(label)
      }
      mirror = level.superclassMirror
    }
    return found
  }

  /// A value as text; nil where it is nil.
  private static func text(of value: Any) -> String? {
    let mirror = Mirror(reflecting: value)
    return mirror.displayStyle == .optional ? mirror.children.first.flatMap { text(of: $0.value) } : "\(value)"
  }

  private func hasState(_ object: any RestorableObject) -> Bool {
    object is any StatefulObject || object is any CodingObject
      || (object as? any RestorableController)?.restoration.class != nil
      || !ClassPlan.plan(for: type(of: object)).markedProperties(of: object).isEmpty
  }
}
