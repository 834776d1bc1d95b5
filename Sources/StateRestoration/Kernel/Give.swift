internal import RestorationArchive

/// The table *Give*: which of a row's records an object gets.
enum Give {
  /// The facts about one record.
  struct Record: Sendable {
    /// The number of the save that wrote it.
    var save: UInt32
    /// Why it can't be given now; nil when it can.
    var obstacle: Obstacle?
    /// Whether its object came by itself where unread records are, and was not edited.
    var isFirst = false
  }

  /// Why a record can't be given.
  enum Obstacle: Hashable, Sendable {
    case newerVersion, damaged, quarantined, notAskedFor, shed
  }

  /// What an object gets of a row, by positions in its list of records.
  struct Gift: Hashable, Sendable {
    /// The records that can be given, in the order in which they are tried: the newest first, and those that are *first* after all
    /// others, the oldest of them before.
    ///
    /// The one that decodes before all others is given: a screen that opened empty hides no stored text.
    var candidates: [Int]
    /// Whether there is a record that can't be given, and that stays unread.
    var hasUnread: Bool
  }

  /// Chooses among the records of one row.
  static func choose(_ records: [Record]) -> Gift {
    let order = records.indices.sorted { first, second in
      if records[first].isFirst != records[second].isFirst { return records[second].isFirst }
      if records[first].isFirst { return (records[first].save, first) < (records[second].save, second) }
      return records[first].save == records[second].save ? first > second : records[first].save > records[second].save
    }
    let candidates = order.filter { records[$0].obstacle == nil }
    return Gift(candidates: candidates, hasUnread: candidates.count < records.count)
  }
}
