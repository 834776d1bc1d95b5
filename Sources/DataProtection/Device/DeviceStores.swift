import FileSystem
import Synchronization

/// The stores of a device that are open: the archives, and each directory of protected files.
final class DeviceStores: Sendable {
  private let environment: DeviceEnvironment
  private let options: DeviceOptions
  private let directory: DeviceDirectory
  private let ring: KeyRing

  init(environment: DeviceEnvironment, options: DeviceOptions, directory: DeviceDirectory, ring: KeyRing) {
    self.environment = environment
    self.options = options
    self.directory = directory
    self.ring = ring
  }

  /// Seals everything anew that is still under retired keys.
  func reseal() throws(ProtectionError) {
  }

  /// Lets all stores go, after an erase.
  func forget() {
  }
}
