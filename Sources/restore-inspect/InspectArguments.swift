/// The command line of `restore-inspect`, understood.
package struct InspectArguments: Sendable, Hashable {
  /// What to do.
  package enum Verb: String, Sendable, Hashable, CaseIterable {
    /// The applications, scenes and slots.
    case list

    /// The nodes with classes, versions, sizes, priorities, references and associations.
    case tree

    /// One node's values.
    case show

    /// The sizes of the parts.
    case sizes

    /// The difference of two generations.
    case diff

    /// A full check, file by file.
    case verify

    /// Everything for a bug report.
    case export

    /// The keybag, without its keys.
    case keybag

    /// One line for `--help`.
    package var summary: String {
      switch self {
      case .list: "the applications, scenes and slots that there are, with times, sizes and classes"
      case .tree: "the nodes: class tags, versions, bytes, priorities, references, associations"
      case .show: "one node's values (needs --node)"
      case .sizes: "what takes the space, largest first"
      case .diff: "what changed, by path: between two generations, or two directories"
      case .verify: "a full check of every file, or of the slot that is named, with its outcome"
      case .export: "a description of everything, for a bug report"
      case .keybag: "the keybag's parameters, never its keys"
      }
    }
  }

  /// Where the passcode comes from; never from an argument, which everybody on the machine can read.
  package enum PasscodeSource: Sendable, Hashable {
    /// There is none.
    case none

    /// The terminal, without echo.
    case prompt

    /// An open file descriptor, up to its end or the first line break.
    case descriptor(Int32)
  }

  /// What to do; `nil` for `--help`.
  package var verb: Verb?

  /// The device's directory; for `diff` with two, the one with the older state; empty for `list` of all devices of the user.
  package var path = ""

  /// For `diff`: the directory with the newer state; `nil` to compare two generations in one.
  package var newerPath: String?

  /// Where the passcode comes from.
  package var passcode = PasscodeSource.none

  /// Whether the output is JSON.
  package var isJSON = false

  /// Whether values are shown rather than their types and sizes.
  package var reveals = false

  /// The file that gets a page for a bug report; `-` for the standard output.
  package var html: String?

  /// The application whose archive it is; `nil` for the one that there is.
  package var application: String?

  /// The scene session; `nil` for the one that there is.
  package var scene: String?

  /// The slot of the scene.
  package var slot = "archive"

  /// Whether an application, a scene or a slot was named, so that a check keeps to it.
  package var namesSlot = false

  /// The path of the node to show, its identifiers in order.
  package var node: [String]?

  /// Understands a command line, without the program's name.
  package init(_ words: [String]) throws(InspectFailure) {
    var rest = words[...]
    var paths: [String] = []
    var takesOptions = true
    while let word = rest.popFirst() {
      guard takesOptions, word.hasPrefix("-"), word != "-" else {
        paths.append(word)
        continue
      }
      switch word {
      case "--": takesOptions = false
      case "--help", "-h":
        verb = nil
        return
      case "--json": isJSON = true
      case "--reveal": reveals = true
      case "--html": html = try Self.value(of: word, &rest)
      case "--passcode-prompt": try setPasscode(.prompt)
      case "--passcode-fd":
        let value = try Self.value(of: word, &rest)
        guard let number = Int32(value), number >= 0 else {
          throw InspectFailure(.usage, "--passcode-fd takes the number of an open descriptor, not “\(value)”.")
        }
        try setPasscode(.descriptor(number))
      case "--application": application = try nameSlot(word, &rest)
      case "--scene": scene = SceneName.session(try nameSlot(word, &rest))
      case "--slot": slot = try nameSlot(word, &rest)
      case "--node":
        // One option per identifier: identifiers come from data and may have slashes.
        node = (node ?? []) + [try Self.value(of: word, &rest)]
      default:
        throw InspectFailure(.usage, "There is no option \(word); see restore-inspect --help.")
      }
    }
    // A directory alone, or nothing: a look at what there is.
    if paths.isEmpty || paths.count == 1 && Self.isPath(paths[0]) {
      paths.insert((html == nil ? Verb.list : .export).rawValue, at: 0)
    }
    let first = paths[0]
    guard let verb = Verb(rawValue: first) else {
      throw InspectFailure(
        .usage,
        "There is no command \(first); there are \(Self.verbs). For a directory of that name write ./\(first).")
    }
    let least = verb == .list ? 1 : 2
    let most = verb == .diff ? 3 : 2
    guard (least...most).contains(paths.count), paths.allSatisfy({ !$0.isEmpty }) else {
      throw InspectFailure(
        .usage,
        verb == .diff
          ? "diff takes one path, a device's directory, or two: the older one, then the newer one."
          : "\(first) takes one path: the device's directory.")
    }
    if verb == .show, node == nil {
      throw InspectFailure(.usage, "show takes --node IDENTIFIER, once for each identifier from the root.")
    }
    self.verb = verb
    path = paths.dropFirst().first ?? ""
    newerPath = paths.dropFirst(2).first
  }

  private static let verbs = Verb.allCases.map(\.rawValue).joined(separator: ", ")

  /// Whether a word alone is a directory and no command.
  private static func isPath(_ word: String) -> Bool { word.contains("/") || word == "." || word == ".." }

  private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(InspectFailure) -> String {
    guard let value = rest.popFirst() else { throw InspectFailure(.usage, "\(option) takes a value.") }
    return value
  }

  private mutating func nameSlot(
    _ option: String, _ rest: inout ArraySlice<String>
  ) throws(InspectFailure) -> String {
    namesSlot = true
    return try Self.value(of: option, &rest)
  }

  private mutating func setPasscode(_ source: PasscodeSource) throws(InspectFailure) {
    guard passcode == .none else {
      throw InspectFailure(.usage, "Only one of --passcode-prompt and --passcode-fd can be given.")
    }
    passcode = source
  }
}

/// Why the tool stops: a code, and one clear line.
package struct InspectFailure: Error, Sendable, Hashable {
  /// How the tool ends.
  package let code: InspectExitCode

  /// The failure, then the remedy.
  package let message: String

  /// Makes a failure.
  package init(_ code: InspectExitCode, _ message: String) {
    self.code = code
    self.message = message
  }
}
