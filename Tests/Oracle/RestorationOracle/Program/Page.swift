import Observation
import RestorationArchive
import StateRestoration
import Synchronization

/// What a page has: the items that the user typed, and so many bytes of filling.
struct PageContent: Hashable, Sendable {
  var items: [Int] = []
  var filling = 0
  var isUnencodable = false
  var isRefused = false
}

/// Whether the program fails to decode some values: decoding happens on several threads.
let isProgramStrict = Mutex(false)

/// Whether the program writes what can be found in the bytes of a file: a word for each item.
let isProgramWordy = Mutex(false)

/// The word of an item.
func word(_ item: Int) -> String { "item\(item)." }

private struct OracleError: Error {}

private let longestFilling = String(repeating: "x", count: 300_000)

/// A text of so many bytes.
private func filling(_ count: Int) -> String {
  String(longestFilling.utf8.prefix(count)) ?? ""
}

/// The state of a page in one version of the program.
protocol PageState: Codable, Sendable {
  init()
  var content: PageContent { get set }
}

struct FirstState: PageState {
  var content = PageContent()
  private enum CodingKeys: CodingKey { case items, filling, isRefused, words }
  init() {}
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    content.items = try container.decode([Int].self, forKey: .items)
    content.filling = try container.decode(String.self, forKey: .filling).utf8.count
    content.isRefused = try container.decode(Bool.self, forKey: .isRefused)
    if content.isRefused, isProgramStrict.withLock({ $0 }) { throw OracleError() }
  }
  func encode(to encoder: any Encoder) throws {
    if content.isUnencodable { throw OracleError() }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(content.items, forKey: .items)
    try container.encode(filling(content.filling), forKey: .filling)
    try container.encode(content.isRefused, forKey: .isRefused)
    if isProgramWordy.withLock({ $0 }) { try container.encode(content.items.map(word).joined(), forKey: .words) }
  }
}

/// The second version has the first one's state under a key.
struct SecondState: PageState, VersionedState {
  static var stateVersion: StateVersion { 2 }
  static var migrations: StateMigrations<SecondState> {
    StateMigrations(from: 1) { (old: FirstState) in
      var new = SecondState()
      new.first = old
      return new
    }
  }

  var first = FirstState()
  var content: PageContent {
    get { first.content }
    set { first.content = newValue }
  }
}

/// The third version adds a field.
struct ThirdState: PageState, VersionedState {
  static var stateVersion: StateVersion { 3 }
  static var migrations: StateMigrations<ThirdState> {
    StateMigrations(from: 1) { (old: FirstState) in
      var new = SecondState()
      new.first = old
      return new
    }
    .then { (old: SecondState) in
      var new = ThirdState()
      new.second = old
      return new
    }
  }

  var second = SecondState()
  var title = ""
  var content: PageContent {
    get { second.content }
    set { second.content = newValue }
  }
}

/// A controller of the program under test: its content, and pages in it.
@Observable @MainActor class Page: RestorationContainer {
  var restoration = RestorationIdentity(nil)
  private(set) var pages: [Page] = [] { didSet { namesHaveChanged() } }
  /// The first page of each name, once it was looked for among very many.
  @ObservationIgnored private var firstOfNames: [String: Page]?
  /// Whether its parent presents it.
  var isPresented = false
  /// Called when the page is given its state.
  @ObservationIgnored var onDecode: (() -> Void)?
  @ObservationIgnored var kind = PageClass.plain

  init() {}

  var content = PageContent()

  var restorationChildren: [any RestorableController] { pages }

  func restorationRole(of child: any RestorableController) -> RestoredChild.Role? {
    (child as? Page)?.isPresented == true ? .presented : nil
  }

  func installRestoredChildren(_ restored: [RestoredChild]) {
    var list: [Page] = []
    for child in restored {
      guard let page = child.controller as? Page else { continue }
      page.isPresented = child.role == .presented
      list.append(page)
    }
    let restored = Set(list.map(ObjectIdentifier.init))
    pages = list + pages.filter { !restored.contains(ObjectIdentifier($0)) }
  }

  func push(_ page: Page) { pages.append(page) }

  func remove(_ page: Page) { pages.removeAll { $0 === page } }

  func reverse() { pages.reverse() }

  var name: String { restoration.identifier?.rawValue ?? "" }

  /// The page at a path that begins below this one; of two with one name the first.
  func page(at names: some Sequence<String>) -> Page? {
    var page = self
    for name in names {
      guard let next = page.page(named: name) else { return nil }
      page = next
    }
    return page
  }

  private func page(named name: String) -> Page? {
    guard pages.count > 16 else { return pages.first { $0.name == name } }
    let known = firstOfNames ?? Dictionary(pages.map { ($0.name, $0) }) { first, _ in first }
    firstOfNames = known
    return known[name]
  }

  /// A page in this one has another name, or there are others.
  func namesHaveChanged() { firstOfNames = nil }
}

/// The state's type of a version, which knows the way there.
@MainActor protocol Release {
  associatedtype State: PageState
}

enum First: Release { typealias State = FirstState }

enum Second: Release { typealias State = SecondState }

enum Third: Release { typealias State = ThirdState }

/// A page with the state of a version.
///
/// Its values are those of the page itself: the key path of a generic class's property is made anew with each access.
class VersionedPage<R: Release>: Page, StatefulObject {
  var restorableState: R.State {
    get {
      var state = R.State()
      state.content = content
      return state
    }
    set {
      onDecode?()
      content = newValue.content
    }
  }
}

/// The classes of a version.
///
/// Their plain names are the same in all versions.
enum Pages<R: Release> {
  final class Plain: VersionedPage<R> {}
  class Note: VersionedPage<R> {}
  final class Special: Note {}
  final class Card: VersionedPage<R> {}
  final class Sketch: VersionedPage<R> {}
  final class Drawing: VersionedPage<R> {}
  final class Diary: VersionedPage<R>, MergingObject {
    func merged(stored: R.State, pending: R.State) -> R.State {
      var joined = stored
      joined.content.items = (stored.content.items + pending.content.items).distinct
      joined.content.filling = max(stored.content.filling, pending.content.filling)
      joined.content.isUnencodable = stored.content.isUnencodable || pending.content.isUnencodable
      joined.content.isRefused = stored.content.isRefused || pending.content.isRefused
      return joined
    }
  }
}

extension ProgramVersion {
  /// Makes a page of this version.
  @MainActor func page(_ name: String, _ wanted: PageClass, model: String?) -> Page {
    let kind = known(wanted)
    let page: Page =
      switch number {
      case 1: make(kind, First.self)
      case 2: make(kind, Second.self)
      default: make(kind, Third.self)
      }
    page.restoration.identifier = RestorationIdentifier(name)
    page.restoration.model = model.map { ModelIdentifier(rawValue: $0) }
    page.kind = kind
    page.restoration.class = hasTag(kind) ? RestorationIdentity.ClassTag(rawValue: tag(of: kind)) : nil
    return page
  }

  @MainActor private func make<R: Release>(_ kind: PageClass, _ release: R.Type) -> Page {
    switch kind {
    case .plain: Pages<R>.Plain()
    case .note: Pages<R>.Note()
    case .special: Pages<R>.Special()
    case .card: Pages<R>.Card()
    case .diary: Pages<R>.Diary()
    case .sketch: number == 1 ? Pages<R>.Sketch() : Pages<R>.Drawing()
    }
  }

  /// Registers the classes of this version.
  @MainActor func register(
    in registry: RestorationRegistry, modelExists: @escaping @MainActor (String) -> Bool,
    make: @escaping @MainActor ([String], PageClass) -> Page?
  ) {
    switch number {
    case 1: register(First.self, in: registry, modelExists, make)
    case 2: register(Second.self, in: registry, modelExists, make)
    default: register(Third.self, in: registry, modelExists, make)
    }
  }

  @MainActor private func register<R: Release>(
    _ release: R.Type, in registry: RestorationRegistry, _ modelExists: @escaping @MainActor (String) -> Bool,
    _ make: @escaping @MainActor ([String], PageClass) -> Page?
  ) {
    let tags = noteTags.map { RestorationIdentity.ClassTag(rawValue: $0) }
    let exists: @MainActor (ModelIdentifier) -> Bool = { modelExists($0.rawValue) }
    registry.register(Pages<R>.Note.self, as: tags[0], formerly: Array(tags.dropFirst()), onlyIf: exists) { path, _ in
      make(path.names, .note) as? Pages<R>.Note
    }
    registry.register(
      Pages<R>.Special.self, as: "special", freshFor: .seconds(Self.freshFor), onlyIf: exists
    ) { path, _ in
      make(path.names, .special) as? Pages<R>.Special
    }
    registry.register(Pages<R>.Diary.self, as: "diary")
    if known(.card) == .card { registry.register(Pages<R>.Card.self, as: "card") }
    if number > 1 { registry.register(Pages<R>.Drawing.self, as: "drawing", formerly: ["Sketch"]) }
  }
}

extension RestorationPath {
  /// The names as the oracle has them.
  var names: [String] { components.map(\.rawValue) }

  init(_ path: PagePath) { self.init(path.names.map { RestorationIdentifier($0) }) }
}
