package import RestorationArchive

/// The values of one captured object under their keys, in the order of encoding.
///
/// Most objects have one value. It is kept without an array around it, which would be half of what a capture
/// allocates; the array is made where the main actor doesn't wait for it.
package struct CapturedValues: Sendable {
  private var first: RestorationArchive.Entry?
  private var rest: [RestorationArchive.Entry] = []

  /// No values.
  package init() {}

  /// All of them.
  package var entries: [RestorationArchive.Entry] {
    guard let first else { return rest }
    return [first] + rest
  }

  /// Takes one more value.
  package mutating func append(_ entry: RestorationArchive.Entry) {
    if first == nil, rest.isEmpty { first = entry } else { rest.append(entry) }
  }

  /// Takes more values.
  package mutating func append(_ entries: [RestorationArchive.Entry]) {
    if rest.isEmpty { rest = entries } else { rest += entries }
  }
}
