// A to-do list in a terminal. Kill it at any time, and start it again.
// usage: todo [FILE]
// commands: a number selects · open · back · done · tab · add · in the second tab any other text goes into the draft
import Foundation
import StateRestoration

/// The items are the user's document: they lie in a file of their own, not in the state.
final class Items: DataSourceModelAssociation {
  let file = URL(filePath: CommandLine.arguments.dropFirst().first ?? "todo.txt")
  lazy var titles = ((try? String(contentsOf: file, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)

  func save() throws { try titles.map { $0 + "\n" }.joined().write(to: file, atomically: true, encoding: .utf8) }

  func row(of title: String) -> IndexPath? { titles.firstIndex(of: title).map { [0, $0] } }

  func modelIdentifier(forElementAt path: IndexPath, in list: ListController) -> ModelIdentifier? {
    titles.indices.contains(path[1]) ? ModelIdentifier(titles[path[1]]) : nil
  }

  func indexPath(forElementWithModelIdentifier item: ModelIdentifier, in list: ListController) -> IndexPath? {
    row(of: item.rawValue)
  }
}

let items = Items()
let list = ListController("list", association: items)

/// Tells the list which items there are; its selection follows its item.
@MainActor func showItems() { list.dataSourceDidLoad(elementCounts: [items.titles.count]) }

@MainActor func change(_ edit: () -> Void) throws {
  edit()
  showItems()
  try items.save()
}

/// The screen of one item, which lies on the stack while it is shown.
final class ItemScreen: RestorableController {
  let title: String
  var restoration: RestorationIdentity { RestorationIdentity(title, class: "item") }

  init(title: String) { self.title = title }
}

let stack = NavigationController("stack", root: list)
let registry = RestorationRegistry()
registry.register(ItemScreen.self, as: "item") { path, _ in path.last.map { ItemScreen(title: $0.rawValue) } }

let draft = StoredValue("draft", "")
let tabs = TabController("tabs", tabs: [stack, draft])

@MainActor func draw() {
  print(tabs.selected === stack ? "\n[Items]  New" : "\n Items  [New]")
  if tabs.selected === draft {
    print("Draft: \(draft.value)")
  } else if let screen = stack.top as? ItemScreen {
    print("Item: \(screen.title)")
  } else {
    for (row, title) in items.titles.enumerated() {
      print(list.selection == [[0, row]] ? ">" : " ", row + 1, title)
    }
  }
}

@MainActor func handle(_ line: String) throws {
  let isListShown = tabs.selected === stack && stack.top === list
  switch (line, list.selection.first) {
  case ("tab", _): tabs.select(tabs.selected === stack ? 1 : 0)
  case ("back", _): stack.pop()
  case ("open", let path?) where isListShown: stack.push(ItemScreen(title: items.titles[path[1]]))
  case ("done", let path?) where isListShown: try change { items.titles.remove(at: path[1]) }
  case ("add", _) where !draft.value.isEmpty && items.row(of: draft.value) == nil:
    try change { items.titles.insert(draft.value, at: 0) }
    draft.value = ""
  case _ where tabs.selected === draft: draft.value += line
  default: if let number = Int(line) { list.select([[0, number - 1]]) }
  }
}

try await RestorationSession.run(at: .applicationState("com.example.todo"), root: tabs, registry: registry) { _ in
  showItems()
  draw()
  while let line = await Task.detached(operation: { readLine() }).value {
    try handle(line)
    draw()
  }
}
