internal import RestorationArchive

/// The name of state that lost its place, among the kept nodes: its path's text, and a number if there are several.
struct KeptName {
  var path: String
  var number = 1

  init(path: String) { self.path = path }

  init(_ identifier: RestorationIdentifier) {
    let parts = identifier.rawValue.split(separator: Self.separator, maxSplits: 1, omittingEmptySubsequences: false)
    path = parts.first.map(String.init) ?? ""
    if parts.count == 2, let number = Int(parts[1]) { self.number = number }
  }

  var identifier: RestorationIdentifier {
    RestorationIdentifier(number == 1 ? path : "\(path)\(Self.separator)\(number)")
  }

  /// Stands in no path's text.
  private static let separator: Character = "\u{1F}"
}
