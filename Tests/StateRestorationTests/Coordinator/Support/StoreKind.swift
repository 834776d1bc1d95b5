import DataProtection
import FaultyFileSystem
import FoundationEssentials
import RestorationArchive
import StateRestorationTesting
import Synchronization
import Testing

@testable import StateRestoration

/// Where a bench keeps what is preserved.
enum StoreKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
  /// In memory: a test can look into it and make it fail.
  case memory
  /// The archive store of a protected device, on a disk in memory.
  case device

  var testDescription: String { rawValue }
}

extension PreservationStore {
  /// Writes a generation of one part.
  @discardableResult
  func publish(_ archive: Data, _ succession: ArchiveSuccession) throws(ProtectionError) -> PublishReceipt {
    try publish(
      [PublishedPart(part: .first, protection: .complete, content: .new(archive))], succession,
      droppingWeakerThan: nil)
  }
}

extension Bench {
  /// Locks the device; the keys are gone when this returns.
  func lock() async throws {
    store.lock(true)
    try await device?.lock()
  }

  /// Unlocks the device, and tells a program that runs.
  func unlock(_ coordinator: RestorationCoordinator? = nil) async throws {
    store.lock(false)
    try await device?.unlock()
    await coordinator?.protectedDataDidBecomeAvailable()
  }

  /// Ends the process without notice and starts the next one.
  func kill() async throws {
    process?.fileSystem.die()
    process = try await device?.startProcess()
    places = []
    store.run.add(1, ordering: .relaxed)
  }

  /// Cuts the power and starts the device again, locked.
  func cutPower(losing loss: SimulatedDevice.PowerCutLoss = .everythingUnsynchronized) async throws {
    device?.cutPower(losing: loss)
    process = try await device?.startProcess()
    places = []
  }

  /// What lies on disk, by name: to see that no byte of it changes.
  var contents: [String: [UInt8]] {
    guard let disk = device?.contents.fileSystem else {
      let generations = store.state.withLock { $0.generations }
      return Dictionary(uniqueKeysWithValues: generations.map { ("\($0.number)", [UInt8]($0.base)) })
    }
    let archives = "/device/archives"
    let paths = disk.names(atPath: archives).flatMap { slot in
      // The lock says whose it is.
      disk.names(atPath: "\(archives)/\(slot)").filter { $0 != "lock" }.map { "\(archives)/\(slot)/\($0)" }
    }
    return Dictionary(uniqueKeysWithValues: paths.map { ($0, disk.content(atPath: $0) ?? []) })
  }

  /// How often the disk was asked for anything.
  var diskCalls: Int { process?.fileSystem.callCount ?? store.state.withLock { $0.calls.count } }

  /// Damages everything that is set aside, so that it can't be opened any more.
  func damageAside() throws {
    let aside = try place.setAsideRecords()
    guard let disk = device?.memory else {
      store.state.withLock { state in
        for index in state.setAside.indices { state.setAside[index].isDamaged = true }
      }
      return
    }
    for slot in disk.names(atPath: "/device/archives") {
      let path = "/device/archives/\(slot)"
      for one in aside where disk.names(atPath: path).contains("g-\(one.generation)") {
        disk.plant([1, 2, 3], atPath: "\(path)/g-\(one.generation)")
      }
    }
  }

  /// What the next launch would learn of attempts to restore the newest state; nil when nothing is held against it.
  var marker: AttemptHistory? {
    get throws {
      guard device != nil else { return store.state.withLock { $0.marker } == nil ? nil : AttemptHistory(deaths: 1) }
      let place = place
      defer { place.close() }
      let history = try place.attempts(at: try place.open(.newest))
      return history == AttemptHistory() ? nil : history
    }
  }

  /// Makes the next save a whole generation.
  func requireWhole() throws {
    store.state.withLock { $0.isCompactionDue = true }
    guard device != nil else { return }
    var writer = try RestorationArchive.Writer(continuing: newestReader())
    _ = try place.publish(try writer.makeArchive(), .init())
  }

  /// The newest archive as a launch would read it; keeps nobody from writing.
  func newestReader() throws -> RestorationArchive.Reader {
    guard let process else {
      let stored = try #require(try store.open(.newest).parts.first?.content)
      return try RestorationArchive.Reader(
        base: .init(try stored.read(0..<stored.byteCount)), deltas: stored.frames)
    }
    let opened = try archives(of: process).openNewest()
    return try RestorationArchive.Reader(base: .init(try opened.readAll()), deltas: opened.frames)
  }

  /// The number of the newest generation; keeps nobody from writing.
  func newestGeneration() throws -> Generation {
    guard let process else { return try store.open(.newest).generation }
    return try archives(of: process).openNewest().generation
  }

  private func archives(of process: SimulatedProcess) throws -> ArchiveStore {
    let slot = ArchiveSlot(application: configuration.application, scene: RestoredWindow.ID.main.rawValue)
    let archives = try process.device.archives(for: slot, protection: configuration.protection)
    archives.keepState()
    return archives
  }

  /// The texts of all screens in the newest archive, in every record.
  func storedTexts() throws -> [String] {
    let reader = try newestReader()
    var (texts, stack): ([String], [NodeID]) = ([], try reader.roots)
    while let id = stack.popLast() {
      stack += try reader.children(of: id)
      if try reader.node(id)?.byteCount ?? 0 > 0,
        let state = try reader.record(of: id).decodeIfPresent(Screen.State.self, forKey: "$state")
      {
        texts.append(state.text)
      }
    }
    return texts
  }

  /// Leaves what a process leaves that died while it restored the node at a path, and starts the next one.
  func die(at path: RestorationPath?) async throws {
    try await die(atNode: path.map { path in try #require(try newestReader().node(at: path)).id.rawValue })
  }

  /// Leaves what a process leaves that died after it had noted a node, and starts the next one.
  func die(atNode node: UInt32?) async throws {
    let place = place
    let attempt = try place.beginAttempt(at: try place.open(.newest), isRequest: false)
    if let node { attempt.note(node: node) }
    try await kill()
  }
}
