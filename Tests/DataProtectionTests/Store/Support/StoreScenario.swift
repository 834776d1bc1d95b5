import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Testing

@testable import DataProtection

/// Something that a program does with its archives, and what may be found after it was cut short anywhere.
enum StoreScenario: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case firstCreation, preserving, journalAppending, compaction, savingWhileLocked, promotion, mergingPending
  case savingWhileLockedAgain, promotionBelow
  case classChange, deletion

  static let first = Data("first".utf8)
  static let second = Data((0..<9000).map { UInt8(truncatingIfNeeded: $0 % 251) })
  static let third = Data("third".utf8) + Data(repeating: 7, count: 5000)
  static let frames = [Data("frame 0".utf8), Data(repeating: 1, count: 900), Data("frame 2".utf8), Data()]
  static let away = Data("saved while locked".utf8)
  static let later = Data("saved by the next run, still locked".utf8)

  var testDescription: String { rawValue }

  /// Brings a fresh disk to where the scenario begins; all of it is durable.
  func prepare(_ rig: StoreRig, _ memory: MemoryFileSystem) throws {
    guard self != .firstCreation else { return }
    let store = try rig.archives(memory)
    try store.publish(Self.first)
    try store.publish(Self.second)
    switch self {
    case .journalAppending: try store.append(Self.frames[0])
    case .compaction, .classChange, .deletion:
      try store.append(Self.frames[0])
      try store.append(Self.frames[1])
    case .promotion, .mergingPending:
      try store.append(Self.frames[0])
      rig.sealing.lock()
      try store.publishPending(Self.away, kind: self == .promotion ? .whole : .touchedNodes)
      rig.sealing.unlock()
    case .savingWhileLockedAgain, .promotionBelow:
      rig.sealing.lock()
      try store.publishPending(Self.away, kind: self == .promotionBelow ? .whole : .touchedNodes)
      if self == .promotionBelow { try rig.archives(memory).publishPending(Self.later, kind: .touchedNodes) }
      rig.sealing.unlock()
    default: break
    }
  }

  /// Every state that may be found, in the order in which the scenario passes through them.
  var states: [StoreState] {
    let frames = Self.frames
    let second = Self.second
    return switch self {
    case .firstCreation: [.nothing, .saved(Self.first)]
    case .preserving: [.saved(second), .saved(Self.third)]
    case .journalAppending: (1...frames.count).map { .saved(second, Array(frames[..<$0])) }
    case .compaction: [.saved(second, Array(frames[..<2])), .saved(Self.third)]
    case .savingWhileLocked: [.saved(second), .saved(second, pending: Self.away)]
    case .promotion:
      [
        .saved(second, [frames[0]], pending: Self.away),
        .saved(Self.away),
      ]
    case .mergingPending:
      [.saved(second, [frames[0]], pending: Self.away), .saved(Self.third)]
    case .savingWhileLockedAgain:
      [
        .saved(second, pending: Self.away), .saved(second, pending: Self.away, Self.later),
        .saved(second, pending: Self.away, Self.third),
      ]
    case .promotionBelow:
      [.saved(second, pending: Self.away, Self.later), .saved(Self.away, pending: Self.later)]
    case .classChange:
      [.saved(second, Array(frames[..<2])), .saved(second, Array(frames[..<2]), protection: .none)]
    case .deletion: [.saved(second, Array(frames[..<2])), .nothing]
    }
  }

  /// Runs as a new process; `reached` is told each state as soon as it is acknowledged as durable.
  func run(_ rig: StoreRig, _ fileSystem: any FileSystem, reached: (Int) -> Void) throws(ProtectionError) {
    let store = try rig.archives(fileSystem)
    switch self {
    case .firstCreation:
      do throws(ProtectionError) {
        _ = try store.openNewest()
      } catch  where error.code == .notFound {
        if try store.publish(Self.first).durability == .durable { reached(1) }
      }
    case .preserving:
      _ = try store.openNewest()
      if try store.publish(Self.third).durability == .durable { reached(1) }
    case .journalAppending:
      _ = try store.openNewest()
      for (index, frame) in Self.frames.enumerated().dropFirst() {
        guard try store.append(frame).durability == .durable else { return }
        reached(index)
      }
    case .compaction:
      _ = try store.openNewest()
      store.freezeJournal()
      if try store.publish(Self.third).durability == .durable { reached(1) }
    case .savingWhileLocked:
      _ = try store.openNewest()
      rig.sealing.lock()
      defer { rig.sealing.unlock() }
      if try store.publishPending(Self.away, kind: .whole).durability == .durable { reached(1) }
    case .promotion:
      guard let pending = try store.openPending().archives.first else { return }
      if try store.promotePending(pending).durability == .durable { reached(1) }
    case .mergingPending:
      _ = try store.openNewest()
      let pending = try store.openPending().archives
      guard !pending.isEmpty else { return }
      if try store.publish(Self.third, consuming: pending).durability == .durable { reached(1) }
    case .savingWhileLockedAgain:
      rig.sealing.lock()
      defer { rig.sealing.unlock() }
      if try store.publishPending(Self.later, kind: .touchedNodes).durability == .durable { reached(1) }
      if try store.publishPending(Self.third, kind: .touchedNodes).durability == .durable { reached(2) }
    case .promotionBelow:
      let pending = try store.openPending().archives
      if try store.promotePending(pending[0]).durability == .durable { reached(1) }
    case .classChange:
      _ = try store.openNewest()
      try store.setProtection(.none)
      reached(1)
    case .deletion:
      try store.deleteAll()
      reached(1)
    }
  }
}
