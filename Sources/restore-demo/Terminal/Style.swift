/// How a cell looks; only what every terminal can show.
struct Style: Hashable, Sendable {
  /// The foreground, one of the eight standard colours, or the terminal's own.
  enum Color: Int, Sendable {
    case red = 31, green = 32, yellow = 33, blue = 34, magenta = 35, cyan = 36
    case plain = 39
  }

  var color: Color = .plain
  var isBold = false
  var isDim = false
  var isReversed = false

  static let plain = Style()
  static let bold = Style(isBold: true)
  static let dim = Style(isDim: true)
  static let selected = Style(isReversed: true)
  static let title = Style(color: .cyan, isBold: true)
  static let warning = Style(color: .yellow)

  /// The control sequence that selects this style after any other.
  var sequence: String {
    var codes = ["0"]
    if isBold { codes.append("1") }
    if isDim { codes.append("2") }
    if isReversed { codes.append("7") }
    if color != .plain { codes.append(String(color.rawValue)) }
    return "\u{1B}[\(codes.joined(separator: ";"))m"
  }
}
