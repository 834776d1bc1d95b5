import FileSystem
import Synchronization

/// The stores of a device: the archives, and one for each directory of protected files.
///
/// What is open stays open, by its name, for as long as the device is.
final class DeviceStores: Sendable {
  private struct State {
    var archives: StoreDirectory?
    /// By the place of each: two names are one only if their bytes are.
    var files: [String: FileCollection] = [:]
  }

  private let environment: DeviceEnvironment
  private let options: DeviceOptions
  private let directory: DeviceDirectory
  private let ring: KeyRing
  private let turn = Turn()
  private let state = Mutex(State())

  init(environment: DeviceEnvironment, options: DeviceOptions, directory: DeviceDirectory, ring: KeyRing) {
    self.environment = environment
    self.options = options
    self.directory = directory
    self.ring = ring
  }

  private var storeOptions: StoreOptions {
    var options = StoreOptions()
    options.patience = self.options.patience
    options.allowsNetworkVolumes = self.options.allowsNetworkVolumes
    options.isStrict = self.options.refusesUnverifiableArchives
    return options
  }

  private var sealer: FileSealer { FileSealer(keys: ring, random: environment.random) }

  /// The store of the archives; made, and marked as not for backup, when it isn't there.
  func archives() throws(ProtectionError) -> StoreDirectory {
    try turn.take { () throws(ProtectionError) in
      if let open = state.withLock({ $0.archives }) { return open }
      let store = try StoreDirectory.open(
        environment.fileSystem, in: directory.descriptor, keys: ring, sealer: sealer, options: storeOptions)
      CacheDirectoryTag.write(in: store.directory, environment.fileSystem)
      state.withLock { $0.archives = store }
      return store
    }
  }

  /// The protected files of one directory; made when it isn't there.
  func files(in name: String) throws(ProtectionError) -> FileCollection {
    try turn.take { () throws(ProtectionError) in
      let code = try ring.authenticationCode(.name, over: Array("protected-files/\(name)".utf8))
      let place = hexadecimal(code.prefix(16))
      if let open = state.withLock({ $0.files[place] }) { return open }
      let collection = try openCollection(named: name, at: place)
      state.withLock { $0.files[place] = collection }
      return collection
    }
  }

  private func openCollection(named name: String, at place: String) throws(ProtectionError) -> FileCollection {
    let files = try directory.makeSubdirectory(DeviceDirectory.filesName, in: directory.descriptor)
    defer { environment.fileSystem.close(files) }
    let place = try directory.makeSubdirectory(place, in: files)
    do throws(ProtectionError) {
      if try !directory.hasItem(FileCollection.lockName, in: place) {
        // Whoever made the directories may have been killed before their names were durable.
        try attempt("make the directories of the protected files durable") { () throws(FileSystemError) in
          try environment.fileSystem.synchronize(files)
          try environment.fileSystem.synchronize(directory.descriptor)
        }
      }
      let store = try StoreDirectory.open(
        environment.fileSystem, in: place, keys: ring, sealer: FileKindSealer(sealer: sealer), options: storeOptions)
      return try FileCollection(
        name: name, store: store, place: place, ring: ring, random: environment.random, patience: options.patience)
    } catch {
      environment.fileSystem.close(place)
      throw error
    }
  }

  /// Seals everything anew that is still under keys from before the first passcode.
  ///
  /// Returns whether nothing is left that needs them.
  func reseal() throws(ProtectionError) -> Bool {
    var isComplete = true
    if try directory.hasSubdirectory(StoreDirectory.name, in: directory.descriptor) {
      isComplete = try archives().resealAll()
    }
    for store in try fileStores() where try !store.resealAll() { isComplete = false }
    return isComplete
  }

  /// Every store of protected files, by what is on disk: nothing needs to know their names.
  private func fileStores() throws(ProtectionError) -> [StoreDirectory] {
    guard try directory.hasSubdirectory(DeviceDirectory.filesName, in: directory.descriptor) else { return [] }
    let files = try directory.makeSubdirectory(DeviceDirectory.filesName, in: directory.descriptor)
    defer { environment.fileSystem.close(files) }
    let places = try attempt("list the protected files") { () throws(FileSystemError) in
      try environment.fileSystem.names(in: files)
    }
    var stores: [StoreDirectory] = []
    for name in places where try directory.hasSubdirectory(name, in: files) {
      let place = try directory.makeSubdirectory(name, in: files)
      defer { environment.fileSystem.close(place) }
      stores.append(
        try StoreDirectory.open(
          environment.fileSystem, in: place, keys: ring, sealer: FileKindSealer(sealer: sealer),
          options: storeOptions))
    }
    return stores
  }

  /// Lets all stores go, after an erase; those who still hold one find nothing there.
  func forget() {
    let forgotten = state.withLock { state in
      defer { state = State() }
      return state
    }
    _ = forgotten
  }
}
