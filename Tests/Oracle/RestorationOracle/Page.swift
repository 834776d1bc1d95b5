import Observation
import RestorationArchive
import StateRestoration

/// The state of a page in one version of the program.
nonisolated protocol PageState: Codable, Sendable {
  init()
  var number: Int { get set }
}

nonisolated struct FirstState: PageState { var number = 0 }
nonisolated struct SecondState: PageState { var count = 0 }
nonisolated struct ThirdState: PageState { var text = "0" }

extension SecondState {
  var number: Int {
    get { count }
    set { count = newValue }
  }
}

extension ThirdState {
  var number: Int {
    get { Int(text) ?? -1 }
    set { text = "\(newValue)" }
  }
}

/// The state's type of a version, and the way there.
@MainActor protocol Release {
  associatedtype State: PageState
  static var version: StateVersion { get }
  static var migrations: StateMigrations<State> { get }
}

enum First: Release {
  static var version: StateVersion { 1 }
  static var migrations: StateMigrations<FirstState> { .none }
}

enum Second: Release {
  static var version: StateVersion { 2 }
  @StateMigrationsBuilder static var migrations: StateMigrations<SecondState> {
    Migration(from: 1) { (old: FirstState) in SecondState(count: old.number) }
  }
}

enum Third: Release {
  static var version: StateVersion { 3 }
  @StateMigrationsBuilder static var migrations: StateMigrations<ThirdState> {
    Migration(from: 1) { (old: FirstState) in SecondState(count: old.number) }
    Migration(from: 2) { (old: SecondState) in ThirdState(text: "\(old.count)") }
  }
}

/// A controller of the program under test: a number, pages in it, and one that it presents.
@Observable @MainActor class Page: RestorationContainer {
  var restorationIdentifier: RestorationIdentifier?
  var restorationClass: RestorationClass?
  var restorationModelIdentifier: ModelIdentifier?
  private(set) var pages: [Page] = []
  private(set) var presented: Page?
  /// Called when the page is given its state.
  @ObservationIgnored var onDecode: (() -> Void)?
  @ObservationIgnored var kind = Kind.plain

  init() {}

  class var stateVersion: StateVersion { 1 }

  var value: Int {
    get { preconditionFailure("a page has a version") }
    set { preconditionFailure("a page has a version, and \(newValue) no place") }
  }

  var restorationChildren: [any RestorableController] { children }

  var children: [Page] { pages + [presented].compactMap(\.self) }

  func restorationRole(of child: any RestorableController) -> RestorationRole? {
    child === presented ? .presented : nil
  }

  func installRestoredChildren(_ restored: [RestoredChild]) {
    let contained = restored.filter { child in
      child.controller !== presented && (child.role != .presented || pages.contains { $0 === child.controller })
    }
    let found = contained.compactMap { $0.controller as? Page }
    pages = found + pages.filter { page in !found.contains { $0 === page } }
    if presented == nil {
      let others = restored.filter { child in child.role == .presented && !pages.contains { $0 === child.controller } }
      presented = others.newest as? Page
    }
  }

  func push(_ page: Page) { pages.append(page) }

  func present(_ page: Page) { presented = page }

  func remove(_ page: Page) {
    if presented === page { presented = nil }
    pages.removeAll { $0 === page }
  }

  func reverse() { pages.reverse() }

  /// The page at a path that begins below this one.
  func page(at names: some Sequence<Int>) -> Page? {
    names.reduce(self as Page?) { page, name in page?.children.first { $0.restorationIdentifier == "\(name)" } }
  }
}

@Observable class PlainPage<R: Release>: Page, StatefulController {
  override class var stateVersion: StateVersion { R.version }
  static var migrations: StateMigrations<R.State> { R.migrations }
  private var state = R.State()
  var restorableState: R.State {
    get { state }
    set {
      onDecode?()
      state = newValue
    }
  }
  override var value: Int {
    get { state.number }
    set { state.number = newValue }
  }
}

@Observable class NotePage<R: Release>: PlainPage<R> {}
@Observable final class SpecialPage<R: Release>: NotePage<R> {}
@Observable final class CardPage<R: Release>: PlainPage<R> {}

extension ProgramVersion {
  /// Makes a page of this version.
  @MainActor func page(_ name: Int, _ wanted: Kind) -> Page {
    let kind = known(wanted)
    let page: Page =
      switch number {
      case 1: Self.make(kind, First.self)
      case 2: Self.make(kind, Second.self)
      default: Self.make(kind, Third.self)
      }
    page.restorationIdentifier = RestorationIdentifier("\(name)")
    page.show(kind)
    page.restorationClass = tag(of: kind).map { RestorationClass(rawValue: $0) }
    return page
  }

  @MainActor private static func make<R: Release>(_ kind: Kind, _ release: R.Type) -> Page {
    switch kind {
    case .plain: PlainPage<R>()
    case .firstNote, .secondNote, .unnamedNote: NotePage<R>()
    case .special: SpecialPage<R>()
    case .card: CardPage<R>()
    }
  }

  /// Registers the classes of this version.
  @MainActor func register(in registry: RestorationRegistry, modelExists: @escaping @MainActor (Int) -> Bool) {
    switch number {
    case 1: register(First.self, in: registry, modelExists)
    case 2: register(Second.self, in: registry, modelExists)
    default: register(Third.self, in: registry, modelExists)
    }
  }

  @MainActor private func register<R: Release>(
    _ release: R.Type, in registry: RestorationRegistry, _ modelExists: @escaping @MainActor (Int) -> Bool
  ) {
    let tags = noteTags.map { RestorationClass(rawValue: $0) }
    let exists: RestorationRegistry.ModelCheck = { modelExists(Int($0.rawValue) ?? 0) }
    registry.register(NotePage<R>.self, as: tags[0], formerly: Array(tags.dropFirst()), onlyIf: exists)
    registry.register(SpecialPage<R>.self, as: "special", onlyIf: exists)
    if hasCards { registry.register(CardPage<R>.self, as: "card") }
  }
}

extension Page {
  /// Shows the model object of a kind.
  func show(_ kind: Kind) {
    self.kind = kind
    restorationModelIdentifier = kind.model == 0 ? nil : ModelIdentifier(rawValue: "\(kind.model)")
  }
}
