import Observation
import StateRestoration

/// A controller of the model test: a number, pages in it, and what it presents.
///
/// Each version of the program has a class of its own, which stores the number in its own way.
@Observable class Page: ContainerController {
  private(set) var pages: [Page] = []

  /// The number, however it is stored.
  var value: Int {
    get { preconditionFailure("a page has a version") }
    set { preconditionFailure("a page has a version, and \(newValue) no place") }
  }

  override var containedControllers: [any RestorableController] { pages }

  override func install(_ children: [RestoredChild]) {
    let restored = children.compactMap { $0.controller as? Page }
    pages = restored + pages.filter { page in !restored.contains { $0 === page } }
  }

  func push(_ page: Page) { pages.append(page) }

  func remove(_ page: Page) {
    if presentedController === page { dismiss() }
    pages.removeAll { $0 === page }
  }

  func reverse() { pages.reverse() }

  /// All pages in the order of the oracle: a page, what is in it, what it presents.
  var all: [Page] { [self] + pages.flatMap(\.all) + ((presentedController as? Page)?.all ?? []) }

  func child(_ identifier: RestorationIdentifier) -> Page? {
    (pages + [presentedController as? Page].compactMap { $0 }).first { $0.restorationIdentifier == identifier }
  }

  var summary: String {
    var parts = pages.map(\.summary)
    if let presented = presentedController as? Page { parts.append("^" + presented.summary) }
    return "\(restorationIdentifier?.rawValue ?? "-")=\(value)"
      + (parts.isEmpty ? "" : "(\(parts.joined(separator: " ")))")
  }

  static func make(_ identifier: RestorationIdentifier?, version: Int) -> Page {
    switch version {
    case 1: FirstPage(restorationIdentifier: identifier)
    case 2: SecondPage(restorationIdentifier: identifier)
    default: ThirdPage(restorationIdentifier: identifier)
    }
  }
}

nonisolated struct FirstState: Codable, Sendable { var value = 0 }
nonisolated struct SecondState: Codable, Sendable { var number = 0 }
nonisolated struct ThirdState: Codable, Sendable { var text = "0" }

@Observable final class FirstPage: Page, StatefulController {
  override class var stateVersion: StateVersion { 1 }
  static var migrations: StateMigrations<FirstState> { StateMigrations<FirstState>.none }
  var restorableState = FirstState()
  override var value: Int {
    get { restorableState.value }
    set { restorableState.value = newValue }
  }
}

@Observable final class SecondPage: Page, StatefulController {
  override class var stateVersion: StateVersion { 2 }
  static var migrations: StateMigrations<SecondState> {
    Migration(from: 1) { (old: FirstState) in SecondState(number: old.value) }
  }
  var restorableState = SecondState()
  override var value: Int {
    get { restorableState.number }
    set { restorableState.number = newValue }
  }
}

@Observable final class ThirdPage: Page, StatefulController {
  override class var stateVersion: StateVersion { 3 }
  static var migrations: StateMigrations<ThirdState> {
    Migration(from: 1) { (old: FirstState) in SecondState(number: old.value) }
    Migration(from: 2) { (old: SecondState) in ThirdState(text: "\(old.number)") }
  }
  var restorableState = ThirdState()
  override var value: Int {
    get { Int(restorableState.text) ?? -1 }
    set { restorableState.text = "\(newValue)" }
  }
}
