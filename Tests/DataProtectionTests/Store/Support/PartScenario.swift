import FaultyFileSystem
import FileSystem
import FoundationEssentials
import Testing

@testable import DataProtection

extension PartPlace {
  /// The root's part is under a weaker class in these tests, the second under `complete`, the third under a third one.
  static let second = PartPlace(rawValue: 1)!
  static let third = PartPlace(rawValue: 2)!
  static let fourth = PartPlace(rawValue: 3)!

  /// The class that a part has in these tests.
  var protection: ProtectionClass {
    switch self {
    case .root: .completeUntilFirstUserAuthentication
    case .second: .complete
    default: .none
    }
  }
}

extension PartToPublish {
  /// A part with a text of its own.
  static func new(_ place: PartPlace, _ content: Data) -> PartToPublish {
    PartToPublish(place, .new(content, as: place.protection))
  }

  static func unchanged(_ file: PartFile) -> PartToPublish { PartToPublish(file.place, .unchanged(file)) }
}

/// What a new process finds in a slot of several parts.
struct PartsState: Hashable, CustomStringConvertible {
  struct Part: Hashable, CustomStringConvertible {
    var content: Data?
    var frames: [Data] = []
    /// What is said of it beside that it was opened.
    var note = ""

    var description: String {
      let text = { (data: Data) in String(decoding: data.prefix(8), as: UTF8.self) }
      return "\(content.map(text) ?? "-")\(frames.map(text))\(note)"
    }
  }

  var parts: [PartPlace: Part] = [:]
  var pending: [Data] = []
  var standing: ArchiveStanding?
  var problem: ProtectionError.Code?

  static let nothing = PartsState(problem: .notFound)

  static func saved(_ parts: Part..., pending: [Data] = []) -> PartsState {
    PartsState(
      parts: Dictionary(uniqueKeysWithValues: zip(PartPlace.allCases, parts)), pending: pending, standing: .current)
  }

  /// What is shown, whatever is said of it.
  var contents: [PartPlace: Part] {
    parts.mapValues { part in
      var part = part
      part.note = ""
      return part
    }
  }

  /// Whether nothing is amiss.
  var isClean: Bool { (standing == .current || standing == nil) && parts.values.allSatisfy { $0.note.isEmpty } }

  /// Whether what is amiss is that files of a save are gone of which nobody was told.
  var isCutShort: Bool {
    (standing == .current || standing == .olderGeneration(because: .missing))
      && parts.values.allSatisfy { ["", " fell back: missing"].contains($0.note) }
  }

  var description: String {
    let texts = parts.sorted { $0.key < $1.key }.map { "\($0.key.rawValue): \($0.value)" }
    return "\(texts) \(pending.isEmpty ? "" : "pending \(pending.count)") \(standing.map { "\($0)" } ?? "") "
      + (problem.map { "\($0)" } ?? "")
  }
}

extension StoreRig {
  /// What a new process finds, without changing anything.
  func observeParts(_ fileSystem: any FileSystem) throws -> PartsState {
    let store = try archives(fileSystem)
    var state = PartsState()
    do throws(ProtectionError) {
      state = try Self.describe(try store.openNewestParts())
    } catch {
      state.problem = error.code
    }
    state.pending = try store.openPending().archives.map(\.content)
    return state
  }

  static func describe(_ opened: OpenedGeneration) throws(ProtectionError) -> PartsState {
    var state = PartsState(standing: opened.standing)
    for part in opened.parts {
      var found = PartsState.Part()
      switch part.state {
      case .opened: break
      case .fellBack(_, because: let code): found.note = " fell back: \(code)"
      case .locked: found.note = " locked"
      case .damaged(let code): found.note = " damaged: \(code)"
      }
      if let archive = part.archive {
        found.content = try archive.readAll()
        found.frames = archive.frames
      }
      state.parts[part.place] = found
    }
    return state
  }
}

/// Something that a program does with a state of several parts, and what may be found after it was cut short anywhere.
enum PartScenario: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case first, both, bothTwice, rootAlone, secondAlone, threeParts, appendingToBoth, afterAppending, split, joined,
    stronger
  case whileLocked, oneWay, besideAndMerged, resealing, unchanged, retiring

  var testDescription: String { rawValue }

  static let frames = [Data("frame 0".utf8), Data(repeating: 1, count: 900), Data("frame 2".utf8), Data()]

  static func text(_ name: String) -> Data {
    // Longer than a page, so that a torn write leaves pieces of it.
    Data(name.utf8) + Data(repeating: UInt8(name.utf8.reduce(0, &+)), count: 4_500)
  }

  private static func part(_ name: String, _ frames: Data...) -> PartsState.Part {
    PartsState.Part(content: text(name), frames: frames)
  }

  private var isOfOne: Bool { [.split].contains(self) }

  /// Brings a fresh disk to where the scenario begins; all of it is durable.
  func prepare(_ rig: StoreRig, _ memory: MemoryFileSystem) throws {
    guard self != .first else { return }
    let store = try rig.archives(memory, PartPlace.root.protection)
    defer { store.close() }
    if isOfOne {
      try store.publish(Self.text("zero"))
      try store.publish(Self.text("one"))
      return
    }
    let zero = try store.publish([.new(.root, Self.text("a0")), .new(.second, Self.text("b0"))])
    #expect(zero.durability == .durable)
    var parts: [PartToPublish] = [.new(.root, Self.text("a1")), .new(.second, Self.text("b1"))]
    if self == .threeParts { parts.append(.new(.third, Self.text("c1"))) }
    let one = try store.publish(parts).generation
    guard self == .afterAppending || self == .resealing || self == .unchanged else { return }
    for place in [PartPlace.root, .second] {
      try store.append(Self.frames[0], to: one, at: place, as: place.protection)
    }
  }

  /// Every state that may be found, in the order in which the scenario passes through them.
  var states: [PartsState] {
    let (a1, a2, b1, b2) = (Self.part("a1"), Self.part("a2"), Self.part("b1"), Self.part("b2"))
    let (a1f, b1f) = (Self.part("a1", Self.frames[0]), Self.part("b1", Self.frames[0]))
    switch self {
    case .first: return [.nothing, .saved(a1, b1)]
    case .both, .retiring: return [.saved(a1, b1), .saved(a2, b2)]
    case .bothTwice: return [.saved(a1, b1), .saved(a2, b2), .saved(Self.part("a3"), Self.part("b3"))]
    case .rootAlone: return [.saved(a1, b1), .saved(a2, b1)]
    case .secondAlone: return [.saved(a1, b1), .saved(a1, b2)]
    case .threeParts:
      return [.saved(a1, b1, Self.part("c1")), .saved(a2, b1, Self.part("c2")), .saved(a2, b2, Self.part("c2"))]
    case .appendingToBoth:
      return [
        .saved(a1, b1), .saved(a1, b1f), .saved(a1f, b1f),
        .saved(a1f, Self.part("b1", Self.frames[0], Self.frames[1])),
      ]
    case .afterAppending:
      return [.saved(a1f, b1f), .saved(a2, b1f), .saved(a2, Self.part("b1", Self.frames[0], Data()))]
    case .split: return [.saved(Self.part("one")), .saved(a2, b2)]
    case .joined: return [.saved(a1, b1), .saved(Self.part("one"))]
    case .stronger: return [.saved(a1, b1), .saved(a2, b2)]
    case .whileLocked: return [.saved(a1, b1), .saved(a2, b1), .saved(Self.part("a3"), b1)]
    case .oneWay: return [.saved(a1, b1), .saved(a2, b2), .saved(Self.part("a3"), b2)]
    case .besideAndMerged:
      let away = Self.text("away")
      return [.saved(a1, b1), .saved(a1, b1, pending: [away]), .saved(a2, b1, pending: [away]), .saved(a2, b2)]
    case .resealing, .unchanged: return [.saved(a1f, b1f), .saved(a1f, b1f)]
    }
  }

  /// Runs as a new process; `reached` is told each state as soon as it is acknowledged as durable.
  func run(_ rig: StoreRig, _ fileSystem: any FileSystem, reached: (Int) -> Void) throws(ProtectionError) {
    let store = try rig.archives(fileSystem, PartPlace.root.protection)
    try store.open()
    defer { store.close() }
    func reach(_ index: Int, _ receipt: PublishReceipt?) { if receipt?.durability == .durable { reached(index) } }
    let text = Self.text
    if self == .first {
      do throws(ProtectionError) {
        _ = try store.openNewestParts()
      } catch  where error.code == .notFound {
        reach(1, try store.publish([.new(.root, text("a1")), .new(.second, text("b1"))]))
      }
      return
    }
    if self == .whileLocked || self == .oneWay || self == .besideAndMerged { rig.sealing.lock() }
    defer { rig.sealing.unlock() }
    let opened = try store.openNewestParts()
    let root = opened.parts[0].file
    let second = opened[.second]?.file
    switch self {
    case .first: break
    case .both, .split: reach(1, try store.publish([.new(.root, text("a2")), .new(.second, text("b2"))]))
    case .bothTwice:
      // What the first save of a run does for those before it, the second one need not.
      reach(1, try store.publish([.new(.root, text("a2")), .new(.second, text("b2"))]))
      reach(2, try store.publish([.new(.root, text("a3")), .new(.second, text("b3"))]))
    case .retiring:
      reach(
        1,
        try store.publish(
          [.new(.root, text("a2")), .new(.second, text("b2"))], ArchiveSuccession(retiring: [opened.generation])))
    case .stronger:
      reach(
        1,
        try store.publish(
          [.new(.root, text("a2")), .new(.second, text("b2"))], droppingWeakerThan: .complete))
    case .joined: reach(1, try store.publish([.new(.root, text("one"))]))
    case .rootAlone: reach(1, try store.publish([.new(.root, text("a2")), .unchanged(second!)]))
    case .secondAlone: reach(1, try store.publish([.unchanged(root), .new(.second, text("b2"))]))
    case .threeParts:
      let receipt = try store.publish([.new(.root, text("a2")), .unchanged(second!), .new(.third, text("c2"))])
      reach(1, receipt)
      reach(
        2, try store.publish([.unchanged(receipt.parts[0]), .new(.second, text("b2")), .unchanged(receipt.parts[2])]))
    case .appendingToBoth:
      for (index, (place, frame)) in [
        (PartPlace.second, Self.frames[0]), (.root, Self.frames[0]), (.second, Self.frames[1]),
      ].enumerated() {
        guard let receipt = try store.append(frame, to: opened.generation, at: place, as: place.protection),
          receipt.durability == .durable
        else { return }
        reached(index + 1)
      }
    case .afterAppending:
      let receipt = try store.publish([.new(.root, text("a2")), .unchanged(second!)])
      guard receipt.durability == .durable else { return }
      reached(1)
      reach(2, try store.append(Data(), to: receipt.generation, at: .second, as: .complete))
    case .whileLocked:
      let receipt = try store.publish([.new(.root, text("a2")), .unchanged(second!)])
      reach(1, receipt)
      reach(2, try store.publish([.new(.root, text("a3")), .unchanged(receipt.parts[1])]))
    case .oneWay:
      let receipt = try store.publish([.new(.root, text("a2")), .new(.second, text("b2"))])
      reach(1, receipt)
      reach(2, try store.publish([.new(.root, text("a3")), .unchanged(receipt.parts[1])]))
    case .besideAndMerged:
      reach(1, try store.publishPending(text("away"), isBeside: true))
      let receipt = try store.publish([.new(.root, text("a2")), .unchanged(second!)])
      reach(2, receipt)
      rig.sealing.unlock()
      let pending = try store.openPending().archives.map(\.generation)
      _ = try store.openPart(second!)
      reach(
        3,
        try store.publish(
          [.unchanged(receipt.parts[0]), .new(.second, text("b2"))], ArchiveSuccession(consuming: pending)))
    case .resealing: if try store.store.resealAll() { reached(1) }
    case .unchanged:
      try store.requireDurable()
      reached(1)
    }
  }
}
