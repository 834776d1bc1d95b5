import FaultyFileSystem
import FileSystem
import FoundationEssentials
import SeededRandom
import Testing

@testable import DataProtection

/// Runs after one another with states of several parts of any size, some of them partly locked, in each of which something fails,
/// dies, or loses its power.
@Suite struct PartRandomTests {
  typealias Shape = [PartPlace: PartsState.Part]

  private static let lengths = [10, 900, 5_000, 65_400, 66_000, 120_000, 300_000]

  private struct Run {
    let rig = StoreRig()
    var random: SplitMix64
    /// What may be found: what was acknowledged last, and everything that was tried since.
    var allowed: [Shape] = [[:]]
    /// The newest file of each place, as this run knows it.
    private var files: [PartPlace: PartFile] = [:]
    private var known: Shape?
    private var newest: Generation?
    private var isLocked = false

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    mutating func pick(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

    private mutating func content() -> Data {
      let lengths = PartRandomTests.lengths
      let length = lengths[pick(lengths.count)] + pick(300)
      return Data(repeating: UInt8(truncatingIfNeeded: random.next()), count: length)
    }

    /// Makes a few saves through a file system; errors end none of them.
    mutating func save(_ fileSystem: any FileSystem, _ seed: UInt64) throws {
      (files, known, newest) = ([:], nil, nil)
      guard let store = try? rig.archives(fileSystem, PartPlace.root.protection), (try? store.open()) != nil else {
        return
      }
      defer { store.close() }
      if let opened = try? store.openNewestParts(), let found = try? StoreRig.describe(opened) {
        #expect(allowed.contains(found.contents), "seed \(seed): \(found)")
        known = found.contents
        newest = opened.generation
        for part in opened.parts { files[part.place] = part.file }
      }
      isLocked = pick(3) == 0
      if isLocked { rig.sealing.lock() }
      defer { rig.sealing.unlock() }
      for _ in 0..<(2 + pick(8)) {
        if pick(3) > 0, try append(store) { continue }
        publish(store)
      }
    }

    private mutating func append(_ store: ArchiveStore) throws -> Bool {
      guard let newest, let base = known, !base.isEmpty else { return false }
      let place = Array(base.keys).sorted()[pick(base.count)]
      let room = max(base[place]!.content?.count ?? 0, 64 << 10) / 4
      let length = [pick(400), pick(400), pick(room), room - pick(600)][pick(4)]
      let change = Data(repeating: UInt8(truncatingIfNeeded: random.next()), count: max(0, length))
      var next = base
      next[place]!.frames.append(change)
      let before = allowed
      allowed.append(next)
      do {
        guard let receipt = try store.append(change, to: newest, at: place, as: place.protection) else {
          allowed = before
          return false
        }
        if receipt.durability == .durable { allowed = [next] }
        known = next
        return true
      } catch  where error.code == .locked {
        allowed = before
        return false
      } catch {
        // The engine would save that part anew.
        files[place] = nil
        return false
      }
    }

    private mutating func publish(_ store: ArchiveStore) {
      var next: Shape = [:]
      var parts: [PartToPublish] = []
      for place in PartPlace.allCases where place == .root || pick(4) > 0 {
        if let file = files[place], let content = known?[place], pick(2) == 0 {
          parts.append(.unchanged(file))
          next[place] = content
        } else {
          let content = content()
          parts.append(.new(place, content))
          next[place] = PartsState.Part(content: content)
        }
      }
      allowed.append(next)
      do {
        let receipt = try store.publish(parts, droppingWeakerThan: pick(5) == 0 ? .complete : nil)
        if receipt.durability == .durable { allowed = [next] }
        (known, newest) = (next, receipt.generation)
        files = Dictionary(uniqueKeysWithValues: receipt.parts.map { ($0.place, $0) })
      } catch  where error.code == .superseded {
        // Nothing was tried: a part has to be saved anew.
        allowed.removeLast()
        files = [:]
      } catch {
        known = nil
      }
    }
  }

  @Test(arguments: 0..<48 as Range<UInt64>)
  func `what was acknowledged is found after any sequence of runs with faults`(_ seed: UInt64) throws {
    var run = Run(seed: seed << 32 | 7)
    var memory = MemoryFileSystem()
    for number in 0..<6 {
      let faulty = FaultyFileSystem(memory)
      let call = faulty.callCount + 1 + run.pick(160)
      switch run.pick(6) {
      case 0: faulty.fail(call: call, .error(.inputOutput))
      case 1: faulty.fail(from: call, [.synchronize, .synchronizeData], .error(.inputOutput))
      case 2: faulty.fail(from: call, [.write, .allocate], .error(.noSpace))
      case 3: memory.cutPower(afterCall: memory.callCount + call)
      case 4:
        // Two faults in a row.
        let second = call + 1 + run.pick(40)
        faulty.fail(call: call, .error(.inputOutput))
        faulty.onCall { number, _ in if number == call + 1 { faulty.fail(call: second, .error(.inputOutput)) } }
      default: faulty.fail(call: call, .shortWrite)
      }
      try run.save(faulty, seed)
      switch run.pick(4) {
      case 0: memory = memory.afterProcessDeath()
      case 1: memory = memory.afterPowerCut(.dropAll)
      case 2: memory = memory.afterPowerCut(.keepPrefix(run.pick(12)))
      default: memory = memory.afterPowerCut(.lose(mask: run.random.next()))
      }
      let found = try run.rig.observeParts(memory)
      try #require(
        run.allowed.contains(found.contents),
        "seed \(seed), run \(number): \(found), \(found.parts.mapValues { "\($0.content?.count ?? -1) \($0.frames.count)" }) of \(run.allowed.count)"
      )
      if found.parts.isEmpty { #expect(found.problem == .notFound, "seed \(seed), run \(number): \(found)") }
      #expect(found.isClean || found.isCutShort, "seed \(seed), run \(number): \(found)")
    }
  }
}
