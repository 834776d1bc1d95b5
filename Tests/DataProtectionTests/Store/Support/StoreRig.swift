import FaultyFileSystem
import FileSystem
import FoundationEssentials

@testable import DataProtection

/// A device's store on a simulated disk; every `open` is a new process.
struct StoreRig {
  /// The directory of the store.
  static let path = "/archives"

  var sealing = ToySealing()
  var keys = ToyKeys()
  var options = StoreOptions()
  var slot = ArchiveSlot(application: "com.example.notes", scene: "main")
  var protection = ProtectionClass.complete

  /// Opens the store in a new process.
  func directory(_ fileSystem: any FileSystem) throws(ProtectionError) -> StoreDirectory {
    let root = try attempt("open the root") { () throws(FileSystemError) in
      try fileSystem.openDirectory(atPath: "/")
    }
    defer { fileSystem.close(root) }
    return try StoreDirectory.open(fileSystem, in: root, keys: keys, sealer: sealing, options: options)
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
    try directory(fileSystem).archives(for: slot ?? self.slot, protection: protection ?? self.protection)
  }

  /// What a new process finds.
  func observe(_ fileSystem: any FileSystem) throws -> StoreState {
    var state = StoreState()
    var store = try archives(fileSystem)
    do throws(ProtectionError) {
      var opened: OpenedArchive
      do throws(ProtectionError) {
        opened = try store.openNewest()
      } catch  where error.code == .wrongClass {
        store = try archives(fileSystem, ProtectionClass.none)
        opened = try store.openNewest()
      }
      state.standing = opened.standing
      state.content = try opened.readAll()
      state.frames = try opened.frames
      state.protection = store.protection
    } catch {
      state.problem = error.code
    }
    state.allPending = try store.openPending().archives.map(\.content)
    return state
  }

  /// The names in the store's directory that belong to a kind of file.
  func names(_ memory: MemoryFileSystem, endingWith ending: String = "") -> [String] {
    memory.names(atPath: StoreRig.path).filter { $0.hasSuffix(ending) }
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

  /// The only one that is pending.
  var pending: Data? { allPending.count == 1 ? allPending[0] : nil }

  static let nothing = StoreState(problem: .notFound)

  static func saved(
    _ content: Data, _ frames: [Data] = [], pending: Data..., protection: ProtectionClass = .complete
  ) -> StoreState {
    StoreState(content: content, frames: frames, allPending: pending, standing: .current, protection: protection)
  }

  var description: String {
    let text = { (data: Data) in String(decoding: data.prefix(8), as: UTF8.self) }
    return
      "\(content.map(text) ?? "-")\(frames.map(text)) pending: \(allPending.map(text)) \(standing.map { "\($0)" } ?? "") \(protection.map { "\($0)" } ?? "") \(problem.map { "\($0)" } ?? "")"
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
