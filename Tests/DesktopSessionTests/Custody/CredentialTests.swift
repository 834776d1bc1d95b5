import DesktopSession
import Foundation
import Glibc
import StateRestoration
import Testing

/// Keys that systemd hands out or encrypts.
@Suite(.serialized) struct CredentialTests {
  let directory: String

  init() throws { directory = try Machine.scratch() }

  private func open(_ provider: any ProtectedDevice.KeyProvider) async throws -> ProtectedDevice {
    var options = ProtectedDevice.Options()
    options.keyProvider = provider
    return try await ProtectedDevice.open(at: .directory(directory + "/device"), options: options)
  }

  private func expectRoundTrip(_ provider: any ProtectedDevice.KeyProvider) async throws {
    do {
      let device = try await open(provider)
      try device.files(in: "f").create("secret", contents: Data("text".utf8), protection: ProtectionClass.none)
    }
    let again = try await open(provider)
    #expect(try again.files(in: "f").read("secret") == Data("text".utf8))
    #expect(!FileManager.default.fileExists(atPath: directory + "/device/device.key"))
  }

  /// Whether a provider says that no key was ever made.
  private static func isAbsent(_ provider: some ProtectedDevice.KeyProvider) throws -> Bool {
    if try provider.loadKey() != nil { false } else { true }
  }

  private static func code(_ body: () throws -> Void) -> ProtectionError.Code? {
    do { try body() } catch { return (error as? ProtectionError)?.code }
    return nil
  }

  // MARK: - A service's credentials

  @Test func `a service's credential opens a device`() async throws {
    try FileManager.default.createDirectory(atPath: directory + "/credentials", withIntermediateDirectories: false)
    let path = directory + "/credentials/key"
    try Data((0..<32).map { UInt8($0) }).write(to: URL(fileURLWithPath: path))
    let provider = ServiceCredentialKey(name: "key", directory: directory + "/credentials")
    try await expectRoundTrip(provider)
    #expect(provider.place.contains("key"))
    // Another key is another device.
    try Data(repeating: 7, count: 32).write(to: URL(fileURLWithPath: path))
    await #expect { _ = try await open(provider) } throws: { ($0 as? ProtectionError)?.code == .otherDevice }
    // None is no reason to begin anew.
    _ = unsafe unlink(path)
    await #expect { _ = try await open(provider) } throws: { ($0 as? ProtectionError)?.code == .keysMissing }
  }

  @Test func `a credential that is absent is nil, and one that can't be reached throws`() throws {
    let isAbsent = try Self.isAbsent(ServiceCredentialKey(name: "key", directory: directory))
    #expect(isAbsent)
    let codes = [nil, directory + "/gone"].map { directory in
      Self.code { _ = try ServiceCredentialKey(name: "key", directory: directory).loadKey() }
    }
    #expect(codes == [.io, .io])
    #expect(Self.code { _ = try ServiceCredentialKey(name: "key", directory: directory).makeKey() } == .keysMissing)
  }

  @Test(arguments: [0, 1, 31, 33, 1000])
  func `a credential of another length is refused`(_ count: Int) throws {
    try Data(repeating: 1, count: count).write(to: URL(fileURLWithPath: directory + "/key"))
    #expect(
      Self.code { _ = try ServiceCredentialKey(name: "key", directory: directory).loadKey() } == .corrupt)
  }

  @Test(arguments: ["a folder", "a pipe"])
  func `a credential that is no file is refused at once`(_ kind: String) throws {
    let made = unsafe kind == "a pipe" ? mkfifo(directory + "/key", 0o600) : mkdir(directory + "/key", 0o700)
    #expect(made == 0)
    let code = Self.code { _ = try ServiceCredentialKey(name: "key", directory: directory).loadKey() }
    #expect(code == (kind == "a pipe" ? .corrupt : .io))
  }

  // MARK: - systemd-creds

  /// Puts a file there that begins as a credential under the system's key.
  private func plantHostCredential() throws {
    let bytes: [UInt8] = [
      0x5a, 0x1c, 0x6a, 0x86, 0xdf, 0x9d, 0x40, 0x96, 0xb1, 0xd5, 0xa6, 0x5e, 0x08, 0x62, 0xf1, 0x9a,
    ]
    try Data(bytes + [UInt8](repeating: 0, count: 80)).base64EncodedData()
      .write(to: URL(fileURLWithPath: directory + "/key.cred"))
  }

  private func encrypted(
    _ key: EncryptedCredentialKey.Key, name: String = "notes", tool: String = "/usr/bin/systemd-creds",
    tpm: String? = nil
  ) -> EncryptedCredentialKey {
    EncryptedCredentialKey(path: directory + "/key.cred", name: name, key: key, tool: tool, tpm: tpm)
  }

  @Test func `systemd-creds keeps a key under the system's own`() async throws {
    try await expectRoundTrip(encrypted(.host))
    #expect(Self.code { _ = try encrypted(.host).makeKey() } == .alreadyExists)
    #expect(Self.code { _ = try encrypted(.host, name: "other").loadKey() } == .io, "it was sealed for another name")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: directory + "/key.cred"))
    #expect(bytes.count > 100)
    let mode = try FileManager.default.attributesOfItem(atPath: directory + "/key.cred")[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  @Test(arguments: [EncryptedCredentialKey.Key.tpm2, .hostAndTPM2])
  func `systemd-creds keeps a key under a TPM 2`(_ key: EncryptedCredentialKey.Key) async throws {
    let tpm = try SoftwareTPM(in: directory)
    try await tpm.start()
    try await expectRoundTrip(encrypted(key, tpm: tpm.device))
    // Another TPM opens nothing.
    let other = try SoftwareTPM(in: directory + "/other")
    try await other.start()
    #expect(Self.code { _ = try encrypted(key, tpm: other.device).loadKey() } == .io)
  }

  @Test func `without a TPM nothing is made under another key`() throws {
    #expect(Self.code { _ = try encrypted(.tpm2, tpm: "swtpm:port=1").makeKey() } == .io)
    #expect(!FileManager.default.fileExists(atPath: directory + "/key.cred"))
  }

  @Test(arguments: ["host", "tpm2-absent"], [EncryptedCredentialKey.Key.tpm2, .hostAndTPM2])
  func `a file under a weaker key than asked for is refused, and the error names what was found`(
    _ found: String, _ wanted: EncryptedCredentialKey.Key
  ) throws {
    try Data((0..<32).map { UInt8($0) }).write(to: URL(fileURLWithPath: directory + "/plain"))
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/systemd-creds")
    process.arguments = [
      "encrypt", "--name=notes", "--with-key=\(found)", directory + "/plain", directory + "/key.cred",
    ]
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
    let error = try #require(throws: ProtectionError.self) { _ = try encrypted(wanted).loadKey() }
    #expect(error.code == .corrupt)
    #expect(error.message.contains(found == "host" ? "the system's key alone" : "the null key"))
  }

  @Test func `a program that ignores SIGCHLD gets its key, and a late child is ended`() async throws {
    await #expect(processExitsWith: .success) { [directory = directory as String] in
      signal(SIGCHLD, SIG_IGN)
      let key = EncryptedCredentialKey(path: directory + "/key.cred", name: "notes", key: .host)
      _ = try key.makeKey()
      let isAbsent = if try key.loadKey() != nil { false } else { true }
      guard !isAbsent else { exit(2) }
      let script = directory + "/late"
      try Data("#!/bin/sh\nexec sleep 60\n".utf8).write(to: URL(fileURLWithPath: script))
      guard unsafe chmod(script, 0o700) == 0 else { exit(3) }
      var late = EncryptedCredentialKey(
        path: directory + "/key.cred", name: "notes", key: .host, tool: script, tpm: nil)
      late.timeout = .milliseconds(300)
      do {
        _ = try late.loadKey()
        exit(4)
      } catch {
        exit((error as? ProtectionError)?.code == .busy ? EXIT_SUCCESS : 5)
      }
    }
  }

  @Test func `a key is absent only when its file is`() throws {
    let isAbsent = try Self.isAbsent(encrypted(.host))
    #expect(isAbsent)
    try Data("no credential".utf8).write(to: URL(fileURLWithPath: directory + "/key.cred"))
    #expect(Self.code { _ = try encrypted(.host).loadKey() } == .corrupt)
    try plantHostCredential()
    #expect(Self.code { _ = try encrypted(.host, tool: "/usr/bin/none").loadKey() } == .io)
  }

  /// Makes a program in the place of systemd-creds.
  private func makeTool(_ script: String) throws -> String {
    let tool = directory + "/tool"
    try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(fileURLWithPath: tool))
    _ = unsafe chmod(tool, 0o700)
    return tool
  }

  @Test(arguments: ["head -c 100 /dev/zero", "case $1 in encrypt) head -c 100 /dev/zero;; *) exit 1;; esac"])
  func `a tool that encrypts to nonsense leaves no file that would be in the way`(_ script: String) throws {
    let tool = try makeTool(script)
    #expect(Self.code { _ = try encrypted(.host, tool: tool).makeKey() } != nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["tool"])
  }

  @Test func `the leftover of a crash is not in the way of a new key`() throws {
    try Data("half".utf8).write(to: URL(fileURLWithPath: "\(directory)/key.cred.\(getpid()).new"))
    #expect(Self.code { _ = try encrypted(.host).makeKey() } == nil)
  }

  @Test func `a signal does not make a tool that hangs wait longer`() throws {
    var provider = encrypted(.host, tool: try makeTool("sleep 20"))
    provider.timeout = .milliseconds(500)
    try plantHostCredential()
    var action = sigaction()
    unsafe action.__sigaction_handler.sa_handler = { _ in }
    unsafe sigaction(SIGUSR1, &action, nil)
    // As on a main thread; those of a pool take no signals.
    var (signals, before) = (sigset_t(), sigset_t())
    unsafe sigaddset(&signals, SIGUSR1)
    unsafe pthread_sigmask(SIG_UNBLOCK, &signals, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    let caller = pthread_self()
    Thread.detachNewThread {
      usleep(200_000)
      pthread_kill(caller, SIGUSR1)
    }
    let start = ContinuousClock.now
    #expect(Self.code { _ = try provider.loadKey() } == .busy)
    #expect(ContinuousClock.now - start < .seconds(10))
  }

  @Test(arguments: ["sleep 60", "exec cat /dev/zero", "printf short", "kill -9 $$"])
  func `a tool that hangs, floods or fails is ended and told of`(_ script: String) throws {
    let tool = try makeTool(script)
    try plantHostCredential()
    var provider = encrypted(.host, tool: tool)
    provider.timeout = .milliseconds(300)
    let start = ContinuousClock.now
    let code = Self.code { _ = try provider.loadKey() }
    #expect(
      code
        == (script.hasPrefix("sleep") || script.hasPrefix("exec") ? .busy : script.hasPrefix("printf") ? .corrupt : .io)
    )
    #expect(ContinuousClock.now - start < .seconds(5))
  }
}
