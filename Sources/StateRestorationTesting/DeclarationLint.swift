import StateRestoration

/// Declarations below a root that compile and that the framework never asks.
@MainActor func declarationFindings(_ root: any RestorableController) -> [LintFinding] {
  var findings: [LintFinding] = []
  var seen: Set<ObjectIdentifier> = []
  var waiting: [(object: any RestorableObject, path: RestorationPath)] = [
    (root, [root.restorationIdentifier ?? "(no identifier)"])
  ]
  while let (object, path) = waiting.popLast() {
    guard seen.insert(ObjectIdentifier(object)).inserted else { continue }
    findings += mistypedDeclarations(of: object, at: path)
    if let base = baseWithoutVersion(of: object) { findings.append(.versionOfClassTree(path, base: "\(base)")) }
    guard let controller = object as? any RestorableController else { continue }
    for child in controller.restorationChildren.reversed() {
      waiting.append((child, path.appending(child.restorationIdentifier ?? "(no identifier)")))
    }
    for view in controller.restorationViews.reversed() {
      waiting.append((view, path.appending(view.restorationIdentifier ?? "(no identifier)")))
    }
  }
  return findings
}

/// The types of the requirements that have a default, by name.
private let wantedTypes: [(name: String, type: Any.Type, text: String)] = [
  ("restorationClass", RestorationClass?.self, "RestorationClass?"),
  ("restorationModelIdentifier", ModelIdentifier?.self, "ModelIdentifier?"),
  ("preservationPriority", PreservationPriority.self, "PreservationPriority"),
  ("restorationChildren", [any RestorableController].self, "[any RestorableController]"),
  ("restorationViews", [any RestorableView].self, "[any RestorableView]"),
]

@MainActor private func mistypedDeclarations(of object: any RestorableObject, at path: RestorationPath) -> [LintFinding]
{
  var findings: [LintFinding] = []
  var mirror: Mirror? = Mirror(reflecting: object)
  while let level = mirror {
    for child in level.children {
      // The observation macro stores a property under its name with an underscore before it.
      guard let label = child.label.map({ $0.hasPrefix("_") ? String($0.dropFirst()) : $0 }),
        let wanted = wantedTypes.first(where: { $0.name == label }), type(of: child.value) != wanted.type
      else { continue }
      findings.append(
        .declaresNothing(path, property: label, type: "\(type(of: child.value))", wanted: wanted.text))
    }
    mirror = level.superclassMirror
  }
  return findings
}

/// The topmost class of an object's tree, if its version is the default.
@MainActor private func baseWithoutVersion(of object: any RestorableObject) -> Any.Type? {
  guard DefaultVersion.isUsed(by: type(of: object)) else { return nil }
  var base: Any.Type?
  var mirror = Mirror(reflecting: object).superclassMirror
  while let level = mirror {
    if level.subjectType is any RestorableObject.Type { base = level.subjectType }
    mirror = level.superclassMirror
  }
  return base
}
