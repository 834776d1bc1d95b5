import FaultyFileSystem
import FileSystem
import FoundationEssentials

@testable import DataProtection

/// A device's store on a simulated disk; every `open` is a new process.
struct StoreRig {
  /// The directory of the store.
  static let path = "/archives"

  var sealing = ToySealing()
  /// The real sealing code, where a test needs its lengths or its checks; the stand-in otherwise.
  var sealer: (any StoreSealing)?
  var keys = ToyKeys()
  var options = StoreOptions()
  var slot = ArchiveSlot(application: "com.example.notes", scene: "main")
  var protection = ProtectionClass.complete
  /// Whether it is the device's own store, which is made again when somebody removes it.
  var isCache = false

  /// Opens the store in a new process.
  func directory(_ fileSystem: any FileSystem) throws(ProtectionError) -> StoreDirectory {
    let root = try attempt("open the root") { () throws(FileSystemError) in
      try fileSystem.openDirectory(atPath: "/")
    }
    return try StoreDirectory(
      fileSystem, in: OwnedDescriptor(fileSystem, root), at: "", keys: keys, sealer: sealer ?? sealing,
      options: options, isCache: isCache)
  }

  /// The same after a start of the machine, by its number.
  func booted(_ boot: UInt8) -> StoreRig {
    var rig = self
    rig.keys.bootIdentifier = [UInt8](repeating: boot, count: 16)
    return rig
  }

  /// Opens the slot's archives in a new process.
  func archives(
    _ fileSystem: any FileSystem, _ protection: ProtectionClass? = nil, slot: ArchiveSlot? = nil
  ) throws(ProtectionError) -> ArchiveStore {
    let store = try directory(fileSystem).archives(for: slot ?? self.slot, protection: protection ?? self.protection)
    store.keepState()
    return store
  }

  /// What a new process finds, without changing anything.
  func observe(_ fileSystem: any FileSystem) throws -> StoreState {
    var state = StoreState()
    let store = try archives(fileSystem)
    do throws(ProtectionError) {
      let opened = try store.openNewest()
      state.standing = opened.standing
      state.content = try opened.readAll()
      state.frames = opened.frames
      state.protection = opened.protection
      state.tailDropped = opened.tailDropped
    } catch {
      state.problem = error.code
    }
    state.allPending = try store.openPending().archives.map(\.content)
    state.setAsideCount = try store.setAsideRecords().count
    return state
  }

  /// The path of the slot's directory.
  func path(_ slot: ArchiveSlot? = nil) -> String {
    StoreRig.path + "/" + SlotName(identity: try! keys.authenticationCode(.name, over: (slot ?? self.slot).bytes)).text
  }

  /// The names in the slot's directory.
  func names(_ memory: MemoryFileSystem) -> [String] { memory.names(atPath: path()) }

  /// The names of the slot's generations, oldest first.
  func generations(_ memory: MemoryFileSystem) -> [String] {
    names(memory).filter { $0.hasPrefix("g-") }.sorted { ($0.count, $0) < ($1.count, $1) }
  }
}

/// What a new process finds in a slot.
struct StoreState: Hashable, CustomStringConvertible {
  var content: Data?
  var frames: [Data] = []
  var allPending: [Data] = []
  var standing: ArchiveStanding?
  var protection: ProtectionClass?
  var problem: ProtectionError.Code?
  var setAsideCount = 0
  var tailDropped = 0

  /// The only one that is pending.
  var pending: Data? { allPending.count == 1 ? allPending[0] : nil }

  static let nothing = StoreState(problem: .notFound)

  static func saved(
    _ content: Data, _ frames: [Data] = [], pending: Data..., protection: ProtectionClass = .complete, aside: Int = 0
  ) -> StoreState {
    StoreState(
      content: content, frames: frames, allPending: pending, standing: .current, protection: protection,
      setAsideCount: aside)
  }

  var description: String {
    let text = { (data: Data) in String(decoding: data.prefix(8), as: UTF8.self) }
    return
      "\(content.map(text) ?? "-")\(frames.map(text)) pending: \(allPending.map(text)) \(standing.map { "\($0)" } ?? "") \(protection.map { "\($0)" } ?? "") \(problem.map { "\($0)" } ?? "") aside \(setAsideCount) tail \(tailDropped)"
  }
}

/// The code of the error that a call of the store throws; nil when it throws none.
func errorCode(_ body: () throws -> some Any) throws -> ProtectionError.Code? {
  do {
    _ = try body()
    return nil
  } catch let error as ProtectionError {
    return error.code
  }
}
