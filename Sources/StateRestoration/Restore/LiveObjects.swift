/// The live objects of a plan's nodes: held while a restoration's turn lasts, by whoever installed them afterwards.
@MainActor struct LiveObjects {
  /// A live object that somebody else owns.
  struct Living {
    weak var object: (any RestorableObject)?
  }

  /// An object with its conformances, so that nobody has to ask the runtime again.
  private enum Held {
    case none
    case controller(any RestorableController)
    case other(any RestorableObject)
  }

  private var held: [Held]
  private var living: [Living] = []

  init(count: Int) {
    held = Array(repeating: .none, count: count)
  }

  /// The object of a node; nil while there is none.
  subscript(index: Int) -> (any RestorableObject)? {
    switch held[index] {
    case .controller(let controller): controller
    case .other(let object): object
    case .none: living.isEmpty ? nil : living[index].object
    }
  }

  /// The object of a node when it is a controller.
  func controller(at index: Int) -> (any RestorableController)? {
    if case .controller(let controller) = held[index] { return controller }
    return self[index] as? any RestorableController
  }

  /// Holds a node's controller.
  mutating func hold(_ controller: any RestorableController, at index: Int) { held[index] = .controller(controller) }

  /// Holds a node's object of any kind.
  mutating func hold(_ object: any RestorableObject, at index: Int) { held[index] = .other(object) }

  /// Gives up the object held for a node.
  mutating func drop(_ index: Int) { held[index] = .none }

  /// Forgets a node's object, whoever owns it.
  mutating func clear(_ index: Int) {
    held[index] = .none
    if !living.isEmpty { living[index] = Living() }
  }

  /// Lets go of the objects after a turn, so that what nobody installed dies, and what leaves the hierarchy later.
  mutating func letGo(_ range: Range<Int>) {
    if living.isEmpty { living = Array(repeating: Living(), count: held.count) }
    for index in range {
      if case .none = held[index] { continue }
      living[index].object = self[index]
      held[index] = .none
    }
  }
}
