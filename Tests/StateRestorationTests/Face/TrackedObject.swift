import RestorationArchive

@testable import StateRestoration

/// One object as a tree tracks it, without a tree.
@MainActor final class TrackedObject {
  weak let object: (any RestorableObject)?
  private let node: LiveNode
  /// How many observations were begun: one, and one more after each change that an observation saw.
  private(set) var observationCount = 0

  init(_ object: any RestorableObject, onChange: @escaping @Sendable () -> Void = {}) {
    self.object = object
    node = LiveNode(
      key: 1, object: object, subject: LiveClass(object, ClassPlan.plan(for: type(of: object))), identifier: "object",
      onChange: onChange)
  }

  var flag: ChangeFlag { node.flag }
  var observesEverything: Bool { node.subject.plan.observesEverything }

  /// What a capture copies, its one value among the entries; nil if the object has died.
  func capture(context: RestorationArchive.Context, observing: Bool = false) -> CapturedState? {
    guard let object else { return nil }
    node.subject.open()
    let isWatching = observing && flag.rearm()
    if isWatching { observationCount += 1 }
    var captured = node.watch(isWatching) { node.read(object, context: context) }
    if let column = node.subject.column, let row = captured.row {
      captured.entries.insert(column.entry(at: row), at: 0)
      captured.row = nil
    }
    return captured
  }

  /// Gives the object its state.
  @discardableResult
  func apply(_ coder: RestorationDecoder) throws(RestorationError) -> StateVersion? {
    defer { coder.finish() }
    guard let object else { return nil }
    let plan = node.subject.plan
    return try plan.apply(coder, to: object, plan.version(of: object), properties: plan.markedProperties(of: object))
  }
}

extension CapturedState {
  var attributes: RestorationArchive.Attributes {
    .init(classTag: shape.classTag, version: version, priority: shape.priority, model: shape.model)
  }
  @MainActor var roles: [RestorationIdentifier: RestoredChild.Role] {
    Dictionary(
      uniqueKeysWithValues: shape.children.compactMap { child in
        shape.roles[ObjectIdentifier(child)].flatMap { role in child.restoration.identifier.map { ($0, role) } }
      })
  }
  var views: [any RestorableView] { shape.views }
  var isExcluded: Bool { shape.identifier?.isEmpty ?? true }
}
