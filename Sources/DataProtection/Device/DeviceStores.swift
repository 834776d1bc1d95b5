import FileSystem
import Synchronization

/// The stores of a device: the archives, and one for each directory of protected files.
///
/// An open store stays open, by its name, for as long as the device.
final class DeviceStores: Sendable {
  private struct State {
    /// Makes the directory again where somebody has removed it.
    weak var device: ProtectedDevice?
    var archives: StoreDirectory?
    /// By the place of each: two names are one only if their bytes are.
    var files: [String: FileCollection] = [:]
  }

  /// So many bytes of a hash name the place of a directory of protected files.
  static let placeByteCount = 16

  private let environment: DeviceEnvironment
  private let options: ProtectedDevice.Options
  private let directory: DeviceDirectory
  private let ring: KeyRing
  private let turn = Turn()
  private let state = Mutex(State())

  init(environment: DeviceEnvironment, options: ProtectedDevice.Options, directory: DeviceDirectory, ring: KeyRing) {
    self.environment = environment
    self.options = options
    self.directory = directory
    self.ring = ring
  }

  /// Says whose stores these are.
  func belong(to device: ProtectedDevice) { state.withLock { $0.device = device } }

  private var sealer: FileSealer { FileSealer(keys: ring, random: environment.random) }

  /// The store of the archives; made, and marked as not for backup, when it isn't there.
  func archives() throws(ProtectionError) -> StoreDirectory {
    try turn.take { () throws(ProtectionError) in
      let (open, device) = state.withLock { ($0.archives, $0.device) }
      if let open { return open }
      let store = try StoreDirectory(
        environment.fileSystem, in: device?.isMade == false ? nil : directory.owned, at: directory.path, keys: ring,
        sealer: sealer, options: options.store, isCache: true, volume: directory.volume
      ) { [weak device] () throws(ProtectionError) in
        guard let device else { throw .erased }
        return try device.makeAgain()
      }
      state.withLock { $0.archives = store }
      return store
    }
  }

  /// The protected files of one directory; made when it isn't there.
  func files(in name: String) throws(ProtectionError) -> FileCollection {
    try turn.take { () throws(ProtectionError) in
      let code = try ring.authenticationCode(.name, over: Array("protected-files/\(name)".utf8))
      let place = hexadecimal(code.prefix(Self.placeByteCount))
      if let open = state.withLock({ $0.files[place] }) { return open }
      let collection = try openCollection(named: name, at: place)
      state.withLock { $0.files[place] = collection }
      return collection
    }
  }

  private func openCollection(named name: String, at placeName: String) throws(ProtectionError) -> FileCollection {
    let files = try directory.makeSubdirectory(DeviceDirectory.filesName, in: directory.descriptor)
    defer { environment.fileSystem.close(files) }
    let place = OwnedDescriptor(
      environment.fileSystem, try directory.makeSubdirectory(placeName, in: files, clears: true))
    if try !directory.hasItem(FileCollection.lockName, in: place.descriptor) {
      // The maker of the directories may have been killed before their names were durable.
      try attempt("make the directories of the protected files durable") { () throws(FileSystemError) in
        try environment.fileSystem.synchronize(files)
        try environment.fileSystem.synchronize(directory.descriptor)
      }
    }
    let store = try StoreDirectory(
      environment.fileSystem, in: place, at: "\(directory.path)/\(DeviceDirectory.filesName)/\(placeName)", keys: ring,
      sealer: FileKindSealer(sealer: sealer), options: options.store)
    return try FileCollection(
      name: name, store: store, place: place, keys: ring, random: environment.random, patience: options.patience)
  }

  /// Seals everything anew that is still under keys from before the first passcode.
  ///
  /// Returns whether nothing is left that needs them.
  func reseal() throws(ProtectionError) -> Bool {
    var isComplete = true
    if try directory.hasSubdirectory(StoreDirectory.name, in: directory.descriptor) {
      isComplete = try archives().resealAll()
    }
    for place in try filePlaces() where try !fileStore(at: place).resealAll() { isComplete = false }
    return isComplete
  }

  /// Records that the passcode has changed, in every store; the next save repeats a record that can't be written now.
  func noteRevision() {
    if (try? directory.hasSubdirectory(StoreDirectory.name, in: directory.descriptor)) == true {
      try? archives().noteRevision()
    }
    for place in (try? filePlaces()) ?? [] { try? fileStore(at: place).noteRevision() }
  }

  /// The places of protected files, as the disk has them: nothing needs to know their names.
  func filePlaces() throws(ProtectionError) -> [String] {
    guard try directory.hasSubdirectory(DeviceDirectory.filesName, in: directory.descriptor) else { return [] }
    let files = try directory.makeSubdirectory(DeviceDirectory.filesName, in: directory.descriptor)
    defer { environment.fileSystem.close(files) }
    let names = try attempt("list the protected files") { () throws(FileSystemError) in
      try environment.fileSystem.names(in: files)
    }
    var places: [String] = []
    for name in names where try directory.hasSubdirectory(name, in: files) { places.append(name) }
    return places
  }

  /// The store of the protected files at a place.
  func fileStore(at place: String) throws(ProtectionError) -> StoreDirectory {
    let files = try directory.makeSubdirectory(DeviceDirectory.filesName, in: directory.descriptor)
    defer { environment.fileSystem.close(files) }
    return try StoreDirectory(
      environment.fileSystem,
      in: OwnedDescriptor(environment.fileSystem, try directory.makeSubdirectory(place, in: files)),
      keys: ring, sealer: FileKindSealer(sealer: sealer), options: options.store)
  }

  /// Whether anything stands where the store at a place would be, or its list says that something should.
  func hasFiles(at place: String) throws(ProtectionError) -> Bool {
    try withPlace(place) { place throws(ProtectionError) in try hasStore(in: place) }
  }

  /// Whether anything stands where all protected files would be; throws `io` when it is no directory.
  func hasFiles() throws(ProtectionError) -> Bool {
    guard directory.owned != nil, try directory.hasItem(DeviceDirectory.filesName, in: directory.descriptor) else {
      return false
    }
    environment.fileSystem.close(
      try directory.makeSubdirectory(DeviceDirectory.filesName, in: directory.descriptor))
    return true
  }

  /// Whether anything stands where the archives would be, or their list says that something should.
  func hasArchives() throws(ProtectionError) -> Bool {
    guard let owned = directory.owned else { return false }
    return try hasStore(in: owned.descriptor)
  }

  private func hasStore(in parent: Descriptor) throws(ProtectionError) -> Bool {
    if try directory.isOccupied(StoreDirectory.name, in: parent) { return true }
    guard try directory.hasItem(SlotList.fileName, in: parent) else { return false }
    guard try directory.hasItem(StoreDirectory.name, in: parent) else {
      throw ProtectionError(.missing, "The directory of the archives is gone: somebody removed it.")
    }
    return true
  }

  private func withPlace<R>(
    _ name: String, _ body: (Descriptor) throws(ProtectionError) -> R
  ) throws(ProtectionError) -> R {
    let files = try directory.makeSubdirectory(DeviceDirectory.filesName, in: directory.descriptor)
    defer { environment.fileSystem.close(files) }
    let place = try directory.makeSubdirectory(name, in: files)
    defer { environment.fileSystem.close(place) }
    return try body(place)
  }

  /// Lets all stores go, after an erase; those who still hold one find nothing there.
  func forget() {
    let forgotten = state.withLock { state in
      defer { (state.archives, state.files) = (nil, [:]) }
      return state
    }
    forgotten.archives?.retire()
  }

  /// Lets the protected files go that lie in a directory which nobody finds any more.
  func forgetFiles() {
    let forgotten = state.withLock { state in
      defer { state.files = [:] }
      return state.files
    }
    _ = forgotten
  }
}
