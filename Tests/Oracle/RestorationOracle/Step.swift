/// What a user does, or what happens to the program and its device.
///
/// Pages are numbers into the live tree of the scene in front, taken modulo its size, and numbers out of range are brought
/// into it, so that any part of a script is a script. A step that can't be done now does nothing. A step that needs a running
/// program launches it first.
package enum Step: Hashable, Sendable {
  case push(parent: Int, name: Int, kind: Int)
  case present(parent: Int, name: Int, kind: Int)
  case dismiss(parent: Int)
  case pop(page: Int)
  case edit(page: Int, value: Int)
  case rename(page: Int, name: Int)
  case move(page: Int, parent: Int)
  case reverse(page: Int)
  /// The page shows its class's other model object from now on.
  case showOtherModel(page: Int)
  /// A model object is deleted, or is there again.
  case toggleModel(model: Int)
  /// Another scene comes to the front.
  case front(scene: Int)
  case save
  /// A save on a disk on which a call fails, or, with call 0, all of them do.
  case failingSave(fault: Int, call: Int)
  case lock
  case unlock
  /// The process dies at rest.
  case kill
  /// The process dies before a call of a save.
  case killInSave(call: Int)
  /// The power is cut at rest; which changes that were not synchronised are lost says the mask.
  case cutPower(losing: UInt64)
  /// The power is cut before a call of a save.
  case cutPowerInSave(call: Int, losing: UInt64)
  /// The program is launched, in a version; without making its pages of a name, and making those of another a kind.
  case launch(version: Int, hiding: Int, making: Int, kind: Int)
  /// A launch in which the process dies before a call.
  case killInLaunch(call: Int)
  /// A launch in which the process dies in the code of a page of a name: in its factory, or when it decodes.
  case crashInLaunch(name: Int, decoding: Int)
  /// The running program saves and restores again.
  case restoreAgain
  /// The same, asking for what was left out after a crash.
  case retry
  /// A page that was not there at the launch is installed and registered.
  case register(number: Int)
  case discard
  case forget(number: Int)

  /// The numbers of a step, in the order of its labels.
  private static func make(_ name: Substring, _ numbers: [UInt64]) -> Step? {
    func at(_ index: Int) -> Int { index < numbers.count ? Int(truncatingIfNeeded: numbers[index]) : 0 }
    return switch name {
    case "push": .push(parent: at(0), name: at(1), kind: at(2))
    case "present": .present(parent: at(0), name: at(1), kind: at(2))
    case "dismiss": .dismiss(parent: at(0))
    case "pop": .pop(page: at(0))
    case "edit": .edit(page: at(0), value: at(1))
    case "rename": .rename(page: at(0), name: at(1))
    case "move": .move(page: at(0), parent: at(1))
    case "reverse": .reverse(page: at(0))
    case "showOtherModel": .showOtherModel(page: at(0))
    case "toggleModel": .toggleModel(model: at(0))
    case "front": .front(scene: at(0))
    case "save": .save
    case "failingSave": .failingSave(fault: at(0), call: at(1))
    case "lock": .lock
    case "unlock": .unlock
    case "kill": .kill
    case "killInSave": .killInSave(call: at(0))
    case "cutPower": .cutPower(losing: numbers.first ?? .max)
    case "cutPowerInSave": .cutPowerInSave(call: at(0), losing: numbers.count > 1 ? numbers[1] : .max)
    case "launch": .launch(version: at(0), hiding: at(1), making: at(2), kind: at(3))
    case "killInLaunch": .killInLaunch(call: at(0))
    case "crashInLaunch": .crashInLaunch(name: at(0), decoding: at(1))
    case "restoreAgain": .restoreAgain
    case "retry": .retry
    case "register": .register(number: at(0))
    case "discard": .discard
    case "forget": .forget(number: at(0))
    default: nil
    }
  }

  /// Reads a script as ``text(of:)`` writes it; nil when a step is unknown.
  package static func script(_ text: String) -> [Step]? {
    var steps: [Step] = []
    for part in text.split(separator: ".").dropFirst() {
      let name = part.prefix { $0.isLetter }
      let numbers = part.dropFirst(name.count).split { !$0.isNumber }.compactMap { UInt64($0) }
      guard let step = make(name, numbers) else { return nil }
      steps.append(step)
    }
    return steps
  }

  /// A script as it is written in a test.
  package static func text(of steps: [Step]) -> String {
    "[\n  " + steps.map(\.description).joined(separator: ", ") + ",\n]"
  }
}

extension Step: CustomStringConvertible {
  /// The step as it is written in Swift.
  package var description: String {
    guard let child = Mirror(reflecting: self).children.first, let name = child.label else { return ".\(plainName)" }
    let values = Mirror(reflecting: child.value).children.map { $0 }
    if values.isEmpty { return ".\(name)(\(child.value))" }
    let arguments = values.map { "\($0.label ?? "_"): \($0.value)" }.joined(separator: ", ")
    return ".\(name)(\(arguments))"
  }

  private var plainName: String {
    switch self {
    case .save: "save"
    case .lock: "lock"
    case .unlock: "unlock"
    case .kill: "kill"
    case .restoreAgain: "restoreAgain"
    case .retry: "retry"
    default: "discard"
    }
  }
}
