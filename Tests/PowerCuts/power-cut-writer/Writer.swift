import DataProtection
import FaultyFileSystem
import FileSystem
import Foundation
import SeededRandom
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A program that saves, and keeps a file of the states that may be found if the power goes at this moment.
///
/// That file lies on another disk. A state is added to it before the call that may bring it about, and the others are taken
/// away once it is acknowledged as durable.
@main
final class Writer {
  let store: ArchiveStore
  let allowed: AllowedStates
  var random: SplitMix64
  /// The state now, if this run has acknowledged it or found it.
  var state: State
  /// What this run has saved while locked, if anything.
  var ownPending: Int?
  var number: Int

  private init(_ store: ArchiveStore, _ allowed: AllowedStates, _ random: SplitMix64, _ state: State) {
    self.store = store
    self.allowed = allowed
    self.random = random
    self.state = state
    number = Int(self.random.next() % 1000)
  }

  static func main() async throws {
    let arguments = CommandLine.arguments
    switch arguments.dropFirst().first {
    case "write" where arguments.count == 7:
      try await write(
        directory: arguments[2], allowed: AllowedStates(path: arguments[3]), seed: UInt64(arguments[4])!,
        steps: Int(arguments[5])!, death: Int(arguments[6])!)
    case "check" where arguments.count == 4:
      try await check(directory: arguments[2], allowed: AllowedStates(path: arguments[3]))
    default:
      print("usage: power-cut-writer write DIRECTORY ALLOWED SEED STEPS CALL | check DIRECTORY ALLOWED")
      exit(2)
    }
  }

  private static func open(
    _ directory: String, _ fileSystem: any FileSystem, _ protection: ProtectionClass = .complete
  ) async throws -> ArchiveStore {
    let device = try await ProtectedDevice.open(
      at: .directory("\(directory)/device"), environment: DeviceEnvironment(fileSystem: fileSystem, scrypt: .test))
    let store = try device.archives(for: ArchiveSlot(application: "power-cuts"), protection: protection)
    store.keepState()
    return store
  }

  // MARK: Checking

  /// Ends with 1 unless what is there is one of the allowed states, and a save is possible.
  private static func check(directory: String, allowed: AllowedStates) async throws {
    let states = try allowed.read()
    let store = try await open(directory, LinuxFileSystem())
    let (found, standing) = try State.read(store)
    // An older generation stands in only for one that was never acknowledged.
    guard states.contains(found), standing == .current || states.count > 1 else {
      print("found \(found), \(standing); allowed were \(states)")
      exit(1)
    }
    guard try store.publish(Data("afterwards".utf8)).durability == .durable else {
      print("nothing can be saved afterwards")
      exit(1)
    }
  }

  // MARK: Writing

  /// Makes so many steps, chosen by the seed, and dies before the given call of the file system; never for 0.
  private static func write(
    directory: String, allowed: AllowedStates, seed: UInt64, steps: Int, death: Int
  ) async throws {
    var random = SplitMix64(seed: seed)
    let fileSystem = FaultyFileSystem(LinuxFileSystem())
    let bystander = Bystander(directory: directory, seed: random.next())
    fileSystem.onCall { number, _ in
      if number == death { kill(getpid(), SIGKILL) }
      bystander.act()
    }
    let classes = ProtectionClass.allCases
    let store = try await open(directory, fileSystem, classes[Int(random.next() % UInt64(classes.count))])
    try store.open()
    let (found, _) = try State.read(store)
    guard try allowed.read().contains(found) else {
      print("found \(found) without a power cut; allowed were \(try allowed.read())")
      exit(1)
    }
    let writer = Writer(store, allowed, random, found)
    for _ in 0..<steps { try writer.step() }
    print("calls \(fileSystem.callCount)")
  }

  private func step() throws {
    number += 1
    let choice = random.next() % 15
    let extra = Int(random.next() % 60_000)
    // Some are longer than a chunk, some than what one write of the disk takes, some than any fixed room for frames. Changes
    // are of every length, so that one ends where the room does.
    let lengths = choice < 4 ? [0, 100, extra % 400, extra / 3] : [100, 20_000, 66_000 + extra, 1_200_000]
    let content = Content(number: number, length: lengths[Int(random.next() % 4)])
    let (data, text) = (content.data, content.name)
    var next = state
    switch choice {
    case 0...3:
      guard state.base != nil else { return try publish(data, text) }
      let newest = try store.openNewestParts()
      if state.second != nil, random.next() % 2 == 0, let part = newest[Self.second] {
        next.second?.frames.append(text)
        let isDone = try reach(next) {
          try store.append(data, to: newest.generation, at: part.place, as: part.protection)?.durability
        }
        if !isDone { try publishSecond(data, text) }
      } else {
        next.frames.append(text)
        let isDone = try reach(next) { try store.append(data, to: newest.generation)?.durability }
        if !isDone { try publish(data, text) }
      }
    case 4...6: try publish(data, text)
    case 12: try publishBoth(data, text)
    case 13, 14: try publishSecond(data, text)
    case 7:
      if let ownPending { next.pending.remove(at: ownPending) }
      next.pending.append(text)
      try reach(next) { try store.publishPending(data).durability }
      ownPending = state.pending.count - 1
    case 8:
      next = State(base: text)
      let consumed = try store.openPending().archives.map(\.generation)
      try reach(next) { try store.publish(data, ArchiveSuccession(consuming: consumed)).durability }
      ownPending = nil
    case 9:
      guard state.base != nil else { return try publish(data, text) }
      next.base = text
      next.frames = []
      next.second = nil
      let newest = try store.openNewest().generation
      try reach(next) { try store.publish(data, ArchiveSuccession(retiring: [newest])).durability }
    case 10:
      guard state.base != nil else { return try publish(data, text) }
      try reach(state) {
        try store.requireDurable()
        return .durable
      }
    default:
      try reach(State()) {
        try store.deleteAll()
        return .durable
      }
      try store.open()
      ownPending = nil
    }
  }

  /// Where the second part stands.
  private static let second = PartPlace.allCases[2]

  /// A new first part; a second one is named again, unless the whole state gets one part.
  private func publish(_ data: Data, _ text: String) throws {
    var next = state
    next.base = text
    next.frames = []
    guard state.second != nil, random.next() % 3 > 0, let file = try store.openNewestParts()[Self.second]?.file else {
      next.second = nil
      try reach(next) { try store.publish(data).durability }
      return
    }
    try reach(next) {
      try store.publish([
        PartToPublish(.root, .new(data, as: store.protection)), PartToPublish(Self.second, .unchanged(file)),
      ]).durability
    }
  }

  /// A new second part; the first one is named again.
  private func publishSecond(_ data: Data, _ text: String) throws {
    guard state.base != nil else { return try publishBoth(data, text) }
    var next = state
    next.second = State.Part(base: text)
    let root = try store.openNewestParts().parts[0].file
    try reach(next) {
      try store.publish([
        PartToPublish(.root, .unchanged(root)), PartToPublish(Self.second, .new(data, as: secondClass())),
      ]).durability
    }
  }

  private func publishBoth(_ data: Data, _ text: String) throws {
    var next = state
    (next.base, next.frames) = (text, [])
    let other = Content(number: number, length: data.count / 2)
    next.second = State.Part(base: other.name)
    let strongest = random.next() % 2 == 0 ? ProtectionClass.complete : nil
    try reach(next) {
      try store.publish(
        [
          PartToPublish(.root, .new(data, as: store.protection)),
          PartToPublish(Self.second, .new(other.data, as: secondClass())),
        ], droppingWeakerThan: strongest
      ).durability
    }
  }

  private func secondClass() -> ProtectionClass { ProtectionClass.allCases[Int(random.next() % 4)] }

  /// Does what brings about a state, and says before and after it what may be found; false when nothing was done.
  @discardableResult
  private func reach(_ next: State, _ body: () throws -> Durability?) throws -> Bool {
    let before = try allowed.read()
    try allowed.write(before + [next])
    let durability = try body()
    try allowed.write(durability == nil ? before : [next])
    guard durability != .unknown else {
      print("a sync has failed")
      exit(2)
    }
    if durability != nil { state = next }
    return durability != nil
  }
}

/// What else uses the disk: now and then it makes durable what the journal has, or all of it.
///
/// Without it nothing would reach the disk between the calls that sync, where real disks are busy with others' writes.
final class Bystander: Sendable {
  private let directory: String
  private let file: Int32
  private let random: Mutex<SplitMix64>

  init(directory: String, seed: UInt64) {
    self.directory = directory
    file = unsafe open("\(directory)/bystander", O_RDWR | O_CREAT, 0o600)
    random = Mutex(SplitMix64(seed: seed))
  }

  func act() {
    let (choice, place) = random.withLock { ($0.next() % 8, $0.next() % 100_000) }
    switch choice {
    case 0...2:
      var byte = UInt8(truncatingIfNeeded: place)
      unsafe pwrite(file, &byte, 1, off_t(place))
      fsync(file)
    case 3:
      // The C library's module has no syncfs.
      let sync = Process()
      sync.executableURL = URL(filePath: "/bin/sync")
      sync.arguments = ["-f", directory]
      try? sync.run()
      sync.waitUntilExit()
    default: break
    }
  }
}
