/// Which suspended programs end first when memory is short.
package enum PurgeOrder {
  /// One program, as far as purging is concerned.
  package struct Candidate: Sendable, Hashable {
    /// The program's name.
    package let name: String

    /// The program's state; only suspended ones are purged.
    package let state: Lifecycle.State

    /// The memory it holds, in bytes.
    package let footprint: Int

    /// When it was suspended: any count that grows.
    package let suspendedAt: UInt64

    /// Describes a program.
    package init(name: String, state: Lifecycle.State, footprint: Int, suspendedAt: UInt64) {
      self.name = name
      self.state = state
      self.footprint = footprint
      self.suspendedAt = suspendedAt
    }
  }

  /// The suspended ones, largest first; of equals, the one suspended first.
  package static func order(_ candidates: [Candidate]) -> [Candidate] {
    candidates.filter { $0.state == .suspended }.sorted { left, right in
      (right.footprint, left.suspendedAt) < (left.footprint, right.suspendedAt)
    }
  }

  /// The shortest beginning of the order that frees so many bytes, or all of them if they don't suffice.
  package static func purging(_ candidates: [Candidate], toFree bytes: Int) -> [Candidate] {
    var freed = 0
    var chosen: [Candidate] = []
    for candidate in order(candidates) where freed < bytes {
      let (sum, isTooLarge) = freed.addingReportingOverflow(max(0, candidate.footprint))
      freed = isTooLarge ? .max : sum
      chosen.append(candidate)
    }
    return chosen
  }
}
