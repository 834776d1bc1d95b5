/// What a new generation takes the place of.
package struct ArchiveSuccession: Sendable {
  /// Saved while locked and contained in the new one: deleted.
  package var consuming: [Generation] = []
  /// Refused, so not continued: set aside where they are.
  package var retiring: [Generation] = []
  /// The set-aside generation that the new one continues: it goes, and makes no room before.
  package var reclaiming: Generation?

  /// The newest is simply continued.
  package init(consuming: [Generation] = [], retiring: [Generation] = [], reclaiming: Generation? = nil) {
    self.consuming = consuming
    self.retiring = retiring
    self.reclaiming = reclaiming
  }
}

/// What became of reading the newest generation to its last byte, before it becomes the one before.
///
/// Of several parts the worst counts.
enum Verification: Comparable {
  /// It is whole, or there is none.
  case whole
  /// It is gone, or nothing to fall back to, or a part that the new one shares with it can't be vouched for: the one before it
  /// stays.
  case passing
  /// It can't be read now: the keys are away.
  case locked
  /// It is damaged.
  case damaged
}

extension Ledger {
  /// What became of a ledger with a new generation in it.
  struct Successor: Sendable {
    var ledger: Ledger
    /// The generations set aside with it.
    var setAside: [Record] = []
    /// The set-aside generations that had to make room.
    var removed: [Record] = []
    /// The class under which nothing older may be left that a weaker one protects; nil for that of a generation of one part.
    var weakest: ProtectionClass?
  }

  /// The ledger with a new newest generation.
  ///
  /// - Parameters:
  ///   - record: The new one.
  ///   - succession: What it takes the place of.
  ///   - verification: What became of reading the newest until now.
  func succeeded(by record: Record, _ succession: ArchiveSuccession, _ verification: Verification) -> Successor {
    var next = Successor(ledger: self)
    let retiring = Set(succession.retiring.map(\.rawValue))
    let consumed = Set(succession.consuming.map(\.rawValue))
    var aside: [Record] = []
    if let reclaimed = succession.reclaiming { next.ledger.setAside.removeAll { $0.generation == reclaimed.rawValue } }
    if let predecessor, retiring.contains(predecessor.generation) {
      aside.append(predecessor)
      next.ledger.predecessor = nil
    }
    if var current {
      if retiring.contains(current.generation) {
        aside.append(current)
      } else {
        switch verification {
        case .whole: next.ledger.predecessor = current
        case .passing: break
        case .locked:
          // It may not be whole, so the one that is stays, too.
          if let predecessor = next.ledger.predecessor { aside.append(predecessor) }
          next.ledger.predecessor = current
        case .damaged:
          current.mark(.damaged)
          aside.append(current)
        }
      }
    }
    aside += pending.filter { retiring.contains($0.generation) && !consumed.contains($0.generation) }
    next.ledger.pending.removeAll { consumed.contains($0.generation) || retiring.contains($0.generation) }
    next.ledger.current = record
    next.setAside = aside.sorted { $0.generation < $1.generation }
    next.ledger.setAside += next.setAside
    next.removed = next.ledger.makeRoom()
    next.setAside.removeAll { next.removed.contains($0) }
    return next
  }

  /// Whether nothing is lost if its newest generation is: the older ledger's newest stands in for that, and all else that
  /// it vouched for is still named.
  func vouchesForAll(of old: Ledger) -> Bool {
    let named = files
    return (old.current == nil || predecessor?.generation == old.current?.generation)
      && (old.pending + old.setAside).allSatisfy { $0.parts.allSatisfy { named.contains($0.file) } }
  }

  /// Removes set-aside generations over the limit; the newest stays, however long it is.
  private mutating func makeRoom() -> [Record] {
    var removed: [Record] = []
    while setAside.count > 1 {
      let bytes = setAside.reduce(UInt64(0)) { $0 &+ $1.byteCount }
      guard setAside.count > Self.setAsideLimit || bytes > Self.setAsideByteLimit else { break }
      let older = setAside.indices.dropLast()
      let goes = older.first { setAside[$0].flags.contains(.damaged) } ?? older[0]
      removed.append(setAside.remove(at: goes))
    }
    return removed
  }

  /// Removes the generations before the newest, which has one part, under a weaker class than that, or than another one was:
  /// nothing falls back to a class that the program has left.
  mutating func forgetOtherClasses() -> [Record] {
    guard let protection = current?.protection else { return [] }
    if let predecessor,
      predecessor.parts.contains(where: { !$0.flags.contains(.oneWay) && $0.protection != protection })
    {
      self.predecessor = nil
    }
    return forgetSetAside(weakerThan: protection)
  }

  /// Removes the generations before the newest that have a file under a weaker class than a given one: what has come under that
  /// class is in none of them any more.
  mutating func forget(weakerThan protection: ProtectionClass) -> [Record] {
    if predecessor?.isWeaker(than: protection) == true { predecessor = nil }
    return forgetSetAside(weakerThan: protection)
  }

  private mutating func forgetSetAside(weakerThan protection: ProtectionClass) -> [Record] {
    let weaker = setAside.filter { $0.isWeaker(than: protection) }
    setAside.removeAll { weaker.contains($0) }
    return weaker
  }
}

extension Ledger.Record {
  /// Whether one of its files has a weaker class, and was not sealed one-way.
  fileprivate func isWeaker(than protection: ProtectionClass) -> Bool {
    parts.contains { $0.protection.isWeaker(than: protection) && !$0.flags.contains(.oneWay) }
  }
}

extension Ledger.Successor {
  /// Whether a file that the older ledger names is to go because a weaker class protects it.
  func leavesWeaker(_ old: Ledger) -> Bool {
    guard let weakest = weakest ?? (ledger.current?.parts.count == 1 ? ledger.current?.protection : nil) else {
      return false
    }
    let weaker = old.records.lazy.flatMap(\.parts).filter {
      $0.protection.isWeaker(than: weakest) && !$0.flags.contains(.oneWay)
    }
    guard !weaker.isEmpty else { return false }
    let named = ledger.files
    return weaker.contains { !named.contains($0.file) }
  }
}
