import Observation
import StateRestoration

/// A controller that preserves its state in one of the ways.
@MainActor
protocol CaptureLeaf: RestorableController {
  init(_ node: Node<Typical.State>)
  /// Changes the state, so that the controller is dirty.
  func touch()
}

@MainActor
final class OneValue: RestorableController, StatefulObject, CaptureLeaf {
  let restoration: RestorationIdentity
  var restorableState: Typical.State

  init(_ node: Node<Typical.State>) {
    restoration = RestorationIdentity(node.identifier)
    restorableState = node.state
  }

  func touch() { restorableState.selection &+= 1 }
}

/// A few numbers.
struct SmallState: Codable, Sendable {
  var selection: Int
  var scrollX: Double
  var scrollY: Double
  var isEditing: Bool
}

@MainActor
final class SmallValue: RestorableController, StatefulObject, CaptureLeaf {
  let restoration: RestorationIdentity
  var restorableState: SmallState

  init(_ node: Node<Typical.State>) {
    restoration = RestorationIdentity(node.identifier)
    restorableState = SmallState(
      selection: node.state.selection, scrollX: node.state.scrollX, scrollY: node.state.scrollY,
      isEditing: node.state.isEditing)
  }

  func touch() { restorableState.selection &+= 1 }
}

@MainActor @Observable
final class ObservedValue: RestorableController, StatefulObject, CaptureLeaf {
  @ObservationIgnored let restoration: RestorationIdentity
  var restorableState: Typical.State

  init(_ node: Node<Typical.State>) {
    restoration = RestorationIdentity(node.identifier)
    restorableState = node.state
  }

  func touch() { restorableState.selection &+= 1 }
}

/// Seven values, each a property of its own.
struct SevenValues: Codable, Sendable {
  var selection: Int
  var scrollX: Double
  var scrollY: Double
  var title: String
  var isEditing: Bool
  var expanded: [Int]
  var recent: [String]
}

@MainActor @Observable
final class ObservedProperties: RestorableController, StatefulObject, CaptureLeaf {
  @ObservationIgnored let restoration: RestorationIdentity
  var selection: Int
  var scrollX: Double
  var scrollY: Double
  var title: String
  var isEditing: Bool
  var expanded: [Int]
  var recent: [String]

  var restorableState: SevenValues {
    get {
      SevenValues(
        selection: selection, scrollX: scrollX, scrollY: scrollY, title: title, isEditing: isEditing,
        expanded: expanded, recent: recent)
    }
    set { selection = newValue.selection }
  }

  init(_ node: Node<Typical.State>) {
    restoration = RestorationIdentity(node.identifier)
    selection = node.state.selection
    scrollX = node.state.scrollX
    scrollY = node.state.scrollY
    title = node.state.title
    isEditing = node.state.isEditing
    expanded = node.state.expanded
    recent = node.state.recent
  }

  func touch() { selection &+= 1 }
}

@MainActor
final class Keyed: RestorableController, CodingObject, CaptureLeaf {
  let restoration: RestorationIdentity
  private var state: Typical.State

  init(_ node: Node<Typical.State>) {
    restoration = RestorationIdentity(node.identifier)
    state = node.state
  }

  func encodeRestorableState(with coder: RestorationEncoder) {
    coder.encode(state.selection, forKey: "selection")
    coder.encode(state.scrollX, forKey: "scrollX")
    coder.encode(state.scrollY, forKey: "scrollY")
    coder.encode(state.title, forKey: "title")
    coder.encode(state.isEditing, forKey: "isEditing")
    coder.encode(state.expanded, forKey: "expanded")
    coder.encode(state.recent, forKey: "recent")
  }

  func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {}

  func touch() { state.selection &+= 1 }
}

@MainActor
final class Marked: RestorableController, CaptureLeaf {
  let restoration: RestorationIdentity
  @Restored("selection") var selection = 0
  @Restored("scrollX") var scrollX = 0.0
  @Restored("scrollY") var scrollY = 0.0
  @Restored("title") var title = ""
  @Restored("isEditing") var isEditing = false
  @Restored("expanded") var expanded: [Int] = []
  @Restored("recent") var recent: [String] = []

  init(_ node: Node<Typical.State>) {
    restoration = RestorationIdentity(node.identifier)
    selection = node.state.selection
    scrollX = node.state.scrollX
    scrollY = node.state.scrollY
    title = node.state.title
    isEditing = node.state.isEditing
    expanded = node.state.expanded
    recent = node.state.recent
  }

  func touch() { selection &+= 1 }
}
