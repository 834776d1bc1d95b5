import Foundation
import StateRestoration

struct QuickStartSnippets {
  @MainActor func quickStart() async throws {
    // snippet: QuickStart
    let draft = StoredValue("draft", "")

    try await RestorationSession.run(at: .applicationState("com.example.draft"), root: draft) { session in
      print(session.report)  // what came back, what did not and why
      print(draft.value, terminator: "")
      while let line = await Task.detached(operation: { readLine() }).value {
        draft.value += line + "\n"
      }
    }
    // snippet end
  }

  @MainActor func toDo(store: Store, settings: StoredValue<Bool>) async throws {
    // snippet: ToDo
    let list = ListController(restorationIdentifier: "items", association: store)
    let stack = NavigationController(restorationIdentifier: "stack", root: list)
    let tabs = TabController(restorationIdentifier: "tabs", tabs: [stack, settings])
    let registry = RestorationRegistry()
    registry.register(ItemScreen.self, as: "item") { _, coder in coder.modelIdentifier.map(ItemScreen.init) }

    try await RestorationSession.run(at: .applicationState("com.example.todo"), root: tabs, registry: registry) { _ in
      list.dataSourceDidLoad(elementCounts: [store.items.count])
      await show(tabs)
    }
    // snippet end
  }

  // snippet: ToDoItem
  final class ItemScreen: RestorableController {
    let item: ModelIdentifier
    var restorationIdentifier: RestorationIdentifier? { "item \(item)" }
    let restorationClass: RestorationClass? = "item"
    var restorationModelIdentifier: ModelIdentifier? { item }
    @Restored("draft") var draft = ""

    init(item: ModelIdentifier) { self.item = item }
  }
  // snippet end

  @MainActor final class Store: DataSourceModelAssociation {
    var items: [ModelIdentifier] = []

    // snippet: ToDoRows
    func modelIdentifier(forElementAt path: IndexPath) -> ModelIdentifier? { items[path[1]] }
    func indexPath(forElementWithModelIdentifier item: ModelIdentifier) -> IndexPath? {
      items.firstIndex(of: item).map { [0, $0] }
    }
    // snippet end
  }

  @MainActor func show(_ tabs: TabController) async {}

  // snippet: Parts
  final class AppDelegate: RestorationCoordinatorDelegate {
    func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
    func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }
  }

  @MainActor func run(_ window: WindowController, delegate: AppDelegate) async throws {
    let device = try await ProtectedDevice.open(at: .applicationState("com.example.notes"))
    let restorer = try RestorationCoordinator(device: device, delegate: delegate)
    let report = try await restorer.restore(into: window)
    print(report)  // what came back, what did not and why

    restorer.preservesAutomatically = .onChange(coalescedOver: .seconds(1))
    let outcome = try await restorer.preserve()
    print(outcome)  // what was saved, and whether it would survive a power cut
  }
  // snippet end

  // snippet: Scope
  @MainActor func readByKey(at location: DeviceLocation) async throws {
    let scope = RestorationScope("window")
    let session = try await RestorationSession.open(at: location, root: scope)
    let width = scope.value(forKey: "width", default: 80)
    scope.setValue(width + 1, forKey: "width")
    let pane = scope.scope("pane")
    if let text = try pane.value(ofType: String.self, forKey: "text") { print(text) }
    try await session.close()
  }
  // snippet end
}
