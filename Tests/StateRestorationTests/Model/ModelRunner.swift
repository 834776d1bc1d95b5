import StateRestoration
import StateRestorationTesting

/// Runs a script on the engine over a protected device and on the model, and says where they differ.
@MainActor final class ModelRunner {
  private let bench: Bench
  private var model = StateModel()
  private var coordinator: RestorationCoordinator
  private var root: Page
  /// The name of the pages that nobody makes until the state of this run has come.
  private var hiding: Int?

  init() async throws {
    bench = try await Bench(.device)
    coordinator = bench.launch()
    root = Page.make("0", version: 1)
    bench.delegate.make = { [unowned self] path, _ in make(path) }
  }

  /// The first difference; nil when there is none.
  static func difference(_ steps: [ModelStep]) async -> String? {
    var number = 0
    do {
      let runner = try await ModelRunner()
      for step in steps {
        if let difference = try await runner.run(step) { return "step \(number) \(step): \(difference)" }
        // What turns up in one step is seen before the user does the next one.
        for _ in 0..<3 { await Task.yield() }
        number += 1
      }
      return nil
    } catch {
      return "step \(number) threw \(error)"
    }
  }

  private func make(_ path: RestorationPath) -> Page? {
    guard path.components.count > 1, path.last?.rawValue != hiding.map(String.init) else { return nil }
    let exists = path.components.dropFirst().reduce(root as Page?) { $0?.child($1) } != nil
    return exists ? nil : Page.make(path.last, version: model.version)
  }

  private func pick(_ number: Int) -> (StateModel.Node, Page) {
    let nodes = model.root.live
    return (nodes[number % nodes.count], root.all[number % nodes.count])
  }

  private func run(_ step: ModelStep) async throws -> String? {
    guard model.root.live.count == root.all.count else { return compare() }
    switch step {
    case .push(let parent, let name):
      let (node, page) = pick(parent)
      if model.push(name, on: node) { page.push(makeNew(name)) }
    case .present(let parent, let name):
      let (node, page) = pick(parent)
      if let hidden = node.presented?.hiddenCount, hidden > 0 { return try await dismiss(node, page) }
      if !model.isDeferred, model.present(name, on: node) { page.present(makeNew(name)) }
    case .dismiss(let parent):
      let (node, page) = pick(parent)
      return try await dismiss(node, page)
    case .pop(let number):
      let (node, page) = pick(number)
      guard model.pop(node) else { return nil }
      for above in root.all { above.remove(page) }
      return try await settle(node)
    case .edit(let number, let value):
      let (node, page) = pick(number)
      model.edit(node, value)
      page.value = value
    case .rename(let number, let name):
      let (node, page) = pick(number)
      if model.rename(node, to: name) { page.restorationIdentifier = RestorationIdentifier("\(name)") }
    case .move(let number, let target):
      let (node, page) = pick(number)
      let (parent, parentPage) = pick(target)
      if model.move(node, to: parent) {
        for above in root.all { above.remove(page) }
        parentPage.push(page)
      }
    case .reverse(let number):
      let (node, page) = pick(number)
      model.reverse(node)
      page.reverse()
    case .save: return try await save()
    case .failingSave: return await failingSave()
    case .lock:
      model.lock()
      try await bench.lock()
    case .unlock:
      model.unlock(hiding: hiding)
      try await bench.unlock(coordinator)
      hiding = nil
      return compare()
    case .kill(let version, let hiding):
      try await bench.kill()
      return try await launch(version, hiding)
    case .cutPower(let version, let hiding):
      try await bench.cutPower()
      model.lock()
      return try await launch(version, hiding)
    case .restoreRunning:
      guard !model.isLocked else { return nil }
      if let difference = try await save() { return difference }
      model.restoreRunning()
      _ = try await coordinator.restore(into: root)
      return compare()
    }
    return nil
  }

  private func dismiss(_ node: StateModel.Node, _ page: Page) async throws -> String? {
    let presented = node.presented
    model.dismiss(node)
    page.dismiss()
    guard let presented else { return nil }
    return try await settle(presented)
  }

  /// Saves if something carried over left with a node: whoever comes to its place before the next capture may have it.
  private func settle(_ removed: StateModel.Node) async throws -> String? {
    removed.hiddenCount > 0 ? try await save() : nil
  }

  private func makeNew(_ name: Int) -> Page { Page.make(RestorationIdentifier("\(name)"), version: model.version) }

  private func save() async throws -> String? {
    let outcome = try await coordinator.preserve(root)
    switch outcome {
    case .declined: return "declined"
    case .deferred where !model.isDeferred: return "\(outcome)"
    case .preserved where model.isDeferred && !model.isTouched: return "nothing was touched: \(outcome)"
    case .unchanged: break
    default: if !model.isDeferred || model.isTouched { model.save() }
    }
    return nil
  }

  /// A save on a disk that can't be written, which must leave what is there.
  private func failingSave() async -> String? {
    bench.device?.failDisk(.readOnly)
    defer { bench.device?.healDisk() }
    guard let outcome = try? await coordinator.preserve(root) else {
      model.failSave()
      return nil
    }
    switch outcome {
    case .unchanged, .deferred: break
    default: return "\(outcome) on a disk that can't be written"
    }
    return nil
  }

  private func launch(_ version: Int, _ hiding: Int?) async throws -> String? {
    let hadState = model.hasState
    model.relaunch(version: version, hiding: hiding)
    self.hiding = hiding
    root = Page.make("0", version: version)
    bench.configuration.applicationVersion = ApplicationVersion("\(version).0")
    coordinator = bench.launch()
    let report = try await coordinator.restore(into: root)
    let expected: RestorationOutcome =
      model.isDeferred ? .locked : hadState ? .restored : .nothingPreserved
    guard report.outcome == expected else { return "expected \(expected): \(report)" }
    if !model.isDeferred { self.hiding = nil }
    return compare()
  }

  private func compare() -> String? {
    let expected = model.description
    let found = root.summary
    return expected == found ? nil : "expected \(expected), found \(found)"
  }
}
