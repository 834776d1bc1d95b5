import StateRestoration

// A declarative toolkit in 150 lines. Views are values that are made anew for every frame, so nothing of theirs outlives one:
// what has to come back lies in a scope, under the path of names that leads to the view.

/// Something on the screen, made of other views.
@MainActor protocol View {
  @ViewBuilder var body: [any View] { get }
}

@resultBuilder enum ViewBuilder {
  static func buildExpression(_ view: any View) -> [any View] { [view] }
  static func buildExpression(_ views: [any View]) -> [any View] { views }
  static func buildBlock(_ views: [any View]...) -> [any View] { views.flatMap { $0 } }
  static func buildArray(_ views: [[any View]]) -> [any View] { views.flatMap { $0 } }
  static func buildOptional(_ views: [any View]?) -> [any View] { views ?? [] }
}

/// A line of text.
struct Text: View {
  let line: String
  init(_ line: String) { self.line = line }
  var body: [any View] { [] }
}

/// Something that the keyboard can be on.
struct Button: View {
  let label: String
  let action: @MainActor () -> Void
  var body: [any View] { [] }
}

/// A line of text that is edited.
struct TextField: View {
  let label: String
  let text: Binding<String>
  var body: [any View] { [] }
}

/// A view under a name of its own, which a list of views needs: by its number the third would take over what the second had.
struct Named: View {
  let name: String
  let view: any View
  var body: [any View] { [view] }
}

extension View {
  func id(_ name: String) -> Named { Named(name: name, view: self) }
}

struct Binding<Value> {
  let get: @MainActor () -> Value
  let set: @MainActor (Value) -> Void
}

/// A property of a view that comes back, in whatever program the view is used.
@MainActor @propertyWrapper struct SceneStorage<Value: Codable & Sendable>: SceneProperty {
  private final class Link { var stored: StoredValue<Value>? }
  private let link = Link()
  private let key: String
  private let fallback: Value

  init(wrappedValue: Value, _ key: String) { (self.key, fallback) = (key, wrappedValue) }

  /// Called before each body: the view is new, its place is not.
  func connect(to scope: RestorationScope) { link.stored = scope.value(key, default: fallback) }

  var wrappedValue: Value {
    get { link.stored?.value ?? fallback }
    nonmutating set { link.stored?.value = newValue }
  }
  var projectedValue: Binding<Value> { Binding(get: { wrappedValue }, set: { wrappedValue = $0 }) }
}

@MainActor protocol SceneProperty { func connect(to scope: RestorationScope) }

/// The screen: draws views, and has the focus and the carets.
@MainActor final class Screen {
  /// Everything that comes back.
  let scope = RestorationScope("screen")
  private let content: any View
  /// The path of the view that has the keyboard.
  ///
  /// A view that is not there yet gets it when it comes.
  private lazy var focus = scope.value("focus", default: "")

  private struct Stop {
    let path: String
    let press: @MainActor (String) -> Void
  }
  private var stops: [Stop] = []

  init(_ content: any View) { self.content = content }

  /// Makes a frame, and shows it.
  func draw() {
    stops = []
    var lines: [String] = []
    visit(content, "content", "content", scope, &lines)
    print(lines.joined(separator: "\n") + "\n")
  }

  /// Takes a key or a text: `tab` goes on to the next stop, everything else is for the one that has the focus.
  func press(_ key: String) {
    let index = stops.firstIndex { $0.path == focus.value }
    if key == "tab", !stops.isEmpty {
      focus.value = stops[((index ?? -1) + 1) % stops.count].path
    } else if let index {
      stops[index].press(key)
    }
  }

  private func visit(
    _ view: any View, _ name: String, _ path: String, _ scope: RestorationScope, _ lines: inout [String]
  ) {
    let mark = path == focus.value ? ">" : " "
    switch view {
    case let text as Text: lines.append("  " + text.line)
    case let button as Button:
      lines.append("\(mark) [\(button.label)]")
      stops.append(Stop(path: path) { if $0 == "enter" { button.action() } })
    case let field as TextField:
      let caret = scope.value("caret of \(name)", default: 0)
      var text = field.text.get()
      let place = text.index(text.startIndex, offsetBy: min(max(caret.value, 0), text.count))
      stops.append(Stop(path: path) { Self.edit(field.text, caret, $0) })
      if mark == ">" { text.insert("|", at: place) }
      lines.append("\(mark) \(field.label): \(text)")
    default:
      let inner = scope.scope(name)
      for child in Mirror(reflecting: view).children { (child.value as? any SceneProperty)?.connect(to: inner) }
      var counts: [Substring: Int] = [:]
      for child in view.body {
        // Without what is in angle brackets, which changes with every edit of the view.
        let kind = "\(type(of: child))".prefix { $0 != "<" }
        counts[kind, default: 0] += 1
        let name = (child as? Named)?.name ?? "\(kind) \(counts[kind, default: 0])"
        visit((child as? Named)?.view ?? child, name, "\(path)/\(name)", inner, &lines)
      }
    }
  }

  private static func edit(_ text: Binding<String>, _ caret: StoredValue<Int>, _ key: String) {
    var characters = Array(text.get())
    // The text may be another one than the caret was in.
    let place = min(max(caret.value, 0), characters.count)
    switch key {
    case "left": caret.value = max(place - 1, 0)
    case "right": caret.value = min(place + 1, characters.count)
    default:
      characters.insert(contentsOf: key, at: place)
      text.set(String(characters))
      caret.value = place + key.count
    }
  }
}
