import RestorationArchive

/// The sizes of an archive's rows as areas: each row's lies in its parent's, and has as much of it as of the bytes.
struct SizeMap {
  /// One area, before those that lie in it.
  struct Area {
    var x, y, width, height: Double
    /// The path of the row.
    let path: String
    /// What fits into it of the row's identifier; empty when nothing does.
    var label = ""
    /// The bytes that it stands for.
    let byteCount: Int
    /// Whether these are the row's own bytes, without those below.
    let isOwn: Bool
    let depth: Int
  }

  /// A row, or with `isOwn` its own bytes beside those below it.
  private struct Item {
    let row: Int
    let byteCount: Int
    let isOwn: Bool
  }

  static let width = 1000.0
  static let height = 420.0
  /// More areas than this nobody tells apart.
  private static let limit = 1500
  /// A heading's height, and the least width and height of an area that has anything in it.
  private static let heading = 16.0
  private static let least = 4.0

  private(set) var areas: [Area] = []
  private let nodes: [InspectedArchive.Node]
  private var below: [Int]
  private var children: [Int: [Int]] = [:]

  init(_ archive: InspectedArchive) {
    nodes = archive.nodes
    below = nodes.map(\.byteCount)
    for index in nodes.indices.reversed() {
      guard let parent = nodes[index].parent else { continue }
      below[parent] += below[index]
      children[parent, default: []].append(index)
    }
    let roots = nodes.indices.filter { nodes[$0].parent == nil }
    lay(
      roots.map { Item(row: $0, byteCount: below[$0], isOwn: children[$0] == nil) },
      into: Area(x: 0, y: 0, width: Self.width, height: Self.height, path: "", byteCount: 0, isOwn: false, depth: -1))
  }

  /// Cuts an area into those of some rows: always the longer side in two, so that both parts have about as many bytes.
  private mutating func lay(_ items: [Item], into whole: Area) {
    // A stack of its own: the depth of a tree comes from the file.
    var stack = [(items.filter { $0.byteCount > 0 }.sorted { $0.byteCount > $1.byteCount }, whole)]
    while let (items, area) = stack.popLast(), areas.count < Self.limit {
      guard area.width >= Self.least, area.height >= Self.least, let first = items.first else { continue }
      if items.count == 1 {
        stack += add(first, area)
        continue
      }
      let total = items.reduce(0) { $0 + $1.byteCount }
      var (count, bytes) = (1, first.byteCount)
      while count < items.count - 1, bytes + items[count].byteCount <= total / 2 {
        bytes += items[count].byteCount
        count += 1
      }
      let share = Double(bytes) / Double(total)
      var (one, other) = (area, area)
      if area.width >= area.height {
        one.width = area.width * share
        other.x += one.width
        other.width -= one.width
      } else {
        one.height = area.height * share
        other.y += one.height
        other.height -= one.height
      }
      stack.append((Array(items[count...]), other))
      stack.append((Array(items[..<count]), one))
    }
  }

  /// Adds the area of a row; returns what lies in it, and where.
  private mutating func add(_ item: Item, _ place: Area) -> [([Item], Area)] {
    let node = nodes[item.row]
    var area = Area(
      x: place.x, y: place.y, width: place.width, height: place.height, path: "\(node.path)",
      byteCount: item.byteCount, isOwn: item.isOwn, depth: place.depth + 1)
    if area.height >= Self.heading {
      // About seven units a letter.
      let name = node.path.last?.rawValue ?? ""
      let fits = max(0, Int((area.width - 8) / 7))
      area.label = fits < 3 ? "" : name.count <= fits ? name : name.prefix(fits - 1) + "…"
    }
    areas.append(area)
    guard !item.isOwn, area.height > Self.heading + Self.least else { return [] }
    var inner = area
    inner.x += 2
    inner.width -= 4
    inner.y += Self.heading
    inner.height -= Self.heading + 2
    var items = (children[item.row] ?? []).map {
      Item(row: $0, byteCount: below[$0], isOwn: children[$0] == nil)
    }
    items.append(Item(row: item.row, byteCount: node.byteCount, isOwn: true))
    return [(items.filter { $0.byteCount > 0 }.sorted { $0.byteCount > $1.byteCount }, inner)]
  }
}
