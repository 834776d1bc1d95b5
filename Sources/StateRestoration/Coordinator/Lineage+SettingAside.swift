internal import DataProtection
internal import RestorationArchive

extension Lineage {
  /// What a whole generation would replace without continuing it.
  struct Replacing: Sendable {
    /// Whether the newest state on disk is not the one that is continued.
    var isOther: Bool
    /// The set-aside state that is continued instead, which needs its place no more once it is saved.
    var reclaimed: UInt64?
    /// Whether the generation before the newest was refused too, after it had stood in.
    var refusesOlder = false
    /// Whether what was saved while locked is to be sorted first: this run goes on from what it has saved itself, and from
    /// nothing else of it.
    var sortsPending = false
    /// What was set aside for it already, as long as no receipt of a whole generation has said so.
    var findings: [PreservationFinding] = []

    /// Nothing: the newest state is continued, or there is none.
    static let nothing = Replacing(isOther: false)
    /// A state that was not restored.
    static let refused = Replacing(isOther: true)
    /// The same; perhaps the generation before it was refused too, after it had stood in.
    static func refused(withOlder refusesOlder: Bool) -> Replacing {
      Replacing(isOther: true, refusesOlder: refusesOlder)
    }
  }

  private var setAside: SetAsideStates {
    SetAsideStates(store: store, limits: limits, schemaVersion: schemaVersion)
  }

  /// What the next whole generation takes the place of, and what of it is set aside.
  mutating func succession() throws(ProtectionError) -> Succession {
    var succession = Succession()
    if replacing.sortsPending || replacing.isOther {
      do throws(ProtectionError) {
        let all = try store.openPending()
        replacing.findings += all.problems.values.map { .failure(UnreadablePending.one($0)) }
          .filter { !replacing.findings.contains($0) }
        let included = Set(merging.map(\.generation))
        let others = all.readable.filter { !$0.isOwn && !included.contains($0.generation) }
        succession.retiring = others.map(\.generation) + all.problems.keys
        merging += all.readable.filter { one in one.isOwn && !included.contains(one.generation) }
      } catch  where !error.code.saysTryAgain {
        // What nobody can open stays where it is.
        replacing.findings.append(.failure(UnreadablePending.all(error)))
      }
    }
    succession.consuming = merging
    guard replacing.isOther else { return succession }
    succession.reclaiming = replacing.reclaimed.map(Generation.init(rawValue:))
    if replacing.refusesOlder, let older = try? store.open(.predecessor) {
      succession.retiring.append(older.generation)
    }
    do throws(ProtectionError) {
      let newest = try store.open(.newest)
      // What launches that declined have saved unedited is set aside once.
      if !setAside.holdsEqual(of: newest) { succession.retiring.append(newest.generation) }
    } catch  where !error.code.saysTryAgain {
      // What is damaged is set aside by the store.
    }
    return succession
  }

  /// Settles what was replaced, after a whole generation is durable; says what was set aside and what had to go for it.
  mutating func didReplace(_ receipt: StoreReceipt) -> [PreservationFinding] {
    defer { replacing = .nothing }
    let removed = receipt.removed.map { generation in
      PreservationFinding.setAsideRemoved(
        SetAsideState(
          id: generation.generation.rawValue, byteCount: generation.byteCount, isReadable: false,
          isDamaged: generation.isDamaged))
    }
    let put = receipt.setAside.compactMap { try? setAside.describe($0) }.map { PreservationFinding.setAside($0) }
    return replacing.findings + put + removed
  }
}
