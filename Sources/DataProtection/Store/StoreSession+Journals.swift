import FileSystem
import FoundationEssentials

extension StoreSession {
  /// Opens the journals of a generation, from the first to the last that fits on the one before it.
  ///
  /// Damage at an end, or anywhere when `checksAll`, ends the reading: what stands before it counts, what stands after
  /// it is dropped and counted. Throws only what says nothing about the content: `.locked`, `.io`.
  func readJournals(
    of content: any SealedContent, _ survey: SlotSurvey, protection: ProtectionClass, checksAll: Bool = false
  ) throws(ProtectionError) -> JournalChain {
    let number = content.fields.generation
    var indices: [UInt32] = []
    for case .journal(survey.slot, number, let index) in survey.names { indices.append(index) }
    indices.sort()
    var chain = JournalChain()
    for (position, index) in indices.enumerated() {
      let name = StoreName.journal(slot: survey.slot, number: number, index: index)
      guard !chain.isBroken, index == UInt32(position) else {
        chain.isBroken = true
        chain.tailDropped += byteCount(of: name)
        continue
      }
      do throws(ProtectionError) {
        guard let file = try open(name) else { throw ProtectionError(.missing, "A journal went away.") }
        try add(file, index, content, survey, protection, checksAll, to: &chain)
      } catch  where error.saysNothingAboutContent && error.code != .unsupportedVersion {
        throw error
      } catch {
        chain.isBroken = true
        chain.tailDropped += byteCount(of: name)
      }
    }
    chain.tailDropped += chain.lastTail
    return chain
  }

  private func add(
    _ file: StoreFile, _ index: UInt32, _ content: any SealedContent, _ survey: SlotSurvey,
    _ protection: ProtectionClass, _ checksAll: Bool, to chain: inout JournalChain
  ) throws(ProtectionError) {
    let head = try file.read(0..<StoreSession.journalHeadByteCount)
    let headerByteCount = try store.sealer.headerByteCount(head[...])
    let start = headerByteCount + JournalBinding.byteCount
    guard head.count >= start else { throw ProtectionError(.corrupt, "A journal is too short.") }
    let binding = Array(head[headerByteCount..<start])
    // The journal before it ends where this one says, even if an append that was never acknowledged follows there.
    let previous = try chain.journals.last?.cut(to: JournalBinding.previousFrameCount(binding))
    let expected = JournalBinding(
      baseIdentifier: content.fields.identifier, baseCommitment: content.commitment, index: index,
      previous: previous?.end)
    guard binding == expected.encoded, (index == 0) == (previous == nil) else {
      throw ProtectionError(.corrupt, "A journal doesn't follow the one before it.")
    }
    let opener = try store.sealer.openJournal(
      header: head[..<headerByteCount], binding: binding, protection: protection, identity: survey.identity,
      generation: content.fields.generation)
    let journal = try JournalReader(file, opener, index: index, start: start, checksAll: checksAll)
    if let previous { chain.journals[chain.journals.count - 1] = previous }
    chain.journals.append(journal)
  }

  /// Enough for the longest header and the binding.
  private static let journalHeadByteCount = 512

  private func byteCount(of name: StoreName) -> Int {
    let status = try? store.fileSystem.status(ofName: name.text, in: store.directory)
    // An empty file, or something that is no file, is missed as well.
    return max(Int(clamping: status?.byteCount ?? 0), 1)
  }
}
