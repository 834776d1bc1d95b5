public import StateRestoration

/// What every preserved object of a hierarchy holds, by path and property: the user's own values, not a coder's output.
///
/// Stored properties are found by reflection, in superclasses too; fields of structs are named `property.field`. Left out are
/// closures, objects that are not preserved, everything below a controller without an identifier, and how far a list is with
/// its data; references to preserved objects count as their identifiers.
package struct HierarchyValues: Sendable, Hashable {
  /// The text of each property, by path and name.
  package private(set) var properties: [RestorationPath: [String: String]] = [:]

  /// Reads a hierarchy.
  ///
  /// - Parameters:
  ///   - root: The root of the hierarchy.
  ///   - ignored: Names of properties that are not meant to come back: caches, results, moments.
  @MainActor package init(of root: any RestorableController, ignoring ignored: Set<String> = []) {
    collect(root, at: [], ignored)
  }

  @MainActor private mutating func collect(
    _ controller: any RestorableController, at parent: RestorationPath, _ ignored: Set<String>
  ) {
    guard let identifier = controller.restoration.identifier, !identifier.rawValue.isEmpty else { return }
    let path = parent.appending(identifier)
    // Of two siblings with one identifier the first is preserved.
    guard properties[path] == nil else { return }
    properties[path] = Self.read(controller, ignored)
    for view in controller.listedViews {
      guard let identifier = view.restoration.identifier, !identifier.rawValue.isEmpty else { continue }
      let path = path.appending(identifier)
      if properties[path] == nil { properties[path] = Self.read(view, ignored) }
    }
    for child in controller.listedChildren { collect(child, at: path, ignored) }
  }

  @MainActor private static func read(_ object: any RestorableObject, _ ignored: Set<String>) -> [String: String] {
    var found: [String: String] = [:]
    if let member = object as? any ScopeMember {
      // The value, wherever it is kept; a struct's by its fields.
      switch try? member.content(as: StoredContent.self) {
      case .keyed(let fields)?: for (name, field) in fields { found[name] = field.text }
      case let content?: found["value"] = content.text
      case nil: break
      }
      return found.filter { !ignored.contains($0.key) }
    }
    var mirror: Mirror? = Mirror(reflecting: object)
    while let level = mirror {
      for child in level.children {
        // `_$observationRegistrar` and its like are machinery; what an object is called is no state.
        guard let label = child.label, !label.hasPrefix("_$"), !(child.value is RestorationIdentity) else { continue }
        let name = label.hasPrefix("_") ? String(label.dropFirst()) : label
        guard !ignored.contains(name), found[name] == nil, !isBookkeeping(name, of: level) else { continue }
        add((child.value as? any WrappedProperty)?.anyValue ?? child.value, name, ignored, &found)
      }
      mirror = level.superclassMirror
    }
    return found
  }

  /// Whether a property is no state but what a list remembers until its data is there, or in what order a scope has met its keys.
  private static func isBookkeeping(_ name: String, of level: Mirror) -> Bool {
    level.subjectType == RestorationScope.self
      || level.subjectType == ListController.self && ["awaited", "isLoaded"].contains(name)
  }

  /// Adds a value under a name; the fields of a struct one by one, so that a difference names the field.
  @MainActor private static func add(
    _ value: Any, _ name: String, _ ignored: Set<String>, _ found: inout [String: String]
  ) {
    guard found.count < 10_000, let fields = ValueText.fields(of: value) else {
      found[name] = ValueText.text(of: value)
      return
    }
    for field in fields where !ignored.contains("\(name).\(field.name)") {
      add(field.value, "\(name).\(field.name)", ignored, &found)
    }
  }

  /// What differs in other values that should be the same.
  package func differences(to other: HierarchyValues) -> [HierarchyDifference] {
    let paths = Set(properties.keys).union(other.properties.keys).sorted { $0.description < $1.description }
    return paths.flatMap { path -> [HierarchyDifference] in
      switch (properties[path], other.properties[path]) {
      case (let before?, let after?):
        Set(before.keys).union(after.keys).sorted().compactMap { name in
          before[name] == after[name]
            ? nil : HierarchyDifference(path: path, property: name, before: before[name], after: after[name])
        }
      case (.some, nil): [HierarchyDifference(path: path, property: nil, before: "there", after: nil)]
      default: [HierarchyDifference(path: path, property: nil, before: nil, after: "there")]
      }
    }
  }
}

/// One property, or one whole object, that is not what it was.
package struct HierarchyDifference: Sendable, Hashable, CustomStringConvertible {
  /// The object's path from the root.
  package let path: RestorationPath

  /// The property; `nil` when the whole object is missing or new.
  package let property: String?

  /// The text of the value before; `nil` when there was none.
  package let before: String?

  /// The text of the value after; `nil` when there is none.
  package let after: String?

  /// One line: path, property, and both values.
  package var description: String {
    guard let property else { return "\(path): \(after == nil ? "did not come back" : "was not there before")" }
    return "\(path).\(property): \(before ?? "nothing") → \(after ?? "nothing")"
  }
}

/// A property wrapper whose value counts, not the box.
@MainActor private protocol WrappedProperty {
  var anyValue: Any { get }
}

extension Restored: WrappedProperty {
  fileprivate var anyValue: Any { wrappedValue }
}
