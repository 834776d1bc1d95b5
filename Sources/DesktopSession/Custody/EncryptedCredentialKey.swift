import Foundation
import Glibc
public import StateRestoration

/// The device key in a file that `systemd-creds` has encrypted: to the machine's TPM 2, to a key of the system, or to both.
///
/// A copy of the disk opens nothing without the TPM. The key of the system lies on the same disk, readable for root alone: it
/// protects from other users and from a copied home directory.
public struct EncryptedCredentialKey: ProtectedDevice.KeyProvider, KeyPlace {
  /// The key under which the file is encrypted.
  ///
  /// `systemd-creds` itself can choose, and then takes the key of the system where there is no TPM. That is no choice here:
  /// a machine without a TPM fails instead.
  public enum Key: String, Sendable, Hashable {
    /// The TPM 2 of the machine.
    case tpm2
    /// The key of the system in `/var/lib/systemd/credential.secret`; only root can use it.
    case host
    /// Both.
    case hostAndTPM2 = "host+tpm2"
  }

  /// Where the encrypted file is.
  package let path: String
  /// The name that is sealed with the key, so that one credential can't be put in another's place.
  package let name: String
  /// The key under which a new file is encrypted.
  package let key: Key
  /// How long `systemd-creds` may take.
  public var timeout = Duration.seconds(20)

  private let tool: String
  private let tpm: String?

  /// Makes a provider.
  ///
  /// - Parameters:
  ///   - path: Where the encrypted file is, or is to be.
  ///   - name: The credential's name.
  ///   - key: The key under which a new file is encrypted.
  public init(path: String, name: String, key: Key) {
    self.init(path: path, name: name, key: key, tool: "/usr/bin/systemd-creds", tpm: nil)
  }

  package init(path: String, name: String, key: Key, tool: String, tpm: String?) {
    self.path = path
    self.name = name
    self.key = key
    self.tool = tool
    self.tpm = tpm
  }

  /// The provider in words.
  package var place: String { "systemd-creds with \(key.rawValue), in \(path)" }

  /// Decrypts the file; `nil` when there is none.
  ///
  /// Throws `corrupt`, and says which key it found, for a file under another key than ``Key`` says: `systemd-creds` would
  /// decrypt it all the same, and whoever can write the file would decide what the device is tied to.
  public func loadKey() throws(ProtectionError) -> ProtectedDevice.Key? {
    guard let sealed = try read() else { return nil }
    return try decrypt(sealed)
  }

  /// More than any credential of a key has, and less than a socket's buffer takes.
  private static let limit = 16_384

  private func read() throws(ProtectionError) -> SecretBuffer? {
    // A pipe that stands in its place must not block.
    let file = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else {
      if errno == ENOENT { return nil }
      throw ProtectionError(.io, "The encrypted device key can't be reached.", errno: errno)
    }
    defer { close(file) }
    var count = 0
    var failure: Int32 = 0
    let buffer = unsafe SecretBuffer(byteCount: Self.limit) { target in
      while count < target.count {
        let result = unsafe Glibc.read(file, target.baseAddress! + count, target.count - count)
        if result < 0, errno == EINTR { continue }
        if result < 0 { failure = errno }
        guard result > 0 else { return }
        count += result
      }
    }
    guard failure == 0 else { throw ProtectionError(.io, "The encrypted device key can't be read.", errno: failure) }
    return unsafe buffer.withMemory { unsafe SecretBuffer(copying: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
  }

  private func decrypt(_ sealed: SecretBuffer) throws(ProtectionError) -> ProtectedDevice.Key {
    // The bytes that were looked at are those that are decrypted.
    let found = unsafe CredentialType(ofCredential: sealed.withMemory { unsafe [UInt8]($0) })
    guard let found, found.key == key else {
      throw ProtectionError(
        .corrupt,
        "The device key at \(path) is encrypted under \(found?.words ?? "no key that this program knows"), and "
          + "\(key.rawValue) was asked for. Put the right file back, or erase the device.")
    }
    let output = try run(["decrypt", "--name=\(name)", "-", "-"], input: sealed)
    guard output.count == ProtectedDevice.Key.byteCount else {
      throw ProtectionError(
        .corrupt, "The encrypted device key has another length. Put the right file back, or erase the device.")
    }
    return try output.deviceKey(byteCount: output.count)
  }

  /// Makes a key and encrypts it; the file is written after its contents were decrypted once.
  public func makeKey() throws(ProtectionError) -> ProtectedDevice.Key {
    guard let fresh = SecretBuffer.random(byteCount: ProtectedDevice.Key.byteCount) else {
      throw ProtectionError(.secretsUnavailable, "The system gave no random bytes.", errno: errno)
    }
    let sealed = try run(["encrypt", "--name=\(name)", "--with-key=\(key.rawValue)", "-", "-"], input: fresh)
    let key = try decrypt(sealed)
    try ExclusiveFile.create(path, sealed)
    return key
  }

  private func run(_ arguments: [String], input: SecretBuffer?) throws(ProtectionError) -> SecretBuffer {
    let device = tpm.map { ["--tpm2-device=\($0)"] } ?? []
    let result = try ChildProcess.run(tool, device + arguments, input: input, within: timeout)
    // Where the program ignores SIGCHLD the status is lost: then only the output tells.
    guard result.status ?? 0 == 0, result.output.count > 0 else {
      let status = result.status.map { "\($0)" } ?? "unknown"
      throw ProtectionError(
        .io,
        "systemd-creds could not \(arguments[0]) the device key (\(key.rawValue), status \(status)). "
          + "See `systemd-creds has-tpm2`, and run it by hand for the reason.")
    }
    return result.output
  }
}
