import CTestProcess
import DataProtection
import Foundation
import OwnThread
import ProcessMemory
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// Another process (this one) reads the memory and the core dump of one that really uses a device.
@Suite(.serialized) struct DeviceSecretsTests {
  /// What is looked for: the three class keys that a lock or reboot takes, the passcode, and a control in plain memory.
  static let names = ["complete", "completeUnlessOpen", "completeUntilFirstUserAuthentication", "passcode", "control"]

  @Test func `no memory after a lock and no core dump before it holds a wiped key or the passcode`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "secrets-\(UUID().uuidString)").path()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let pipes = try ["unlocked", "scanned", "locked", "done"].map { try Rendezvous("\(folder)/\($0)").make() }

    let reader = OwnThread { () throws -> (all: Set<String>, dumped: Set<String>, locked: Set<String>) in
      guard Rendezvous(folder + "/unlocked").wait() else { throw CocoaError(.fileReadUnknown) }
      let process = try String(contentsOfFile: folder + "/process", encoding: .utf8)
      let needles = try Self.needles(in: folder)
      func scan(onlyDumped: Bool) throws -> Set<String> {
        let found = try MemoryMap(process: process).occurrences(of: needles, onlyDumped: onlyDumped)
        return Set(found.map { String($0.prefix { $0 != " " }) })
      }
      let all = try scan(onlyDumped: false)
      let dumped = try scan(onlyDumped: true)
      Rendezvous(folder + "/scanned").tell()
      guard Rendezvous(folder + "/locked").wait() else { throw CocoaError(.fileReadUnknown) }
      let locked = try scan(onlyDumped: false)
      Rendezvous(folder + "/done").tell()
      return (all, dumped, locked)
    }
    await #expect(processExitsWith: .signal(SIGABRT)) { [folder = folder as String] in
      try await useDevice(in: folder)
    }
    let found = try await reader.value
    // Without these the scan could be blind. The passcode is gone as soon as the device has consumed it.
    #expect(found.all == Set(Self.names).subtracting(["passcode"]))
    #expect(found.dumped == ["control"])
    #expect(found.locked == ["completeUntilFirstUserAuthentication", "control"])

    // The core that the kernel itself wrote, while the device was unlocked; only where it was allowed to.
    let cores = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("core") }
    for core in cores {
      let bytes = try Data(contentsOf: URL(filePath: "\(folder)/\(core)"), options: .alwaysMapped)
      let needles = try Self.needles(in: folder)
      let inCore = Self.names.filter { MemoryMap.contains(bytes, bytes.count, needles[$0]!) }
      #expect(inCore == ["control"])
    }
    print("core dumps written by the kernel and searched: \(cores.count)")
    withExtendedLifetime(pipes) {}
  }

  static func needles(in folder: String) throws -> [String: [UInt8]] {
    var needles: [String: [UInt8]] = [:]
    for name in names {
      needles[name] = try Data(contentsOf: URL(filePath: "\(folder)/\(name).disguised")).map { $0 ^ 0x5a }
    }
    return needles
  }

  @Test func `a forked child can neither seal, open nor list, and its parent goes on`() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "fork-\(UUID().uuidString)").path()
    defer { try? FileManager.default.removeItem(atPath: path) }
    await #expect(processExitsWith: .success) { [path = path as String] in
      let device = try await ProtectedDevice.open(at: .directory(path), environment: .cheap)
      let archives = try device.archives(for: ArchiveSlot(application: "a"))
      try archives.publish(Data("one".utf8))
      let files = try device.files()
      try files.create("x", contents: Data("abc".utf8)).close()
      let child = test_process_fork()
      if child == 0 {
        let attempts: [() throws -> Void] = [
          { try archives.publish(Data("two".utf8)) },
          { try archives.append(Data("frame".utf8), to: Generation(rawValue: 1)) },
          { _ = try archives.openNewest() },
          { try files.create("y", contents: Data()) },
          { _ = try files.read("x") },
          { _ = try files.list() },
        ]
        for (number, attempt) in attempts.enumerated() {
          do {
            try attempt()
            _exit(Int32(number) + 1)
          } catch {
            guard (error as? ProtectionError)?.code == .secretsUnavailable else { _exit(Int32(number) + 101) }
          }
        }
        _exit(0)
      }
      let status = test_process_end(child)
      precondition(status == 0, "The child could do number \(status >> 8).")
      try archives.publish(Data("three".utf8))
      try #require(archives.openNewest().readAll() == Data("three".utf8))
      try #require(files.read("x") == Data("abc".utf8))
    }
  }
}

extension DeviceEnvironment {
  /// Real files, and a passcode check that costs nothing.
  static var cheap: DeviceEnvironment { DeviceEnvironment(scrypt: .test) }
}

/// Sets a passcode, seals, opens, locks and unlocks as a program does, telling the reader in between; then crashes.
private func useDevice(in folder: String) async throws {
  // Disguised, so that the test itself never holds what is looked for.
  let disguised = (0..<48).map { _ in UInt8.random(in: .min ... .max) }
  func passcode() throws -> ProtectedDevice.Passcode {
    try unsafe ProtectedDevice.Passcode(byteCount: disguised.count) { target in
      for index in disguised.indices { unsafe target[index] = disguised[index] ^ 0x5a }
    }
  }
  let control = UnsafeMutablePointer<UInt8>.allocate(capacity: 32)
  for index in 0..<32 { unsafe control[index] = UInt8.random(in: .min ... .max) }
  func tell(_ name: String, _ bytes: [UInt8]) throws {
    try Data(bytes).write(to: URL(filePath: "\(folder)/\(name).disguised"))
  }
  let custody = DaemonCustody()
  var options = ProtectedDevice.Options()
  options.custody = custody
  options.gracePeriod = .zero
  let device = try await ProtectedDevice.open(
    at: .directory(folder + "/device"), options: options, environment: .cheap)
  try await device.setPasscode(passcode())
  let files = try device.files()
  let handle = try files.create("x", contents: Data(repeating: 1, count: 100_000), protection: .complete)
  try #require(files.read("x").count == 100_000)
  try files.create("y", contents: Data("abc".utf8), protection: .completeUnlessOpen).close()
  try #require(files.read("y") == Data("abc".utf8))
  let archives = try device.archives(for: ArchiveSlot(application: "a"))
  try archives.publish(Data(repeating: 2, count: 50_000))
  try archives.append(Data("frame".utf8), to: Generation(rawValue: 1))
  try await device.unlock(passcode: passcode())
  for (protection, key) in custody.takeMaskedByClass() { try tell("\(protection)", key) }
  try tell("passcode", disguised)
  try tell("control", (0..<32).map { unsafe control[$0] ^ 0x5a })
  try Data("\(getpid())".utf8).write(to: URL(filePath: folder + "/process"))

  Rendezvous(folder + "/unlocked").tell()
  precondition(Rendezvous(folder + "/scanned").wait())
  device.lock()
  Rendezvous(folder + "/locked").tell()
  precondition(Rendezvous(folder + "/done").wait())

  try await device.unlock(passcode: passcode())
  try #require(files.read("x").count == 100_000)
  // The tests' runner forbids core dumps to its children; whoever is root may allow them again.
  var limit = rlimit(rlim_cur: rlim_t.max, rlim_max: rlim_t.max)
  _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
  _ = unsafe chdir(folder)
  withExtendedLifetime((handle, archives)) { abort() }
}
