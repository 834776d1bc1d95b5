import FoundationEssentials

/// A pending generation that was found and opened.
struct FoundPending {
  /// What the ledger says, or would say, about it.
  let record: Ledger.Record
  /// Its content, preamble included.
  let content: any SealedContent
  /// What it says of itself.
  let preamble: PendingPreamble
}

extension StoreSession {
  /// The pending generations that are in no other, oldest first, opened; and what is wrong with the rest.
  ///
  /// Those count that stand above the ledger's floor under a name of their own and are authentic, whether the ledger
  /// lists them or a crash cut them short of it. One takes the place of earlier ones of its own run, and of those
  /// that it includes. Nothing is pending when a newer generation, which a crash cut short of the ledger, includes it.
  func findPending(
    _ survey: SlotSurvey, protection: ProtectionClass
  ) throws(ProtectionError) -> (pending: [FoundPending], problems: [ProtectionError]) {
    var found: [FoundPending] = []
    var problems: [ProtectionError] = []
    var numbers = survey.waiting
    if let listed = survey.entry?.pending?.generation, !numbers.contains(listed), listed > survey.pendingFloor {
      numbers.append(listed)
    }
    for number in numbers {
      do throws(ProtectionError) {
        found.append(try openPending(number, survey))
      } catch  where error.saysNothingAboutContent {
        throw error
      } catch {
        problems.append(error)
      }
    }
    if let newest = survey.generations.first, newest > survey.floor, !found.isEmpty,
      let content = try? findNewest(survey, protection: protection).content,
      content.fields.consumesPending
    {
      found.removeAll { $0.record.generation < content.fields.generation }
    }
    let included = found.map(\.preamble.included).max() ?? 0
    let remaining = found.enumerated().filter { index, one in
      one.record.generation > included
        && !found[(index + 1)...].contains { $0.preamble.run == one.preamble.run }
    }.map(\.element)
    // What a run has replaced itself was not taken away; who has replaced it says so.
    let accountedFor = Set(numbers + remaining.flatMap(\.preamble.replaced))
    let isGone = remaining.contains { one in
      one.preamble.others.contains { $0 > max(survey.pendingFloor, included) && !accountedFor.contains($0) }
    }
    if isGone, !problems.contains(where: { $0.code == .missing }) {
      problems.append(
        ProtectionError(.missing, "Something that was saved while locked is gone; what was saved later is there."))
    }
    return (remaining, problems)
  }

  /// The pending generation that a new entry lists, beside one that includes others; nil for none.
  ///
  /// One that is gone or damaged is not listed on: it was reported at every opening until now.
  func pendingToKeep(
    _ survey: SlotSurvey, consuming consumed: Set<UInt64>
  ) throws(ProtectionError) -> Ledger.Record? {
    let floor = max(survey.pendingFloor, consumed.max() ?? 0)
    let listed = survey.entry?.pending
    for number in survey.waiting.reversed() where number > floor {
      do throws(ProtectionError) {
        return try openPending(number, survey).record
      } catch {
        if error.code == .io || error.code == .busy { throw error }
        if error.saysNothingAboutContent, number == listed?.generation { return listed }
      }
    }
    return nil
  }

  private func openPending(_ number: UInt64, _ survey: SlotSurvey) throws(ProtectionError) -> FoundPending {
    guard let file = try open(.generation(slot: survey.slot, number: number, isPending: true)) else {
      throw ProtectionError(.missing, "What was saved while locked is gone: something other than this program took it.")
    }
    let content = try store.sealer.openArchive(
      file, protection: .completeUnlessOpen, identity: survey.identity, generation: number)
    guard content.fields.isPending else {
      throw ProtectionError(.corrupt, "A generation stands under the name of one saved while locked.")
    }
    if let listed = survey.entry?.pending, listed.generation == number, listed.commitment != content.commitment {
      throw ProtectionError(.rolledBack, "The file is not the one that was saved last while locked.")
    }
    return FoundPending(
      record: Ledger.Record(
        generation: number, commitment: content.commitment, protection: .completeUnlessOpen, wasPending: true),
      content: content,
      preamble: try PendingPreamble(
        try content.read(0..<min(content.byteCount, content.fields.preambleByteCount))))
  }

  /// Whether a pending generation still belongs on top of what is current.
  ///
  /// A whole one includes what its base was, so damage to the base or to the frames that it includes takes nothing from
  /// it: then it is the newest there is.
  func isUnchanged(
    _ pending: FoundPending, _ survey: SlotSurvey, protection: ProtectionClass
  ) throws(ProtectionError) -> Bool {
    let isWhole = pending.preamble.kind == .whole
    let found: FoundGeneration
    do throws(ProtectionError) {
      found = try findNewest(survey, protection: protection)
    } catch {
      if error.saysNothingAboutContent { throw error }
      if error.code == .notFound { return pending.preamble.base == nil }
      return isWhole && isMade(pending, on: survey.entry?.current)
    }
    // Touched nodes are edits: they belong on whatever was saved before them.
    guard isWhole else { return found.record.generation < pending.record.generation }
    if case .olderGeneration = found.standing { return isMade(pending, on: survey.entry?.current) }
    guard found.standing == .current, isMade(pending, on: found.record) else { return false }
    let chain = try readJournals(of: found.content, survey, protection: protection)
    let end = chain.ends.last.map(PendingPreamble.JournalMark.init)
    let known = pending.preamble.base?.journal
    if end == known { return !chain.isBroken }
    // Frames that are damaged or gone now, but were there when it was made, are in it.
    guard let known else { return false }
    return end?.isBefore(known) ?? true
  }

  /// Whether a pending generation was made on top of a generation that its run had read, readable now or not.
  private func isMade(_ pending: FoundPending, on record: Ledger.Record?) -> Bool {
    guard let base = pending.preamble.base, base.wasRead, let record else { return false }
    return record.generation == base.generation && record.commitment == base.commitment
  }
}
