import FileSystem
import FoundationEssentials

extension StoreSession {
  /// Reads the journals of a generation, from the first to the last that fits on the one before it.
  ///
  /// Damage ends the reading: what stands before it counts, what stands after it is dropped and counted. Throws only
  /// what says nothing about the content: `.locked`, `.io`.
  func readJournals(
    of content: any SealedContent, _ survey: SlotSurvey, protection: ProtectionClass
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
        chain.tailDropped += try byteCount(of: name)
        continue
      }
      do throws(ProtectionError) {
        guard let file = try open(name) else { throw ProtectionError(.missing, "A journal went away.") }
        try read(file, index, content, survey, protection, into: &chain, isLast: position == indices.count - 1)
      } catch  where error.saysNothingAboutContent && error.code != .unsupportedVersion {
        throw error
      } catch {
        chain.isBroken = true
        chain.tailDropped += try byteCount(of: name)
      }
    }
    return chain
  }

  private func read(
    _ file: StoreFile, _ index: UInt32, _ content: any SealedContent, _ survey: SlotSurvey,
    _ protection: ProtectionClass, into chain: inout JournalChain, isLast: Bool
  ) throws(ProtectionError) {
    let bytes = try file.read(0..<file.byteCount)
    let headerByteCount = try store.sealer.headerByteCount(bytes[...])
    let start = headerByteCount + JournalBinding.byteCount
    guard bytes.count >= start else { throw ProtectionError(.corrupt, "A journal is too short.") }
    let binding = Array(bytes[headerByteCount..<start])
    // The journal before it ends where this one says, even if an append that was never acknowledged follows there.
    let previous = chain.lastEnd(cutTo: JournalBinding.previousFrameCount(binding))
    let expected = JournalBinding(
      baseIdentifier: content.fields.identifier, baseCommitment: content.commitment, index: index,
      previous: previous)
    guard binding == expected.encoded, (index == 0) == (previous == nil) else {
      throw ProtectionError(.corrupt, "A journal doesn't follow the one before it.")
    }
    let opener = try store.sealer.openJournal(
      header: bytes[..<headerByteCount], binding: binding, protection: protection, identity: survey.identity,
      generation: content.fields.generation)
    var end = JournalEnd(
      index: index, identifier: opener.fields.identifier, frameCount: 0, lastCommitment: JournalEnd.noCommitment,
      offset: start)
    var frames: [Data] = []
    var ends: [(commitment: [UInt8], offset: Int)] = []
    while let message = JournalFrames.message(in: bytes, at: end.offset) {
      do throws(ProtectionError) {
        let (frame, commitment) = try opener.open(message, number: end.frameCount, previous: end.lastCommitment)
        end.frameCount += 1
        end.lastCommitment = commitment
        end.offset += message.count + JournalFrames.overhead
        frames.append(frame)
        ends.append((commitment, end.offset))
      } catch  where error.code == .corrupt {
        break
      }
    }
    // A journal without a frame proves nothing: its binding is authenticated with the first one.
    guard !frames.isEmpty else { throw ProtectionError(.corrupt, "A journal holds no frame.") }
    if let previous {
      chain.frames.removeLast(Int(chain.ends.last!.frameCount - previous.frameCount))
      chain.ends[chain.ends.count - 1] = previous
    }
    chain.frames += frames
    chain.ends.append(end)
    chain.lastFrames = ends
    chain.byteCount += end.offset
    chain.lastTail = countUpToLastNonZero(bytes[end.offset...])
    if isLast { chain.tailDropped += chain.lastTail }
  }

  private func byteCount(of name: StoreName) throws(ProtectionError) -> Int {
    (try? store.fileSystem.status(ofName: name.text, in: store.directory)).map { Int(clamping: $0.byteCount) } ?? 0
  }
}
