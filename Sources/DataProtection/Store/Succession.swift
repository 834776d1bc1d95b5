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
enum Verification {
  /// It is whole, or there is none.
  case whole
  /// It can't be read now: the keys are away.
  case locked
  /// It is damaged.
  case damaged
  /// It is gone, or nothing to fall back to: the one before it stays.
  case passing
}

extension Ledger {
  /// What became of a ledger with a new generation in it.
  struct Successor: Sendable {
    var ledger: Ledger
    /// The generations set aside with it.
    var setAside: [Record] = []
    /// The set-aside generations that had to make room.
    var removed: [Record] = []
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
          current.flags.insert(.damaged)
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
    let named = Set(records.map(\.generation))
    return (old.current == nil || predecessor?.generation == old.current?.generation)
      && (old.pending + old.setAside).allSatisfy { named.contains($0.generation) }
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

  /// Removes the generations before the newest under a weaker class than that, or than another one was: nothing falls back
  /// to a class that the program has left.
  mutating func forgetOtherClasses() -> [Record] {
    guard let current else { return [] }
    if let predecessor, !predecessor.flags.contains(.oneWay), predecessor.protection != current.protection {
      self.predecessor = nil
    }
    let weaker = setAside.filter {
      $0.protection.isWeaker(than: current.protection) && !$0.flags.contains(.oneWay)
    }
    setAside.removeAll { weaker.contains($0) }
    return weaker
  }
}
