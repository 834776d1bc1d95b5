// Imports nothing.

/// What the program can put into a place.
package enum PageClass: String, CaseIterable, Hashable, Sendable {
  /// A class without a tag.
  case plain
  /// A class whose tag changes from version to version, and that the program makes itself.
  case note
  /// A subclass of it with a tag of its own.
  case special
  /// A class with a tag, which the third version of the program has no more.
  case card
  /// A class that joins the states of several runs.
  case diary
  /// A class without a tag whose type has another name, and a tag, from the second version on.
  case sketch
}

/// Where a page is, from the root: `root/a/b`.
package struct PagePath: Hashable, Sendable {
  package var names: [String]

  package init(_ names: [String]) { self.names = names }

  init(_ text: String) { names = text.split(separator: "/" as Character).map { String($0) } }

  var parent: PagePath { PagePath(Array(names.dropLast())) }
  var last: String { names.last ?? "" }
}

/// What a user does, or what happens to the program and its device.
///
/// A step that can't be done does nothing, so that any part of a script is a script. A step that needs a running program
/// launches it first.
package enum Step: Hashable, Sendable {
  case push(
    PagePath, PageClass, model: String?, value: Int, bytes: Int, presented: Bool, protection: Protection? = nil)
  /// Pushes so many pages with names of their own.
  case many(PagePath, count: Int, bytes: Int)
  case close(PagePath)
  case edit(PagePath, value: Int, bytes: Int)
  /// A value that can't be encoded.
  case editUnencodable(PagePath, value: Int)
  /// A value that programs decode only while they are lenient.
  case editRefused(PagePath, value: Int)
  case rename(PagePath, to: String)
  case move(PagePath, below: PagePath)
  case reverse(PagePath)
  /// The page names another class of protection; nil for its parent's.
  case protect(PagePath, Protection?)
  /// From the next launch on this is the class of what names none.
  case configure(Protection)
  /// Shows another model; with new values, unless the value is 0.
  case show(PagePath, model: String?, value: Int)
  /// A model object is deleted, or is there again.
  case toggle(String)
  /// A page is given to `restore(_:at:)`.
  case restoreLate(PagePath)
  case save
  /// So many seconds pass.
  case wait(Int)
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
  case cutPowerInSave(call: Int, losing: UInt64)
  /// The process dies, and a byte of the newest generation changes; it does nothing where nobody knows what the one before has.
  case damage
  case launch(Launch)
  /// A launch in which the process dies before a call.
  case killInLaunch(call: Int)
  /// A launch in which the process dies in the code of a page: in its factory, or when it decodes.
  case crashInLaunch(String, decoding: Bool)
  /// The running program saves and restores again.
  case restoreAgain
  /// The same, asking for what was left out after a crash.
  case retry
  case forget(PagePath)
  case discard

  /// How a program is launched.
  package struct Launch: Hashable, Sendable {
    package var version = 1
    /// Pages of this name are not made.
    package var hiding: String?
    /// Pages of this name are made as this class.
    package var replacing: String?
    package var by = PageClass.plain
    /// Pages of this name are made under another identifier.
    package var misnaming: String?
    /// The model that the root shows.
    package var model: String?
    /// Whether pages are made without their models.
    package var isUnnamed = false
    /// Whether the program fails to decode some values.
    package var isStrict = false

    package init() {}
  }
}

extension Step: CustomStringConvertible {
  /// The step as a line of a script.
  package var description: String {
    func options(_ all: (String, String?)...) -> String {
      all.compactMap { name, value in value.map { " \(name)=\($0)" } }.joined()
    }
    func number(_ value: Int) -> String? { value == 0 ? nil : "\(value)" }
    return switch self {
    case .push(let path, let kind, let model, let value, let bytes, let presented, let protection):
      "push \(path) \(kind.rawValue)"
        + options(
          ("model", model), ("value", number(value)), ("bytes", number(bytes)), ("presented", presented ? "yes" : nil),
          ("protection", protection?.name))
    case .many(let path, let count, let bytes):
      "many \(path)" + options(("count", "\(count)"), ("bytes", number(bytes)))
    case .close(let path): "close \(path)"
    case .edit(let path, let value, let bytes):
      "edit \(path)" + options(("value", "\(value)"), ("bytes", number(bytes)))
    case .editUnencodable(let path, let value): "editUnencodable \(path) value=\(value)"
    case .editRefused(let path, let value): "editRefused \(path) value=\(value)"
    case .rename(let path, let name): "rename \(path) \(name)"
    case .move(let path, let parent): "move \(path) \(parent)"
    case .reverse(let path): "reverse \(path)"
    case .protect(let path, let protection): "protect \(path) \(protection?.name ?? "parent")"
    case .configure(let protection): "configure \(protection.name)"
    case .show(let path, let model, let value):
      "show \(path)" + options(("model", model), ("value", number(value)))
    case .toggle(let model): "toggle \(model)"
    case .restoreLate(let path): "restoreLate \(path)"
    case .save: "save"
    case .wait(let seconds): "wait \(seconds)"
    case .failingSave(let fault, let call): "failingSave fault=\(fault) call=\(call)"
    case .lock: "lock"
    case .unlock: "unlock"
    case .kill: "kill"
    case .killInSave(let call): "killInSave call=\(call)"
    case .cutPower(let mask): "cutPower losing=\(mask)"
    case .cutPowerInSave(let call, let mask): "cutPowerInSave call=\(call) losing=\(mask)"
    case .damage: "damage"
    case .launch(let launch): "launch\(launch.text)"
    case .killInLaunch(let call): "killInLaunch call=\(call)"
    case .crashInLaunch(let name, let decoding): "crashInLaunch \(name)\(decoding ? " decoding=yes" : "")"
    case .restoreAgain: "restoreAgain"
    case .retry: "retry"
    case .forget(let path): "forget \(path)"
    case .discard: "discard"
    }
  }

  /// A script as it is written in a test: a step in each line.
  package static func text(of steps: [Step]) -> String { steps.map(\.description).joined(separator: "\n") }

  /// Reads a script; steps are separated by line breaks or semicolons.
  ///
  /// Nil when a step is unknown.
  package static func script(_ text: String) -> [Step]? {
    var steps: [Step] = []
    for line in text.split(whereSeparator: { $0 == "\n" || $0 == ";" }) {
      let words = line.split(separator: " ")
      guard let name = words.first else { continue }
      guard let step = Step(String(name), words.dropFirst()) else { return nil }
      steps.append(step)
    }
    return steps
  }

  private init?(_ name: String, _ words: some Sequence<Substring>) {
    var plain: [String] = []
    var options: [String: String] = [:]
    for word in words {
      if let split = word.firstIndex(of: "=") {
        options[String(word[..<split])] = String(word[word.index(after: split)...])
      } else {
        plain.append(String(word))
      }
    }
    func number(_ name: String) -> Int { options[name].flatMap { Int($0) } ?? 0 }
    let mask = options["losing"].flatMap { UInt64($0) } ?? .max
    let path = PagePath(plain.first ?? "")
    let second = plain.count > 1 ? plain[1] : ""
    switch name {
    case "push":
      guard let kind = PageClass(rawValue: second) else { return nil }
      self = .push(
        path, kind, model: options["model"], value: number("value"), bytes: number("bytes"),
        presented: options["presented"] != nil, protection: options["protection"].flatMap { Protection(name: $0) })
    case "many": self = .many(path, count: number("count"), bytes: number("bytes"))
    case "close": self = .close(path)
    case "edit": self = .edit(path, value: number("value"), bytes: number("bytes"))
    case "editUnencodable": self = .editUnencodable(path, value: number("value"))
    case "editRefused": self = .editRefused(path, value: number("value"))
    case "rename": self = .rename(path, to: second)
    case "move": self = .move(path, below: PagePath(second))
    case "reverse": self = .reverse(path)
    case "protect": self = .protect(path, Protection(name: second))
    case "configure":
      guard let protection = Protection(name: plain.first ?? "") else { return nil }
      self = .configure(protection)
    case "show": self = .show(path, model: options["model"], value: number("value"))
    case "toggle": self = .toggle(plain.first ?? "")
    case "restoreLate": self = .restoreLate(path)
    case "save": self = .save
    case "wait": self = .wait(plain.first.flatMap { Int($0) } ?? 0)
    case "failingSave": self = .failingSave(fault: number("fault"), call: number("call"))
    case "lock": self = .lock
    case "unlock": self = .unlock
    case "kill": self = .kill
    case "killInSave": self = .killInSave(call: number("call"))
    case "cutPower": self = .cutPower(losing: mask)
    case "cutPowerInSave": self = .cutPowerInSave(call: number("call"), losing: mask)
    case "damage": self = .damage
    case "launch": self = .launch(Launch(options))
    case "killInLaunch": self = .killInLaunch(call: number("call"))
    case "crashInLaunch": self = .crashInLaunch(plain.first ?? "", decoding: options["decoding"] != nil)
    case "restoreAgain": self = .restoreAgain
    case "retry": self = .retry
    case "forget": self = .forget(path)
    case "discard": self = .discard
    default: return nil
    }
  }
}

extension Step.Launch {
  fileprivate init(_ options: [String: String]) {
    version = min(max(options["version"].flatMap { Int($0) } ?? 1, 1), 3)
    (hiding, misnaming, model) = (options["hiding"], options["misnaming"], options["model"])
    if let parts = options["replacing"]?.split(separator: ":"), parts.count == 2 {
      replacing = String(parts[0])
      by = PageClass(rawValue: String(parts[1])) ?? .plain
    }
    (isUnnamed, isStrict) = (options["unnamed"] != nil, options["strict"] != nil)
  }

  fileprivate var text: String {
    var text = version == 1 ? "" : " version=\(version)"
    if let hiding { text += " hiding=\(hiding)" }
    if let replacing { text += " replacing=\(replacing):\(by.rawValue)" }
    if let misnaming { text += " misnaming=\(misnaming)" }
    if let model { text += " model=\(model)" }
    return text + (isUnnamed ? " unnamed=yes" : "") + (isStrict ? " strict=yes" : "")
  }
}

extension PagePath: CustomStringConvertible {
  package var description: String { names.joined(separator: "/") }
}
