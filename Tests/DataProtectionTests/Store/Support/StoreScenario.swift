import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Testing

@testable import DataProtection

/// Something that a program does with its archives, and what may be found after it was cut short anywhere.
enum StoreScenario: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case firstSave, publishing, appending, compaction, savingWhileLocked, savingAgainWhileLocked
  case firstPending, pending, pendingAgain, mergingPending, retiring, classChange, resealing, deletion, unchanged

  static let first = Data("first".utf8)
  static let second = Data((0..<9000).map { UInt8(truncatingIfNeeded: $0 % 251) })
  static let third = Data("third".utf8) + Data(repeating: 7, count: 5000)
  static let frames = [Data("frame 0".utf8), Data(repeating: 1, count: 900), Data("frame 2".utf8), Data()]
  static let away = Data("saved while locked".utf8)
  static let later = Data("saved by the next run, still locked".utf8)

  var testDescription: String { rawValue }

  /// Brings a fresh disk to where the scenario begins; all of it is durable.
  func prepare(_ rig: StoreRig, _ memory: MemoryFileSystem) throws {
    guard self != .firstSave, self != .firstPending else { return }
    let store = try rig.archives(memory)
    defer { store.close() }
    try store.publish(Self.first)
    let newest = try store.publish(Self.second).generation
    switch self {
    case .appending: try store.append(Self.frames[0], to: newest)
    case .compaction, .classChange, .deletion, .retiring, .resealing, .unchanged:
      try store.append(Self.frames[0], to: newest)
      try store.append(Self.frames[1], to: newest)
    case .mergingPending, .pendingAgain:
      try store.append(Self.frames[0], to: newest)
      store.close()
      rig.sealing.lock()
      try rig.archives(memory).publishPending(Self.away)
      rig.sealing.unlock()
    default: break
    }
  }

  /// Every state that may be found, in the order in which the scenario passes through them.
  var states: [StoreState] {
    let frames = Self.frames
    let second = Self.second
    let begun = Array(frames[..<2])
    return switch self {
    case .firstSave: [.nothing, .saved(Self.first)]
    case .publishing: [.saved(second), .saved(Self.third)]
    case .appending: (1...frames.count).map { .saved(second, Array(frames[..<$0])) }
    case .compaction: [.saved(second, begun), .saved(Self.third)]
    case .savingWhileLocked: [.saved(second), .saved(Self.third, protection: .completeUnlessOpen)]
    case .savingAgainWhileLocked:
      [
        .saved(second), .saved(Self.third, protection: .completeUnlessOpen),
        .saved(Self.later, protection: .completeUnlessOpen),
      ]
    case .firstPending: [.nothing, StoreState(allPending: [Self.away], problem: .notFound)]
    case .pending: [.saved(second), .saved(second, pending: Self.away)]
    case .pendingAgain:
      [
        .saved(second, [frames[0]], pending: Self.away), .saved(second, [frames[0]], pending: Self.away, Self.later),
        .saved(second, [frames[0]], pending: Self.away, Self.third),
      ]
    case .mergingPending: [.saved(second, [frames[0]], pending: Self.away), .saved(Self.third)]
    case .retiring: [.saved(second, begun), .saved(Self.third, aside: 1)]
    case .classChange: [.saved(second, begun), .saved(Self.third, protection: .none)]
    case .resealing, .unchanged: [.saved(second, begun), .saved(second, begun)]
    case .deletion: [.saved(second, begun), .nothing]
    }
  }

  /// Runs as a new process; `reached` is told each state as soon as it is acknowledged as durable.
  func run(_ rig: StoreRig, _ fileSystem: any FileSystem, reached: (Int) -> Void) throws(ProtectionError) {
    let store = try rig.archives(fileSystem, self == .classChange ? ProtectionClass.none : nil)
    try store.open()
    defer { store.close() }
    func reach(_ index: Int, _ receipt: PublishReceipt?) { if receipt?.durability == .durable { reached(index) } }
    switch self {
    case .firstSave:
      do throws(ProtectionError) {
        _ = try store.openNewest()
      } catch  where error.code == .notFound {
        reach(1, try store.publish(Self.first))
      }
    case .publishing, .compaction, .classChange:
      _ = try store.openNewest()
      reach(1, try store.publish(Self.third))
    case .appending:
      let newest = try store.openNewest().generation
      for (index, frame) in Self.frames.enumerated().dropFirst() {
        guard let receipt = try store.append(frame, to: newest), receipt.durability == .durable else { return }
        reached(index)
      }
    case .savingWhileLocked, .savingAgainWhileLocked:
      _ = try store.openNewest().readAll()
      rig.sealing.lock()
      defer { rig.sealing.unlock() }
      reach(1, try store.publish(Self.third))
      if self == .savingAgainWhileLocked { reach(2, try store.publish(Self.later)) }
    case .firstPending, .pending:
      rig.sealing.lock()
      defer { rig.sealing.unlock() }
      reach(1, try store.publishPending(Self.away))
    case .pendingAgain:
      rig.sealing.lock()
      defer { rig.sealing.unlock() }
      reach(1, try store.publishPending(Self.later))
      reach(2, try store.publishPending(Self.third))
    case .mergingPending:
      _ = try store.openNewest()
      let pending = try store.openPending().archives.map(\.generation)
      guard !pending.isEmpty else { return }
      reach(1, try store.publish(Self.third, ArchiveSuccession(consuming: pending)))
    case .retiring:
      let newest = try store.openNewest().generation
      reach(1, try store.publish(Self.third, ArchiveSuccession(retiring: [newest])))
    case .resealing:
      if try store.store.resealAll() { reached(1) }
    case .deletion:
      try store.deleteAll()
      reached(1)
    case .unchanged:
      _ = try store.openNewest()
      try store.requireDurable()
      reached(1)
    }
  }
}
