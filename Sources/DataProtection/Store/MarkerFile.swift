/// What a slot's marker file holds: the marker of the last attempt, and behind it those of attempts that ended badly and are not
/// the last at their archive.
///
/// What an older generation that was asked for by name has died of stays behind the markers of others: restoring the newest in
/// between must not make the next launch try it once more, nor must an attempt at the same one that went well without it. And
/// what the newest has died of stays while an older one is asked for.
struct MarkerFile {
  /// So many markers are kept behind the last, each of another node.
  static let formerLimit = 15
  /// The longest file.
  static let maximumByteCount = (1 + formerLimit) * CrashMarker.byteCount

  /// The marker of the last attempt, which is overwritten in place.
  var marker: CrashMarker
  /// Those of attempts on request that ended badly, the latest first, all of one archive; then the newest's, if it did.
  var former: [CrashMarker] = []

  /// Has an attempt begin in place of the last one.
  ///
  /// - Parameters:
  ///   - marker: Its marker; what is known of former ones at the same archive is counted in it.
  ///   - file: What the file holds; nil for nothing.
  ///   - boot: The machine's start: what one may have ended with nobody is to blame for, the first time.
  init(_ marker: CrashMarker, after file: MarkerFile?, boot: [UInt8]) {
    self.marker = marker
    guard let file else { return }
    var ended = file.former
    var last = file.marker
    if !last.isAtRest {
      // What only a restart of the machine has ended is no death yet; the next one goes on from there.
      last.hasDied = last.meaning(for: last.commitment, boot: boot).failedAttempts > 0
      ended.insert(last, at: 0)
    }
    let requests = ended.filter { $0.role == .requested }
    for request in requests where request.names(requests[0].commitment) {
      if let index = former.firstIndex(where: { $0.node == request.node }) {
        if request.hasDied { former[index].hasDied = true }
      } else {
        former.append(request)
      }
    }
    // Who restores the newest, or something instead of it, counts on from its marker.
    let newest = marker.role == .requested ? ended.first { $0.role == .newest } : nil
    former = former.prefix(Self.formerLimit - (newest == nil ? 0 : 1)) + [newest].compactMap(\.self)
  }

  /// Reads a file; `nil` when it is damaged or forged.
  ///
  /// What is behind the first marker counts only as far as it is authentic.
  init?(_ bytes: [UInt8], identity: [UInt8], keys: any StoreKeys) throws(ProtectionError) {
    guard bytes.count <= Self.maximumByteCount, bytes.count.isMultiple(of: CrashMarker.byteCount),
      let marker = try CrashMarker(Array(bytes.prefix(CrashMarker.byteCount)), identity: identity, keys: keys)
    else { return nil }
    self.marker = marker
    for start in stride(from: CrashMarker.byteCount, to: bytes.count, by: CrashMarker.byteCount) {
      let part = Array(bytes[start..<start + CrashMarker.byteCount])
      if let one = try CrashMarker(part, identity: identity, keys: keys) { former.append(one) }
    }
  }

  /// The bytes, authentication codes included.
  func encoded(identity: [UInt8], keys: any StoreKeys) throws(ProtectionError) -> [UInt8] {
    var bytes: [UInt8] = []
    for one in [marker] + former { bytes += try one.encoded(identity: identity, keys: keys) }
    return bytes
  }

  /// What the file means to a program that asks for an archive, and the marker that says so; nil when nothing speaks against it.
  ///
  /// - Parameters:
  ///   - archive: The archive's commitment.
  ///   - boot: The machine's start.
  ///   - isOwn: Whether the last attempt is one that asks itself: then only what was before it counts.
  ///   - isFree: Whether nobody holds the file's lock.
  func judged(
    for archive: some Collection<UInt8>, boot: [UInt8], isOwn: Bool, isFree: Bool
  ) -> (attempt: InterruptedAttempt, marker: CrashMarker)? {
    // Nobody has died of one at rest, and whoever holds its lock is restoring nothing.
    let isOver = isOwn || marker.isAtRest
    if !isOver, !isFree {
      let node = marker.node == CrashMarker.noNode ? nil : marker.node
      return (
        InterruptedAttempt(meaning: .livePeer, node: node, failedAttempts: Int(marker.failedAttempts)), marker
      )
    }
    let ended = ((isOver ? [] : [marker]) + former).filter { $0.names(archive) }
    guard let last = ended.first else { return isOver ? nil : (marker.meaning(for: archive, boot: boot), marker) }
    var attempt = last.meaning(for: archive, boot: boot)
    attempt.isRequested = last.role == .requested
    let requests = ended.filter { $0.role == .requested && $0.node != CrashMarker.noNode }
    attempt.requestedNodes = requests.filter { $0.meaning(for: archive, boot: boot).failedAttempts > 0 }.map(\.node)
    return (attempt, last)
  }
}
