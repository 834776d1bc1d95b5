internal import RestorationArchive

/// The name of state that lost its place, among the kept nodes: its path, and a number if there are several.
struct KeptName {
  /// The path's identifiers with slashes between; what would be taken for a part of a name stands behind a backslash.
  let path: RestorationIdentifier
  var number = 1

  init(_ path: RestorationPath) {
    self.path = RestorationIdentifier(path.components.map { Self.escaped($0.rawValue) }.joined(separator: "/"))
  }

  init(_ identifier: RestorationIdentifier) {
    let parts = identifier.rawValue.unicodeScalars.split(
      separator: Self.separator, maxSplits: 1, omittingEmptySubsequences: false)
    path = RestorationIdentifier(parts.first.map { String($0) } ?? "")
    if parts.count == 2, let number = Int(String(parts[1])) { self.number = number }
  }

  var identifier: RestorationIdentifier {
    number == 1 ? path : RestorationIdentifier("\(path.rawValue)\(Self.separator)\(number)")
  }

  /// Where in an archive what has this path may be: below the framework's own name, or below a root that is called like it.
  var places: [RestorationPath] {
    var components = [""]
    var isEscaped = false
    for scalar in path.rawValue.unicodeScalars {
      switch (isEscaped, scalar) {
      case (false, "\\"):
        isEscaped = true
        continue
      case (false, "/"): components.append("")
      case (true, "u"): components[components.count - 1].unicodeScalars.append(Self.separator)
      default: components[components.count - 1].unicodeScalars.append(scalar)
      }
      isEscaped = false
    }
    let identifiers = components.map { RestorationIdentifier($0) }
    let path = RestorationPath([ReservedNode.stored(identifiers[0])] + identifiers.dropFirst())
    return identifiers[0] == ReservedNode.shared ? [RestorationPath(identifiers), path] : [path]
  }

  /// Stands in no path's text.
  private static let separator: Unicode.Scalar = "\u{1F}"

  private static func escaped(_ identifier: String) -> String {
    var text = ""
    for scalar in identifier.unicodeScalars {
      switch scalar {
      case "/", "\\": text += "\\\(scalar)"
      case separator: text += "\\u"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}
