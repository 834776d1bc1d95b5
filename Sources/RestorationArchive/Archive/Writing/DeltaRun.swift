/// The changes of some consecutive deltas, merged: what the indexes of the last of them hold.
struct DeltaRun: Sendable {
  /// The newest places of nodes, by number.
  var nodes: [Delta.Entry] = []
  /// The newest places of lists of children, by number.
  var children: [Delta.Entry] = []
  /// The links that were made, in order.
  var links: [Delta.Link] = []

  /// Makes a run of no changes.
  init() {}

  /// Reads the indexes of a delta.
  init(_ delta: Delta) {
    nodes = (0..<delta.nodeEntryCount).map(delta.nodeEntry(at:))
    children = (0..<delta.childEntryCount).map(delta.childEntry(at:))
    links = (0..<delta.linkCount).map(delta.link(at:))
  }

  /// Takes the changes of an older run under its own.
  mutating func merge(under older: DeltaRun) {
    nodes = Self.merge(older.nodes, nodes) { $0.id < $1.id }
    children = Self.merge(older.children, children) { $0.id < $1.id }
    links = Self.merge(older.links, links, by: <)
  }

  /// Merges two sorted lists; of equal elements the newer one stays.
  private static func merge<Element>(
    _ older: [Element], _ newer: [Element], by precedes: (Element, Element) -> Bool
  ) -> [Element] {
    guard !older.isEmpty else { return newer }
    guard !newer.isEmpty else { return older }
    var merged: [Element] = []
    merged.reserveCapacity(older.count + newer.count)
    var index = 0
    for element in newer {
      while index < older.count, precedes(older[index], element) {
        merged.append(older[index])
        index += 1
      }
      if index < older.count, !precedes(element, older[index]) { index += 1 }
      merged.append(element)
    }
    merged.append(contentsOf: older[index...])
    return merged
  }
}
