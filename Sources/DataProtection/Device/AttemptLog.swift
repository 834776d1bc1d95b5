import FileSystem
import Sealing

/// The count of wrong passcodes on disk, and the wait it imposes.
///
/// Every call but `refresh` needs the directory's lock.
struct AttemptLog: ~Copyable {
  private let directory: DeviceDirectory
  private let keybag: KeybagIdentifier
  private let key: SecretKey
  private let clock: any BootClock

  init(
    _ directory: DeviceDirectory, keybag: KeybagIdentifier, deviceKey: borrowing ProtectedDevice.Key,
    clock: any BootClock
  ) throws(ProtectionError) {
    self.directory = directory
    self.keybag = keybag
    self.clock = clock
    key = try deviceKey.derive(.attempts)
  }

  /// The record on disk, brought up to the present start of the machine.
  ///
  /// A missing or invalid one counts as so many attempts that the longest delay starts now. The delay starts in full
  /// after another start of the machine and after a clock was set back. Both are written down, so that they run out.
  func read() throws(ProtectionError) -> AttemptRecord {
    var bytes: [UInt8]?
    do throws(ProtectionError) {
      bytes = try directory.read(AttemptRecord.fileName)
    } catch  where error.code == .corrupt {
      // Too long, a link, a directory or not ours: as good as none. Replacing it needs the name to be free of it.
      try directory.clear(AttemptRecord.fileName)
    }
    let found = try bytes.map { (bytes) throws(ProtectionError) in
      try AttemptRecord(bytes, keybag: keybag, key: key)
    }
    guard case let record?? = found else {
      let unknown = AttemptRecord(started: AttemptRecord.unknownCount, at: clock)
      try write(unknown)
      return unknown
    }
    guard record.isStale(at: clock) else { return record }
    var restarted = record
    restarted.restart(at: clock)
    try write(restarted)
    return restarted
  }

  /// Brings the record on disk up to the present start of the machine, and takes the lock only for writing.
  func refresh() throws(ProtectionError) {
    if let bytes = try directory.read(AttemptRecord.fileName),
      let record = try AttemptRecord(bytes, keybag: keybag, key: key), !record.isStale(at: clock)
    {
      return
    }
    try directory.withLock { () throws(ProtectionError) in _ = try read() }
  }

  /// Refuses while the delay runs; otherwise counts an attempt, durably, and returns the record with it.
  ///
  /// Throws `.io`, with the reason, when nothing can be written: an attempt that can't be counted isn't checked.
  func begin() throws(ProtectionError) -> AttemptRecord {
    do throws(ProtectionError) {
      var record = try read()
      let delay = record.remainingDelay(at: clock)
      guard delay == .zero else { throw ProtectionError.delayed(delay) }
      record.started = record.started == .max ? .max : record.started + 1
      record.restart(at: clock)
      try write(record)
      return record
    } catch {
      throw error.explainingUncounted
    }
  }

  /// Notes that the attempt was wrong; returns how many were.
  func fail(_ record: AttemptRecord) -> UInt32 {
    var record = record
    record.wrong = record.wrong == .max ? .max : record.wrong + 1
    // If it can't be written, the attempt stays counted as begun, which delays as much.
    try? write(record)
    return record.wrong
  }

  /// Begins to count anew, after the right passcode.
  func reset() throws(ProtectionError) {
    try write(AttemptRecord(started: 0, at: clock))
  }

  /// The rest of the delay.
  func remainingDelay() throws(ProtectionError) -> Duration {
    try read().remainingDelay(at: clock)
  }

  private func write(_ record: AttemptRecord) throws(ProtectionError) {
    let bytes = try record.encode(keybag: keybag, key: key)
    try unsafe directory.replace(AttemptRecord.fileName, bytes.span.bytes)
  }
}

extension ProtectionError {
  /// The same refusal with its cause in words, where the attempt could not be written down.
  fileprivate var explainingUncounted: ProtectionError {
    let reason: String
    switch (cause as? FileSystemError)?.code {
    case .noSpace?, .quotaExceeded?: reason = "The disk is full; free some space and try again."
    case .readOnlyFileSystem?: reason = "The disk is read-only; make it writable and try again."
    default: return self
    }
    return ProtectionError(
      code, "No passcode is checked while attempts can't be counted. \(reason)", errno: errno, cause: cause)
  }

  /// The refusal of a passcode that comes too soon.
  static func delayed(_ delay: Duration) -> ProtectionError {
    ProtectionError(
      .passcodeDelayed,
      "Too many wrong passcodes; none is checked for another \(delay.components.seconds + 1) seconds.",
      retryDelay: delay)
  }
}
