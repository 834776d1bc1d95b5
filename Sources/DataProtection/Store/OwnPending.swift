/// What one run has saved while locked, as long as it is in no generation.
struct OwnPending: Hashable, Sendable {
  /// The pending generation.
  var generation: UInt64
  /// Earlier ones of the same run that others know of, oldest first.
  var replaced: [UInt64] = []

  /// Those that the next one replaces and that others may know of: another one was saved while this one lay there.
  ///
  /// There are never more than others, because each knows one of them.
  func replaced(knownTo others: [UInt64]) -> [UInt64] {
    let all = replaced + [generation]
    return zip(all, all.dropFirst() + [.max])
      .filter { number, next in others.contains { number < $0 && $0 < next } }
      .map(\.0)
  }
}
