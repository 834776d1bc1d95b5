import Dispatch
import FaultyFileSystem
import FileSystem
import Foundation
import OwnThread
import ProcessMemory
import Sealing
import Synchronization
import Testing

@testable import DataProtection

/// The memory of a process after a lock that came while something hung.
@Suite(.serialized) struct LockedMemoryTests {
  @Test(arguments: [MemoryTrial.Operation.set, .unlock, .change])
  func `a disk that hangs at any call keeps nothing in memory over a lock`(
    _ operation: MemoryTrial.Operation
  ) async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      [operation = operation as MemoryTrial.Operation] in
      var number = 0
      var lockedCount = 0
      while true {
        number += operation == .set && number > 0 ? 3 : 1
        let trial = try await MemoryTrial(operation)
        defer { trial.remove() }
        guard let found = try await trial.lockWhileCallHangs(number) else { break }
        require(found.leftovers == [], "\(operation), call \(number): \(found.leftovers)")
        if found.isLocked { lockedCount += 1 }
      }
      require(number > 20 && lockedCount > 10, "\(number) calls, locked in \(lockedCount)")
    }
    #expect(result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } == "")
  }

  @Test(arguments: [HangingCustody.Call.keep, .forget, .lend])
  func `a custody that hangs keeps no key in memory over a lock, and lock returns`(
    _ call: HangingCustody.Call
  ) async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      [call = call as HangingCustody.Call] in
      let trial = try await MemoryTrial(.unlock)
      defer { trial.remove() }
      try await trial.device.unlock(passcode: trial.passcode())
      let keys = trial.custody.maskedByClass
      if call == .lend {
        trial.device.lock()
        for (protection, key) in keys { trial.custody.put(key, protection) }
      }
      trial.custody.hangs.withLock { $0 = call }
      switch call {
      case .lend: DispatchQueue.global().async { trial.device.unlockFromCustody() }
      case .forget: break
      case .keep:
        Task.detached(executorPreference: OwnThreads.shared) {
          try await trial.device.unlock(passcode: trial.passcode())
        }
      }
      if call != .forget { require(trial.custody.isHanging.wait(timeout: .now() + 60) == .success) }
      let didLock = DispatchSemaphore(value: 0)
      DispatchQueue.global().async {
        trial.device.lock()
        didLock.signal()
      }
      require(didLock.wait(timeout: .now() + 30) == .success, "lock() has not returned")
      require(trial.device.lockState == .locked)
      let needles = keys.filter { $0.key != .completeUntilFirstUserAuthentication }
      let found = try MemoryTrial.inMemory(
        Dictionary(uniqueKeysWithValues: needles.map { ("\($0.key)", $0.value) }))
      require(found == [], "\(found)")
      trial.custody.mayGo.signal()
    }
    #expect(result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } == "")
  }
}

/// Ends the process with words, unless a condition holds.
private func require(_ condition: Bool, _ words: @autoclosure () -> String = "no end within a minute") {
  guard !condition else { return }
  FileHandle.standardError.write(Data("\(words())\n".utf8))
  exit(EXIT_FAILURE)
}

/// A custody in which one call for `complete` hangs, when it is told to.
final class HangingCustody: ProtectedDevice.KeyCustody {
  enum Call: String, Sendable, Codable {
    case keep, forget, lend
  }

  let hangs = Mutex<Call?>(nil)
  let (isHanging, mayGo) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
  private let daemon = DaemonCustody()
  private let entries = Mutex<[ProtectionClass: ProtectedDevice.KeyCustodyEntry]>([:])

  var maskedByClass: [ProtectionClass: [UInt8]] { daemon.maskedByClass }

  func put(_ masked: [UInt8], _ protection: ProtectionClass) {
    daemon.put(masked, entries.withLock { $0[protection]! })
  }

  func keep(_ key: Span<UInt8>, for entry: ProtectedDevice.KeyCustodyEntry) {
    entries.withLock { $0[entry.protection] = entry }
    daemon.keep(key, for: entry)
    hang(.keep, entry)
  }

  func lend(_ entry: ProtectedDevice.KeyCustodyEntry, to body: (Span<UInt8>) -> Void) {
    // After `complete` was lent, before the others are.
    if entry.protection != .complete { hang(.lend, entry) }
    daemon.lend(entry, to: body)
  }

  func forget(_ entry: ProtectedDevice.KeyCustodyEntry) {
    if entry.protection == .complete { hang(.forget, entry) }
    daemon.forget(entry)
  }

  private func hang(_ call: Call, _ entry: ProtectedDevice.KeyCustodyEntry) {
    let isDue = hangs.withLock { due in
      guard due == call, call != .keep || entry.protection == .complete else { return false }
      due = nil
      return true
    }
    guard isDue else { return }
    isHanging.signal()
    mayGo.wait()
  }
}

/// A device on a real disk whose calls can hang, and what to look for in memory.
struct MemoryTrial: Sendable {
  enum Operation: String, Sendable, Codable {
    case set, unlock, change
  }

  static let mask: UInt8 = 0x5a

  let operation: Operation
  let custody = HangingCustody()
  let device: ProtectedDevice
  private let folder: String
  private let fileSystem = FaultyFileSystem(LinuxFileSystem())
  /// Disguised, so that the test itself never holds what is looked for.
  private let secrets: [String: [UInt8]]

  /// A device ready for an operation, with an archive and a file of `complete`.
  init(_ operation: Operation) async throws {
    self.operation = operation
    folder = FileManager.default.temporaryDirectory.appending(path: "memory-\(UUID().uuidString)").path()
    secrets = Dictionary(
      uniqueKeysWithValues: ["passcode", "new passcode", "content", "frame"].map { name in
        (name, (0..<48).map { _ in UInt8.random(in: .min ... .max) })
      })
    var options = ProtectedDevice.Options()
    options.custody = custody
    options.gracePeriod = .zero
    device = try await ProtectedDevice.open(
      at: .directory(folder), options: options,
      environment: DeviceEnvironment(fileSystem: fileSystem, scrypt: .test))
    let archives = try device.archives(for: ArchiveSlot(application: "a"))
    try archives.publish(secret("content"))
    try archives.append(secret("frame"), to: Generation(rawValue: 1))
    archives.close()
    let files = try device.files()
    try files.create("x", contents: secret("content"), protection: .complete).close()
    guard operation != .set else { return }
    try await device.setPasscode(passcode())
    if operation == .unlock { device.lock() }
  }

  func remove() { try? FileManager.default.removeItem(atPath: folder) }

  /// A secret in memory that is wiped when it goes.
  private func secret(_ name: String) -> Data {
    let bytes = secrets[name]!
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
    for index in bytes.indices { unsafe memory[index] = bytes[index] ^ Self.mask }
    return unsafe Data(
      bytesNoCopy: memory.baseAddress!, count: memory.count,
      deallocator: .custom { start, count in
        unsafe memset(start, 0, count)
        unsafe start.deallocate()
      })
  }

  func passcode(_ name: String = "passcode") throws -> ProtectedDevice.Passcode {
    let bytes = secrets[name]!
    return try unsafe ProtectedDevice.Passcode(byteCount: bytes.count) { target in
      for index in bytes.indices { unsafe target[index] = bytes[index] ^ Self.mask }
    }
  }

  private func perform() async throws {
    switch operation {
    case .set: try await device.setPasscode(passcode())
    case .unlock: try await device.unlock(passcode: passcode())
    case .change: try await device.changePasscode(from: passcode(), to: passcode("new passcode"))
    }
  }

  /// Locks while a call of the file system hangs; nil when the operation has fewer calls.
  func lockWhileCallHangs(_ number: Int) async throws -> (isLocked: Bool, leftovers: [String])? {
    var needles = secrets
    for (protection, key) in custody.maskedByClass { needles["\(protection)"] = key }
    needles["device key"] = try Self.masked(folder + "/device.key")
    try addStretched(to: &needles)
    let (isHanging, mayGo) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let (hasHung, isOver) = (SharedFlag(), SharedFlag())
    let last = fileSystem.callCount + number
    fileSystem.onCall { call, _ in
      guard call == last else { return }
      hasHung.set()
      isHanging.signal()
      mayGo.wait()
    }
    let ended = DispatchSemaphore(value: 0)
    Task.detached(executorPreference: OwnThreads.shared) {
      try? await perform()
      isOver.set()
      isHanging.signal()
      ended.signal()
    }
    require(isHanging.wait(timeout: .now() + 60) == .success)
    guard hasHung.isSet else { return nil }
    // The keys that the operation has made or unwrapped so far.
    for (protection, key) in custody.maskedByClass { needles["\(protection)"] = key }
    try addStretched(to: &needles)
    needles["completeUntilFirstUserAuthentication"] = nil
    let didLock = DispatchSemaphore(value: 0)
    DispatchQueue.global().async {
      device.lock()
      didLock.signal()
    }
    require(didLock.wait(timeout: .now() + 30) == .success, "lock() has not returned")
    let isLocked = device.lockState == .locked
    let found = isLocked ? try Self.inMemory(needles) : []
    mayGo.signal()
    require(ended.wait(timeout: .now() + 60) == .success)
    fileSystem.onCall(nil)
    return (isLocked, found)
  }

  /// What scrypt makes of the passcode under the keybags that are there.
  private func addStretched(to needles: inout [String: [UInt8]]) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasPrefix("keybag-") {
      guard let bytes = FileManager.default.contents(atPath: folder + "/" + name),
        let keybag = try? KeybagCodec.parse([UInt8](bytes)).keybag, let profile = keybag.derivation
      else { continue }
      for code in ["passcode", "new passcode"] {
        let stretched = try StretchedPasscode(passcode(code), salt: keybag.salt, profile: profile)
        needles["stretched \(code) of \(name)"] = try stretched.secret.withBytes {
          (bytes: Span<UInt8>) throws(SealingError) in
          bytes.indices.map { bytes[$0] ^ Self.mask }
        }
      }
    }
  }

  /// The names of the needles that are anywhere in memory.
  static func inMemory(_ disguised: [String: [UInt8]]) throws -> [String] {
    try MemoryMap.own().counts(ofDisguised: disguised, mask: mask, onlyDumped: false).filter { $0.value > 0 }.keys
      .sorted()
  }

  /// The bytes of a file, disguised before they are anywhere in memory that isn't wiped.
  private static func masked(_ path: String) throws -> [UInt8] {
    let file = unsafe open(path, O_RDONLY)
    guard file >= 0 else { throw CocoaError(.fileReadNoSuchFile) }
    defer { close(file) }
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 16)
    defer {
      unsafe memset(memory.baseAddress!, 0, memory.count)
      unsafe memory.deallocate()
    }
    guard unsafe read(file, memory.baseAddress!, memory.count) == memory.count else {
      throw CocoaError(.fileReadCorruptFile)
    }
    return unsafe memory.map { $0 ^ mask }
  }
}
