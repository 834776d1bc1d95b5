import Observation
import StateRestoration
import Testing

/// A screen with one value, noticed by observation.
@Observable final class Screen: StatefulObject, RestorationContainer, RestorationViewOwner, FinishingObject {
  nonisolated struct State: Codable, Sendable, Equatable {
    var text = ""
    var number = 0
  }

  var restoration: RestorationIdentity
  var restorableState = State()
  var restorationChildren: [any RestorableController] = []
  var restorationViews: [any RestorableView] = []
  var installed: [RestoredChild] = []
  var finishedCount = 0
  var onFinish: (() -> Void)?
  var takesChildren = true

  init(
    _ identifier: RestorationIdentifier?, text: String = "", tag: RestorationIdentity.ClassTag? = nil,
    children: [any RestorableController] = []
  ) {
    restoration = RestorationIdentity(identifier, class: tag)
    restorableState.text = text
    restorationChildren = children
  }

  /// Takes the children out of the hierarchy; they die, but for one that the test holds.
  func dropChildren(sparing spared: Screen? = nil) {
    weak let child = restorationChildren.first
    restorationChildren = []
    installed = []
    #expect(child === spared, "somebody else holds the child")
  }

  func restorationRole(of child: any RestorableController) -> RestoredChild.Role? { nil }
  func installRestoredChildren(_ children: [RestoredChild]) {
    installed = children
    guard takesChildren else { return }
    var list: [any RestorableController] = []
    for child in children { if let controller = child.controller { list.append(controller) } }
    for old in restorationChildren where !list.contains(where: { $0 === old }) { list.append(old) }
    restorationChildren = list
  }

  func applicationFinishedRestoringState() {
    finishedCount += 1
    onFinish?()
  }

  var text: String {
    get { restorableState.text }
    set { restorableState.text = newValue }
  }

  subscript(_ identifier: RestorationIdentifier) -> Screen? {
    for case let screen as Screen in restorationChildren where screen.restoration.identifier == identifier {
      return screen
    }
    return nil
  }
}

/// A view with one value.
@Observable final class Field: RestorableView, StatefulObject {
  var restoration: RestorationIdentity
  var restorableState = 0

  init(_ identifier: RestorationIdentifier?, _ value: Int = 0) {
    restoration = RestorationIdentity(identifier)
    restorableState = value
  }
}

/// A controller that codes by hand, notes the order of calls, and can refer to others.
class Panel: CodingObject, RestorationParent, FinishingObject {
  class var version: StateVersion { 1 }
  var restoration: RestorationIdentity
  var tag: RestorationIdentity.ClassTag? {
    get { restoration.class }
    set { restoration.class = newValue }
  }
  var value = 0
  weak var friend: (any RestorableObject)?
  var strongFriend: (any RestorableObject)?
  var restorationChildren: [any RestorableController] = []
  var journal: Journal?
  var failsDecoding = false
  var onDecode: (() -> Void)?

  init(_ identifier: RestorationIdentifier?, value: Int = 0, journal: Journal? = nil) {
    restoration = RestorationIdentity(identifier, version: Self.version)
    self.value = value
    self.journal = journal
  }

  func encodeRestorableState(with coder: RestorationEncoder) {
    journal?.add("encode \(restoration.identifier?.rawValue ?? "-")")
    coder.encode(value, forKey: "value")
    if let friend = friend ?? strongFriend { coder.encodeReference(to: friend, forKey: "friend") }
  }

  func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    journal?.add("decode \(restoration.identifier?.rawValue ?? "-")")
    onDecode?()
    if failsDecoding { throw RestorationError(.invalidState, "as the test wants") }
    value = try coder.decode(forKey: "value")
    if coder.contains("friend") {
      strongFriend = try coder.reference(to: (any RestorableObject).self, forKey: "friend")
    }
  }

  func applicationFinishedRestoringState() {
    journal?.add("finished \(restoration.identifier?.rawValue ?? "-")")
  }
}

/// A panel of a later program.
final class NewerPanel: Panel {
  override class var version: StateVersion { 2 }
}

/// The order of callbacks.
@MainActor final class Journal {
  private(set) var lines: [String] = []

  var onLine: ((String) -> Void)?

  func add(_ line: String) {
    lines.append(line)
    onLine?(line)
  }

  func take() -> [String] {
    defer { lines = [] }
    return lines
  }
}
