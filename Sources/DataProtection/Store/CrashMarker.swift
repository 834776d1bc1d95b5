import Sealing

/// What a slot's crash marker says: how attempts at restoring its generations have ended, and which one runs.
///
/// The records are authenticated; the node in progress is not: nobody gains by forging it, and a wrong one costs one
/// subtree a request. The byte layout is in `Docs/ProtectedFileFormat.md`.
package struct CrashMarker: Hashable, Sendable {
  /// How attempts at one generation have ended.
  package struct Record: Hashable, Sendable {
    /// What the generation's key commits to, 32 bytes.
    package var commitment: [UInt8]
    /// The start of the machine in which the last attempt began, 16 bytes.
    package var boot: [UInt8]
    /// The node whose code ran at the last death; `noNode` for none.
    package var node: UInt32 = CrashMarker.noNode
    /// How many attempts in a row have died.
    package var deaths: UInt16 = 0
    /// Whether a restart of the machine has ended one: the next one counts as a death.
    package var hasRestarted = false
    /// Whether the attempt that runs, or ran last, was asked for by name.
    package var isRequest = false
    /// Whether the last one that was asked for by name has died.
    package var requestDied = false
  }

  /// The records, the newest first.
  package var records: [Record] = []
  /// Whether the first record's attempt runs, and the node that runs in it; nil when none does.
  package var running: UInt32?

  /// A node that is none: code outside any node runs.
  package static let noNode = UInt32.max
  /// No attempt runs.
  private static let idle = UInt32.max - 1
  /// So many generations are remembered.
  package static let limit = 16

  /// A marker of nothing.
  package init() {}

  /// The marker after the end of the run that left it: what ran has died.
  package func settled(boot: [UInt8]) -> CrashMarker {
    guard let running, !records.isEmpty else { return self }
    var settled = self
    settled.running = nil
    settled.records[0].died(at: running, boot: boot)
    return settled
  }

  /// The record of a generation.
  package func record(of commitment: [UInt8]) -> Record? { records.first { $0.commitment == commitment } }

  /// Has an attempt begin.
  package mutating func begin(_ commitment: [UInt8], isRequest: Bool, boot: [UInt8]) {
    var record = record(of: commitment) ?? Record(commitment: commitment, boot: boot)
    record.boot = boot
    record.isRequest = isRequest
    records.removeAll { $0.commitment == commitment }
    records = [record] + records.prefix(Self.limit - 1)
    running = Self.noNode
  }

  /// Has the attempt that runs end well: nothing is held against its generation any more.
  package mutating func end() {
    guard running != nil, !records.isEmpty else { return }
    running = nil
    records[0].deaths = 0
    records[0].hasRestarted = false
    records[0].node = Self.noNode
    records[0].requestDied = false
  }
}

extension CrashMarker.Record {
  /// Whether anything is held against the generation.
  var hasDeaths: Bool { deaths > 0 || hasRestarted || requestDied }

  /// Holds against the generation what was held before an attempt ended.
  mutating func takeDeaths(of earlier: Self) {
    (node, deaths) = (earlier.node, earlier.deaths)
    (hasRestarted, requestDied) = (earlier.hasRestarted, earlier.requestDied)
  }

  fileprivate mutating func died(at node: UInt32, boot: [UInt8]) {
    self.node = node
    if isRequest {
      requestDied = true
    } else if boot != self.boot, !hasRestarted {
      // Nobody is to blame for a power cut, the first time.
      hasRestarted = true
      self.node = CrashMarker.noNode
    } else {
      deaths = deaths == .max ? .max : deaths + 1
    }
  }
}

// MARK: Bytes

extension CrashMarker {
  private static let magic = "SRMARKER"
  private static let recordByteCount = 56
  private static let bodyByteCount = 4 + limit * recordByteCount
  /// The length of every marker; the node that runs is its last four bytes.
  package static let byteCount = SealedRecord.headerByteCount + bodyByteCount + SealedRecord.codeByteCount + 4

  /// The bytes: the records with their code, then the node that runs.
  package func encoded(identity: [UInt8], keys: any StoreKeys) throws(ProtectionError) -> [UInt8] {
    var body: [UInt8] = [UInt8(records.count), 0, 0, 0]
    for record in records {
      body += record.commitment
      body += record.boot
      body.appendInteger(record.node)
      body.appendInteger(record.deaths)
      body.append((record.hasRestarted ? 1 : 0) | (record.isRequest ? 2 : 0) | (record.requestDied ? 4 : 0))
      body.append(0)
    }
    body.appendZeroes(Self.bodyByteCount - body.count)
    var bytes = try SealedRecord.encode(magic: Self.magic, body: body, context: identity, purpose: .marker, keys: keys)
    let last = Self.bytes(ofRunning: running)
    for index in last.indices { bytes.append(last[index]) }
    return bytes
  }

  /// The last four bytes of a marker.
  static func bytes(ofRunning node: UInt32?) -> [4 of UInt8] {
    let number = node ?? idle
    return [4 of UInt8] { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) }
  }

  /// Reads a marker; throws `.corrupt` or `.otherDevice`, and `.unsupportedVersion` for a layout of the future.
  package init(_ bytes: [UInt8], identity: [UInt8], keys: any StoreKeys) throws(ProtectionError) {
    let corrupt = ProtectionError(.corrupt, "The crash marker is damaged; it counts as none.")
    guard bytes.count == Self.byteCount else { throw corrupt }
    let body = try SealedRecord.decode(
      Array(bytes.dropLast(4)), called: "The crash marker", magic: Self.magic, context: identity, purpose: .marker,
      keys: keys)
    var reader = FieldReader(body)
    let count = Int(reader.integer(UInt8.self))
    _ = reader.take(3)
    guard count <= Self.limit else { throw corrupt }
    for _ in 0..<count {
      var record = Record(commitment: Array(reader.take(32)), boot: Array(reader.take(16)))
      record.node = reader.integer()
      record.deaths = reader.integer()
      let flags: UInt8 = reader.integer()
      record.hasRestarted = flags & 1 != 0
      record.isRequest = flags & 2 != 0
      record.requestDied = flags & 4 != 0
      _ = reader.take(1)
      records.append(record)
    }
    var last = FieldReader(bytes[(bytes.count - 4)...])
    let node: UInt32 = last.integer()
    running = node == Self.idle || records.isEmpty ? nil : node
  }
}
