internal import RestorationArchive

/// The children or views that an object has, found by identifier in about constant time each.
@MainActor final class ChildTable<Child> {
  private let children: [Child]
  private let identifier: @MainActor (Child) -> RestorationIdentifier?
  private var next = 0
  private var table: [RestorationIdentifier: Child]?
  /// All children with each identifier, once they were asked for.
  private lazy var namesakes = children.reduce(into: [RestorationIdentifier: [Child]]()) { found, child in
    if let identifier = identifier(child) { found[identifier, default: []].append(child) }
  }

  /// Takes the children as they are.
  init(_ children: [Child], identifier: @escaping @MainActor (Child) -> RestorationIdentifier?) {
    self.children = children
    self.identifier = identifier
  }

  /// The first child with an identifier.
  ///
  /// They are mostly asked for in the order in which they stand, so the one after the last that was found is tried
  /// first; only when one is missing or out of order are all of them put in a table. Each identifier that is passed
  /// was asked for by itself, so none stands twice before the one that is found.
  func child(_ wanted: RestorationIdentifier) -> Child? {
    if table == nil, next < children.count, identifier(children[next]) == wanted {
      next += 1
      return children[next - 1]
    }
    if table == nil {
      table = Dictionary(
        children.compactMap { child in identifier(child).map { ($0, child) } },
        uniquingKeysWith: { first, _ in first })
    }
    return table?[wanted]
  }

  /// All children with an identifier, in order.
  func children(_ wanted: RestorationIdentifier) -> [Child] { namesakes[wanted] ?? [] }
}

extension ChildTable where Child == any RestorableController {
  /// Takes an object's children as they are.
  convenience init(childrenOf controller: any RestorableController) {
    self.init(controller.listedChildren) { $0.restoration.identifier }
  }
}
