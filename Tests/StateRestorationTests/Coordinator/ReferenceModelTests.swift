import Observation
import SeededRandom
import StateRestoration
import Testing

/// Random hierarchies of objects that refer to each other come back as the same graph, also over locked launches.
@MainActor @Suite struct ReferenceModelTests {
  @Observable final class Member: CodingObject, RestorationContainer {
    var restoration: RestorationIdentity
    var value = 0
    var members: [Member] = []
    var friends: [Member] = []
    var favorite: Member?

    init(_ identifier: RestorationIdentifier?, _ value: Int = 0) {
      restoration = RestorationIdentity(identifier, class: "member")
      self.value = value
    }

    var restorationChildren: [any RestorableController] { members }

    func restorationRole(of child: any RestorableController) -> RestoredChild.Role? { nil }
    func installRestoredChildren(_ children: [RestoredChild]) {
      members = children.arranged(with: members)
    }

    func encodeRestorableState(with coder: RestorationEncoder) {
      coder.encode(value, forKey: "value")
      coder.encodeReferences(to: friends, forKey: "friends")
      coder.encodeReference(to: favorite, forKey: "favorite")
    }

    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      value = try coder.decode(forKey: "value")
      friends = try coder.references(to: Member.self, forKey: "friends")
      favorite = try coder.reference(to: Member.self, forKey: "favorite")
    }

    /// The member and all below it.
    var below: [Member] { [self] + members.flatMap(\.below) }
  }

  /// All that can be reached from a root, a line for each.
  private func graph(_ root: Member) -> [String] {
    var lines: [Int: String] = [:]
    var stack = [root]
    while let next = stack.popLast() {
      guard lines[next.value] == nil else { continue }
      let (members, friends) = (next.members.map(\.value), next.friends.map(\.value))
      lines[next.value] = "\(next.value) has \(members), knows \(friends), likes \(next.favorite?.value ?? -1)"
      stack += next.members + next.friends + [next.favorite].compactMap(\.self)
    }
    return lines.sorted { $0.key < $1.key }.map(\.value)
  }

  private func launch(_ bench: Bench) async throws -> (RestorationCoordinator, Member) {
    let coordinator = bench.launch {
      $0.register(Member.self, as: "member") { path, _ in path.last.map { Member($0) } }
    }
    let root = Member("root")
    _ = try await coordinator.restore(into: root)
    await coordinator.endTurn()
    return (coordinator, root)
  }

  @Test(arguments: 0..<80) func `the graph comes back`(seed: UInt64) async throws {
    var random = SplitMix64(seed: seed &* 7919 &+ 13)
    func below(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }
    let bench = Bench()
    var (coordinator, root) = try await launch(bench)
    var isLocked = false
    for step in 1...40 {
      let all = root.below
      let (one, other) = (all[below(all.count)], all[below(all.count)])
      let parent = all.first { $0.members.contains { $0 === one } }
      let isAround = one.below.contains { $0 === other }
      switch below(11) {
      case 0...2: one.members.append(Member(RestorationIdentifier("m\(step)"), step))
      case 3 where !isAround:
        guard let parent else { continue }
        parent.members.removeAll { $0 === one }
        other.members.insert(one, at: below(other.members.count + 1))
      case 4 where one.members.count > 1:
        let first = one.members[0].restoration.identifier
        one.members[0].restoration.identifier = one.members[1].restoration.identifier
        one.members[1].restoration.identifier = first
      case 5: one.favorite = other
      case 6: one.friends.append(other)
      case 7: one.favorite = Member(RestorationIdentifier("m\(step)"), step)
      case 8 where !isAround:
        // It is nobody's child from now on, and comes back by the reference alone.
        guard let parent, parent.favorite == nil else { continue }
        parent.members.removeAll { $0 === one }
        parent.favorite = one
      case 9, 10:
        _ = try await coordinator.preserve(root)
        if isLocked {
          if below(2) == 0 {
            try await bench.unlock(coordinator)
          } else {
            try await bench.unlock()
            (coordinator, root) = try await launch(bench)
          }
          _ = try await coordinator.preserve(root)
        }
        let expected = graph(root)
        isLocked = false
        (coordinator, root) = try await launch(bench)
        #expect(graph(root) == expected, "step \(step)")
        guard below(3) == 0 else { continue }
        try await bench.lock()
        isLocked = true
        (coordinator, root) = try await launch(bench)
      default: break
      }
    }
  }
}
