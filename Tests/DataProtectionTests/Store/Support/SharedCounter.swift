import FileSystem
import FoundationEssentials

@testable import DataProtection

/// A number that is kept in an archive, and raised by two processes in turn.
struct SharedCounter {
  let archives: ArchiveStore
  private let guardFile: Descriptor
  private let disk = LinuxFileSystem()

  init(_ path: String) throws {
    let root = try disk.openDirectory(atPath: path)
    archives = try StoreDirectory.open(disk, in: root, keys: ToyKeys(), sealer: ToySealing())
      .archives(for: ArchiveSlot(application: "counter"), protection: .complete)
    guardFile = try disk.openFile("turn", in: root, [.write, .create])
  }

  func value(_ opened: OpenedArchive) throws(ProtectionError) -> Int {
    let base = Int(String(decoding: try opened.readAll(), as: UTF8.self)) ?? 0
    return base + opened.frameCount
  }

  /// Reads the newest state and saves the next, by a frame or whole, as often as asked.
  ///
  /// Reading and saving as one step is the programs' affair; the store's own lock is taken inside as well.
  func raise(_ times: Int) throws {
    for round in 0..<times {
      guard try disk.lock(guardFile, .exclusive, patience: .seconds(60)) else {
        throw ProtectionError(.busy, "The other process keeps its turn.")
      }
      try step(isWhole: round % 3 == 0)
      try disk.unlock(guardFile)
    }
  }

  private func step(isWhole: Bool) throws(ProtectionError) {
    let current = try valueOrNothing()
    if !isWhole {
      do throws(ProtectionError) {
        try archives.append(Data("+1".utf8))
        return
      } catch {
        guard error.code == .superseded else { throw error }
      }
    }
    try archives.publish(Data(String(current + 1).utf8))
  }

  private func valueOrNothing() throws(ProtectionError) -> Int {
    do throws(ProtectionError) {
      return try value(try archives.openNewest())
    } catch {
      guard error.code == .notFound else { throw error }
      return 0
    }
  }
}
