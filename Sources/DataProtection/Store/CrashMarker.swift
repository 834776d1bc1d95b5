import Sealing

/// The 64 bytes that tell the next launch which node was being restored when this process died.
struct CrashMarker: Hashable, Sendable {
  /// The size of the file.
  static let byteCount = 64
  /// The bytes before the authentication code.
  static let bodyByteCount = 40
  /// So much of a commitment names an archive.
  static let commitmentByteCount = 12
  /// No node yet.
  static let noNode = UInt32.max

  /// The first 12 bytes of the archive's commitment.
  var commitment: [UInt8]
  /// The mark of the newest pending content that was joined to the archive; 0 when there was none.
  var pendingMark: UInt32
  /// The machine's start during which it was written, 16 bytes.
  var boot: [UInt8]
  /// The node that is being restored.
  var node: UInt32
  /// How many attempts at this archive have failed before this one.
  var failedAttempts: UInt16
  /// Whether a restart of the machine was forgiven once already.
  var hasForgiven: Bool
  /// What the archive was restored as.
  var role: RestorationAttempt.Role
  /// Whether restoring is over, and nobody is given state right now.
  var isAtRest = false
  /// Whether somebody is known to have died of it, whatever restarts there are since.
  var hasDied = false
  /// How many attempts before this one have ended badly in a row, whatever was saved meanwhile.
  var endsInARow: UInt8

  /// The marker of an attempt that begins, the first one at its archive.
  init(
    commitment: some Collection<UInt8>, pendingMark: UInt32 = 0, boot: [UInt8],
    role: RestorationAttempt.Role = .newest
  ) {
    self.commitment = Array(commitment.prefix(Self.commitmentByteCount))
    self.pendingMark = pendingMark
    self.boot = boot
    node = CrashMarker.noNode
    failedAttempts = 0
    hasForgiven = false
    self.role = role
    endsInARow = 0
  }

  /// Counts the attempt before on, if it was one at the same archive that ended badly.
  mutating func count(_ former: CrashMarker, as meaning: InterruptedAttempt.Meaning?) {
    guard meaning == .died || meaning == .machineRestarted else { return }
    let hasDied = meaning == .died
    let wasForgivenBefore = !hasDied && former.hasForgiven
    failedAttempts = UInt16(clamping: Int(former.failedAttempts) + (hasDied || wasForgivenBefore ? 1 : 0))
    hasForgiven = former.hasForgiven || !hasDied
    endsInARow = UInt8(clamping: Int(former.endsInARow) + (hasDied ? 1 : 0))
  }

  /// Counts what a marker of the same archive has counted that was begun in the same run.
  mutating func goOn(from begun: CrashMarker) {
    (failedAttempts, hasForgiven, endsInARow) = (begun.failedAttempts, begun.hasForgiven, begun.endsInARow)
  }

  /// Names the node that is being restored: it rests no more.
  mutating func note(node: UInt32) {
    self.node = node
    isAtRest = false
  }

  /// Says that nothing is being restored; what failed before counts again if the rest does not last.
  mutating func rest() {
    node = Self.noNode
    isAtRest = true
  }

  /// Whether an attempt that failed before counts, or would the next time.
  var countsFailures: Bool { failedAttempts != 0 || hasForgiven }

  /// Counts no attempt that failed before: it was at something else.
  mutating func forgetFailures() {
    failedAttempts = 0
    hasForgiven = false
  }

  /// Counts no attempt before this one any more, nor how many ended badly in a row.
  mutating func forgetFormer() {
    forgetFailures()
    endsInARow = 0
  }

  /// Whether there is anything to forget when something is saved.
  var hasFormerState: Bool { countsFailures || role != .newest }

  /// Is about what was saved in the archive's place; about a change of it if there is no new commitment.
  ///
  /// Attempts that failed before were at another state; that they have ended badly in a row stays.
  mutating func follow(_ commitment: [UInt8]?) {
    forgetFailures()
    role = .newest
    guard let commitment else { return }
    self.commitment = Array(commitment.prefix(Self.commitmentByteCount))
    pendingMark = 0
  }

  /// Reads a marker; `nil` when it is damaged or forged.
  init?(
    _ bytes: [UInt8], identity: [UInt8], keys: any StoreKeys
  ) throws(ProtectionError) {
    guard bytes.count == CrashMarker.byteCount else { return nil }
    let code = try CrashMarker.code(over: identity + bytes[..<CrashMarker.bodyByteCount], keys)
    guard ConstantTime.areEqual(Array(code).span, Array(bytes[CrashMarker.bodyByteCount...]).span) else { return nil }
    var reader = FieldReader(bytes[...])
    commitment = Array(reader.take(Self.commitmentByteCount))
    pendingMark = reader.integer()
    boot = Array(reader.take(16))
    node = reader.integer()
    failedAttempts = reader.integer()
    let flags = reader.integer(UInt8.self)
    hasForgiven = flags & Self.forgivenFlag != 0
    role = flags & Self.standInFlag != 0 ? .standIn : flags & Self.requestedFlag != 0 ? .requested : .newest
    isAtRest = flags & Self.restFlag != 0
    hasDied = flags & Self.diedFlag != 0
    endsInARow = reader.integer()
  }

  /// The bytes, authentication code included.
  func encoded(identity: [UInt8], keys: any StoreKeys) throws(ProtectionError) -> [UInt8] {
    var bytes = MarkerBytes(self, identity: identity)
    return try bytes.note(node: node, keys: keys)
  }

  /// The bytes before the authentication code.
  var body: [UInt8] {
    var bytes = commitment
    bytes.appendInteger(pendingMark)
    bytes += boot
    bytes.appendInteger(node)
    bytes.appendInteger(failedAttempts)
    bytes.append(
      (hasForgiven ? Self.forgivenFlag : 0) | (role == .standIn ? Self.standInFlag : 0)
        | (isAtRest ? Self.restFlag : 0) | (role == .requested ? Self.requestedFlag : 0)
        | (hasDied ? Self.diedFlag : 0))
    bytes.append(endsInARow)
    return bytes
  }

  /// Where the number of the node is among the bytes.
  static let nodeOffset = 32
  /// The flag of a restart of the machine that was forgiven.
  static let forgivenFlag: UInt8 = 1
  /// The flag of an archive that was restored instead of a newer one.
  static let standInFlag: UInt8 = 2
  /// The flag of a marker at rest.
  static let restFlag: UInt8 = 4
  /// The flag of an older generation that was asked for by name.
  static let requestedFlag: UInt8 = 8
  /// The flag of one behind another, which somebody is known to have died of.
  static let diedFlag: UInt8 = 16

  /// The authentication code, for a message of the slot's identity and the body.
  static func code(
    over message: [UInt8], _ keys: any StoreKeys
  ) throws(ProtectionError) -> ArraySlice<UInt8> {
    try keys.authenticationCode(.marker, over: message).prefix(byteCount - bodyByteCount)
  }

  /// Whether its count goes on with an attempt in a role: requests are counted apart.
  func countsFor(_ role: RestorationAttempt.Role) -> Bool { (self.role == .requested) == (role == .requested) }

  /// Whether it is that of an attempt at an archive.
  func names(_ archive: some Collection<UInt8>) -> Bool {
    commitment.elementsEqual(archive.prefix(Self.commitmentByteCount))
  }

  /// What the marker means to a program that finds it without its lock being held.
  func meaning(for archive: some Collection<UInt8>, boot current: [UInt8]) -> InterruptedAttempt {
    let node = node == CrashMarker.noNode ? nil : node
    guard names(archive) else {
      return InterruptedAttempt(meaning: .otherArchive, node: nil, failedAttempts: 0)
    }
    guard boot == current || hasDied else {
      // A power cut is nobody's fault; a second one in a row may be the archive's (it may bring the machine down).
      return InterruptedAttempt(
        meaning: .machineRestarted, node: node, failedAttempts: Int(failedAttempts) + (hasForgiven ? 1 : 0),
        isStandIn: role == .standIn, pendingMark: pendingMark, endsInARow: Int(endsInARow))
    }
    // When every run saves something, who kills them is not known to be the state: that has to be asked.
    let ends = Int(endsInARow) + 1
    return InterruptedAttempt(
      meaning: .died, node: node,
      failedAttempts: max(Int(failedAttempts) + 1, ends < InterruptedAttempt.endLimit ? 1 : 2),
      isStandIn: role == .standIn,
      pendingMark: pendingMark, endsInARow: ends)
  }
}
