import SeededRandom

/// What a user does, or what happens to the program.
///
/// Nodes are numbers into the live tree, taken modulo its size, so that any part of a script is a script.
enum ModelStep: Equatable, CustomStringConvertible {
  case push(parent: Int, name: Int)
  case present(parent: Int, name: Int)
  case dismiss(parent: Int)
  case pop(node: Int)
  case edit(node: Int, value: Int)
  case rename(node: Int, name: Int)
  case move(node: Int, parent: Int)
  case reverse(node: Int)
  case save
  case failingSave
  case lock
  case unlock
  /// The process dies; the program is launched again in a version, with or without finding its pages of a name.
  case kill(version: Int, hiding: Int?)
  /// The power is cut, which locks the device; then as for a kill.
  case cutPower(version: Int, hiding: Int?)
  case restoreRunning

  var description: String {
    switch self {
    case .push(let parent, let name): ".push(parent: \(parent), name: \(name))"
    case .present(let parent, let name): ".present(parent: \(parent), name: \(name))"
    case .dismiss(let parent): ".dismiss(parent: \(parent))"
    case .pop(let node): ".pop(node: \(node))"
    case .edit(let node, let value): ".edit(node: \(node), value: \(value))"
    case .rename(let node, let name): ".rename(node: \(node), name: \(name))"
    case .move(let node, let parent): ".move(node: \(node), parent: \(parent))"
    case .reverse(let node): ".reverse(node: \(node))"
    case .save: ".save"
    case .failingSave: ".failingSave"
    case .lock: ".lock"
    case .unlock: ".unlock"
    case .kill(let version, let hiding): ".kill(version: \(version), hiding: \(Self.text(hiding)))"
    case .cutPower(let version, let hiding): ".cutPower(version: \(version), hiding: \(Self.text(hiding)))"
    case .restoreRunning: ".restoreRunning"
    }
  }

  private static func text(_ number: Int?) -> String { number.map(String.init) ?? "nil" }

  /// A random script, the same for the same seed; it ends with a save and a launch.
  static func script(seed: UInt64, length: Int) -> [ModelStep] {
    var random = SplitMix64(seed: seed)
    func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    func hiding() -> Int? { below(2) == 0 ? nil : 1 + below(9) }
    let steps: [ModelStep] = (0..<length).map { _ in
      switch below(50) {
      case 0..<10: .push(parent: below(100), name: 1 + below(9))
      case 10..<13: .present(parent: below(100), name: 1 + below(9))
      case 13: .dismiss(parent: below(100))
      case 14..<17: .pop(node: 1 + below(100))
      case 17..<26: .edit(node: below(100), value: 1 + below(1000))
      case 26..<29: .rename(node: below(100), name: 1 + below(9))
      case 29..<32: .move(node: below(100), parent: below(100))
      case 32: .reverse(node: below(100))
      case 33..<38: .save
      case 38: .failingSave
      case 39..<41: .lock
      case 41..<43: .unlock
      case 43..<47: .kill(version: 1 + below(3), hiding: hiding())
      case 47: .cutPower(version: 1 + below(3), hiding: hiding())
      default: .restoreRunning
      }
    }
    return steps + [.unlock, .save, .kill(version: 3, hiding: nil)]
  }
}
