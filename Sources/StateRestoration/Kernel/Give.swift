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
    /// The records that can be given, the newest first, and those that are *first* last.
    ///
    /// The one that decodes before all others is given.
    var candidates: [Int]
    /// Whether there is a record that can't be given, and that stays unread.
    var hasUnread: Bool
  }

  /// Chooses among the records of one row.
  static func choose(_ records: [Record]) -> Gift {
    let order = records.indices.sorted { first, second in
      if records[first].isFirst != records[second].isFirst { return records[second].isFirst }
      return records[first].save == records[second].save ? first > second : records[first].save > records[second].save
    }
    let candidates = order.filter { records[$0].obstacle == nil }
    return Gift(candidates: candidates, hasUnread: candidates.count < records.count)
  }
}
