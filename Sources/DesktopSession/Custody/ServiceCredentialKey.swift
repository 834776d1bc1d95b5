import Foundation
import Glibc
public import StateRestoration

/// The device key as a credential that systemd hands to a service (`LoadCredential=`, `LoadCredentialEncrypted=`).
///
/// systemd puts it into a directory in memory that only the service can read, and names the directory in
/// `$CREDENTIALS_DIRECTORY`. The service can't write there: make the key beforehand, as *A desktop session* shows.
public struct ServiceCredentialKey: ProtectedDevice.KeyProvider, KeyPlace {
  /// The credential's name.
  package let name: String
  private let directory: String?

  /// Makes a provider.
  ///
  /// - Parameter name: The credential's name, as the unit file has it; a file name.
  public init(name: String) {
    self.init(name: name, directory: ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"])
  }

  package init(name: String, directory: String?) {
    precondition(
      !name.isEmpty && !name.contains("/") && name != "." && name != "..",
      "The credential's name \"\(name)\" is no file name.")
    self.name = name
    self.directory = directory
  }

  /// The provider in words.
  package var place: String { "systemd, as the credential \(name) of this service" }

  /// Reads the credential; `nil` when the service was given others but not this one.
  public func loadKey() throws(ProtectionError) -> ProtectedDevice.Key? {
    guard let directory else {
      throw ProtectionError(
        .io, "There is no $CREDENTIALS_DIRECTORY. Start the program as a service with LoadCredential=\(name).")
    }
    // A pipe in its place is not waited for.
    let descriptor = unsafe open("\(directory)/\(name)", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      let number = errno
      // A directory that is gone is no proof that there never was a key in it.
      if number == ENOENT, unsafe access(directory, X_OK) == 0 { return nil }
      throw ProtectionError(.io, "The credential \(name) can't be read.", errno: number)
    }
    defer { close(descriptor) }
    var count = 0
    let buffer = unsafe try SecretBuffer(byteCount: ProtectedDevice.Key.byteCount + 1) {
      (target) throws(ProtectionError) in
      while count < target.count {
        let result = unsafe read(descriptor, target.baseAddress! + count, target.count - count)
        if result < 0, errno == EINTR { continue }
        guard result >= 0 else { throw ProtectionError(.io, "The credential \(name) can't be read.", errno: errno) }
        if result == 0 { break }
        count += result
      }
    }
    guard count == ProtectedDevice.Key.byteCount else {
      throw ProtectionError(
        .corrupt, "The credential \(name) must have \(ProtectedDevice.Key.byteCount) bytes. Put the right one back.")
    }
    return try buffer.deviceKey(byteCount: count)
  }

  /// Refuses: only systemd writes credentials.
  public func makeKey() throws(ProtectionError) -> ProtectedDevice.Key {
    throw ProtectionError(
      .keysMissing,
      "The service has no credential \(name). Make \(ProtectedDevice.Key.byteCount) random bytes and name them in LoadCredential=."
    )
  }
}

extension SecretBuffer {
  /// The first bytes as a device key.
  func deviceKey(byteCount: Int) throws(ProtectionError) -> ProtectedDevice.Key {
    var key: ProtectedDevice.Key?
    var failure: ProtectionError?
    withBytes { bytes in
      do throws(ProtectionError) { key = try ProtectedDevice.Key(copying: bytes.extracting(0..<byteCount)) } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    guard let made = key.take() else {
      throw ProtectionError(.secretsUnavailable, "There is no memory for the device key.")
    }
    return made
  }
}
