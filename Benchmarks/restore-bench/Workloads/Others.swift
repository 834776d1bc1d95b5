/// Deep and narrow: an outline that nests twelve levels.
enum Deep: Workload {
  static let name = "deep"

  /// A level of the outline.
  final class State: Codable, Equatable, Sendable {
    let title: String
    let isOpen: Bool
    let inner: State?

    init(title: String, isOpen: Bool, inner: State?) {
      self.title = title
      self.isOpen = isOpen
      self.inner = inner
    }

    static func == (left: State, right: State) -> Bool {
      left.title == right.title && left.isOpen == right.isOpen && left.inner == right.inner
    }
  }

  static func make(_ random: inout SplitMix) -> State {
    var state: State?
    for _ in 0..<12 {
      state = State(title: random.text(6 + random.below(6)), isOpen: random.below(2) == 0, inner: state)
    }
    return state ?? State(title: "", isOpen: false, inner: nil)
  }
}

/// Wide lists: forty rows of small structures and a list of numbers.
enum Wide: Workload {
  static let name = "wide"

  /// A row.
  struct Row: Codable, Equatable, Sendable {
    var id: Int
    var name: String
    var height: Double
    var isSelected: Bool
  }

  /// A table.
  struct State: Codable, Equatable, Sendable {
    var rows: [Row]
    var widths: [Double]
    var hidden: Set<Int>
  }

  static func make(_ random: inout SplitMix) -> State {
    State(
      rows: (0..<40).map { _ in
        Row(
          id: random.below(1 << 20), name: random.text(4 + random.below(12)), height: Double(random.below(90)) / 2,
          isSelected: random.below(9) == 0)
      },
      widths: (0..<12).map { _ in Double(random.below(500)) },
      hidden: Set((0..<5).map { _ in random.below(100) }))
  }
}

/// Long texts: a draft of four thousand characters and its history.
enum Texts: Workload {
  static let name = "texts"

  /// An editor's state.
  struct State: Codable, Equatable, Sendable {
    var draft: String
    var cursor: Int
    var history: [String]
  }

  static func make(_ random: inout SplitMix) -> State {
    State(
      draft: random.text(4_000, beyondASCII: true), cursor: random.below(4_000),
      history: (0..<3).map { _ in random.text(200 + random.below(200)) })
  }
}

/// One value that is a recursive tree, encoded as a whole by a fresh coder.
enum Tree: Workload {
  static let name = "tree"

  /// A node of the tree.
  struct State: Codable, Equatable, Sendable {
    var name: String
    var isExpanded: Bool
    var weight: Double
    var children: [State]
  }

  /// A tree of so many nodes, of at most sixteen levels.
  static func tree(_ count: Int, _ random: inout SplitMix) -> State {
    var left = count - 1
    var children: [State] = []
    while left > 0 {
      // The fewer are left, the bigger their part: else a branch would be as deep as it has nodes.
      let part = min(left, max(1, count / (2 + random.below(4))))
      children.append(tree(part, &random))
      left -= part
    }
    return State(
      name: random.text(4 + random.below(16)), isExpanded: random.below(2) == 0,
      weight: Double(random.below(1_000)) / 4,
      children: children)
  }

  static func make(_ random: inout SplitMix) -> State { tree(1_000, &random) }
}
