// Imports nothing.

/// Makes something short that fails: takes parts out, large ones first, and puts simpler elements in, for as long as the rest
/// still fails.
///
/// - Parameters:
///   - whole: What fails.
///   - simpler: What may take the place of an element, the simplest first.
///   - stillFails: Whether a shorter or simpler one fails as well.
func shortened<Element>(
  _ whole: [Element], simpler: (Element) -> [Element] = { _ in [] }, stillFails: ([Element]) async -> Bool
) async -> [Element] {
  var found = whole
  var isShorter = true
  func replace(with other: [Element]) async -> Bool {
    guard await stillFails(other) else { return false }
    (found, isShorter) = (other, true)
    return true
  }
  while isShorter {
    isShorter = false
    var length = max(found.count / 2, 1)
    while length > 0 {
      var start = 0
      while start < found.count {
        var shorter = found
        shorter.removeSubrange(start..<min(start + length, found.count))
        if await !replace(with: shorter) { start += length }
      }
      length /= 2
    }
    for index in found.indices {
      for element in simpler(found[index]) {
        var other = found
        other[index] = element
        if await replace(with: other) { break }
      }
    }
  }
  return found
}
