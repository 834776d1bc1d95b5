import DesktopSession
import Foundation
import Glibc
import StateRestoration
import Testing

/// A real gnome-keyring on a private bus, without a display.
@Suite(.serialized) struct SecretServiceTests {
  let desktop: MockDesktop

  init() throws { desktop = try MockDesktop() }

  private var provider: SecretServiceKey {
    var provider = SecretServiceKey(application: "com.example.notes", label: "Notes' device key")
    provider.bus = .address(desktop.address)
    provider.timeout = .seconds(5)
    return provider
  }

  private func startKeyring() async throws -> Helper {
    try await desktop.startBus()
    let home = desktop.directory
    let keyring = try Helper(
      "/usr/bin/gnome-keyring-daemon",
      ["--foreground", "--unlock", "--components=secrets", "--control-directory=\(home)/gk"],
      environment: [
        "DBUS_SESSION_BUS_ADDRESS": desktop.address, "HOME": home, "XDG_DATA_HOME": home, "XDG_RUNTIME_DIR": home,
        "DISPLAY": "", "WAYLAND_DISPLAY": "",
      ])
    keyring.finish(with: "login password")
    try await Machine.wait(for: "the keyring") {
      await call("ReadAlias", "s", "default").contains("/org/freedesktop/secrets/collection/login")
    }
    return keyring
  }

  /// Calls the service by another program than the one under test.
  private func call(_ member: String, _ arguments: String...) async -> String {
    let path = "/org/freedesktop/secrets"
    let run = try? Helper(
      "/usr/bin/busctl",
      [
        "--address=\(desktop.address)", "call", "org.freedesktop.secrets", path, "org.freedesktop.Secret.Service",
        member,
      ]
        + arguments)
    guard let run else { return "" }
    try? await Machine.wait(for: "busctl") { !run.isAlive }
    return run.output.joined()
  }

  private func lockKeyring() async throws {
    _ = await call("Lock", "ao", "1", "/org/freedesktop/secrets/collection/login")
  }

  /// Whether the keyring is said to have no key.
  private static func isAbsent(_ provider: some ProtectedDevice.KeyProvider) throws -> Bool {
    if try provider.loadKey() != nil { false } else { true }
  }

  private func code(_ body: () throws -> Void) -> ProtectionError.Code? {
    do { try body() } catch { return (error as? ProtectionError)?.code }
    return nil
  }

  private func open() async throws -> ProtectedDevice {
    var options = ProtectedDevice.Options()
    options.keyProvider = provider
    return try await ProtectedDevice.open(at: .directory(desktop.directory + "/device"), options: options)
  }

  @Test func `the keyring keeps a device's key: absent is nil, locked throws`() async throws {
    let keyring = try await startKeyring()
    let isAbsent = try Self.isAbsent(provider)
    #expect(isAbsent)
    do {
      let device = try await open()
      try device.files(in: "f").create("secret", contents: Data("text".utf8), protection: ProtectionClass.none)
    }
    let again = try await open()
    #expect(try again.files(in: "f").read("secret") == Data("text".utf8))
    #expect(!FileManager.default.fileExists(atPath: desktop.directory + "/device/device.key"))
    #expect(code { _ = try provider.makeKey() } == .alreadyExists)

    try await lockKeyring()
    #expect(code { _ = try provider.loadKey() } == .locked)
    await #expect { _ = try await open() } throws: { ($0 as? ProtectionError)?.code == .locked }
    keyring.end()
  }

  @Test func `a locked keyring without the key is no proof that there is none`() async throws {
    let keyring = try await startKeyring()
    try await lockKeyring()
    #expect(code { _ = try provider.loadKey() } == .locked)
    #expect(code { _ = try provider.makeKey() } == .locked)
    keyring.end()
  }

  @Test func `a keyring that hangs or is missing throws, and is not waited for`() async throws {
    #expect(code { _ = try provider.loadKey() } == .io, "no bus")
    try await desktop.startBus()
    #expect(code { _ = try provider.loadKey() } == .io, "no service")
    desktop.kill()
    let keyring = try await startKeyring()
    keyring.signal(SIGSTOP)
    var quick = provider
    quick.timeout = .milliseconds(300)
    let start = ContinuousClock.now
    #expect(code { _ = try quick.loadKey() } == .io, "no answer")
    #expect(ContinuousClock.now - start < .seconds(3))
    keyring.signal(SIGCONT)
    keyring.end()
  }
}
