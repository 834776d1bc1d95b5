import DataProtection
import FaultyFileSystem
import FileSystem
import Foundation
import Testing
import restore_inspect

/// A check of everything among what others have put in the directories.
@MainActor @Suite struct VerifyHostileTests {
  @Test func `what is no file of ours is listed and does no harm`() async throws {
    let state = try await InspectedState()
    let name = try await state.addArchive("other", "main")
    let path = try await state.addFile("letter", .complete)
    let slot = String(repeating: "a", count: 32)
    let stores = [InspectedState.store, (InspectedState.path + "/" + path).parent.parent]
    for store in stores { state.disk.plant(.directory, atPath: "\(store)/\(slot)") }
    for directory in stores.flatMap({ [$0, "\($0)/\(slot)"] }) + [InspectedState.path + "/files"] {
      for odd in ["junk", "\u{1B}[2J", "deleted-\(slot)", "g-01", "g--1"] {
        state.disk.plant([1, 2, 3], atPath: "\(directory)/\(odd)")
      }
      state.disk.plant(.directory, atPath: "\(directory)/g-1")
      state.disk.plant(.symbolicLink, atPath: "\(directory)/p-2")
      state.disk.plant(.other, atPath: "\(directory)/marker")
      state.disk.plant([], atPath: "\(directory)/g-18446744073709551615")
      state.disk.plant([0x53], atPath: "\(directory)/ledger.new")
    }
    state.disk.plant([1], atPath: "\(InspectedState.path)/files/unreadable")
    let (code, report) = try await state.verifyEverything()
    #expect(code == .damaged && report.outcome("archives/\(name)") == "whole" && report.outcome(path) == "whole")
    #expect(report.outcome("archives/\(slot)/g-1") == "corrupt" && report.outcome("archives/\(slot)/g-01") == "notRead")
    #expect(report.outcome("archives/junk") == "notRead" && report.outcome("files/junk") == "notRead")
    #expect(report.problems.isEmpty, "each file says it itself: \(report.problems)")
    let text = await state.run("verify", InspectedState.path)
    #expect(!text.output.contains("\u{1B}") && text.code == code)
  }

  @Test func `planted directories cost their number, also without the list of slots`() async throws {
    let state = try await InspectedState()
    state.disk.remove(atPath: "\(InspectedState.path)/slots")
    func opens() async -> Int {
      let counting = CountingFileSystem(state.disk)
      #expect(await state.run("verify", InspectedState.path, on: counting).code == .damaged)
      return counting.counts.opens
    }
    func plant(_ numbers: Range<Int>) {
      for number in numbers {
        let digits = String(number)
        let name = String(repeating: "0", count: 32 - digits.count) + digits
        state.disk.plant(.directory, atPath: "\(InspectedState.store)/\(name)")
      }
    }
    plant(0..<50)
    let few = await opens()
    plant(50..<100)
    let more = await opens()
    plant(100..<150)
    #expect(await opens() - more == more - few)
  }

  @Test(arguments: [FileStatus.Kind.symbolicLink, .other, .directory])
  func `something else in the place of a store is told in one line`(kind: FileStatus.Kind) async throws {
    let state = try await InspectedState()
    let path = try await state.addFile("letter", .complete)
    let store = (InspectedState.path + "/" + path).parent.parent
    for slot in state.disk.names(atPath: store) {
      for name in state.disk.names(atPath: "\(store)/\(slot)") { state.disk.remove(atPath: "\(store)/\(slot)/\(name)") }
      state.disk.remove(atPath: "\(store)/\(slot)")
    }
    state.disk.remove(atPath: store)
    state.disk.plant(kind, atPath: store)
    let place = store.parent
    state.disk.plant(kind, atPath: InspectedState.path + "/files/beside")
    let (code, report) = try await state.verifyEverything()
    if kind == .directory {
      // The list of slots knows that something was in it.
      #expect(code == .damaged && report.problems.map(\.problem) == ["missing"])
    } else {
      #expect(code == .unavailable && report.problems.map(\.directory) == [String(place.dropFirst(8)) + "/archives"])
    }
    #expect(report.outcome("files/beside") == "notRead")
    #expect(report.files.contains { $0.kind == "generation" && $0.outcome == "whole" })
  }

  @Test func `a file that may not be read is io, and the rest of its slot is read`() async throws {
    let state = try await InspectedState()
    let names = state.generations
    state.disk.setMode(0, atPath: try state.newest)
    let alone = try await state.addArchive("other", "main")
    state.disk.setMode(0, atPath: "\(InspectedState.store)/\(alone)")
    let (code, report) = try await state.verifyEverything()
    #expect(code == .unavailable && report.problems.isEmpty)
    #expect(names.map { report.outcome("archives/\($0)") } == ["whole", "io"])
    #expect(report.outcome("archives/\(alone)") == "io")
  }

  @Test func `a store that others can enter is not read, and the rest is`() async throws {
    let state = try await InspectedState()
    let path = try await state.addFile("letter", .complete)
    state.disk.setMode(0o777, atPath: (InspectedState.path + "/" + path).parent.parent)
    let (code, report) = try await state.verifyEverything()
    #expect(code == .unavailable && report.problems.map(\.problem) == ["unsafeLocation"])
    #expect(report.files.contains { $0.kind == "generation" && $0.outcome == "whole" })
  }

  @Test(.timeLimit(.minutes(2)))
  func `thousands of odd names cost so many calls each, not so many for each pair`() async throws {
    let state = try await InspectedState()
    let name = try await state.addArchive("other", "main")
    let odd = 3000
    for number in 0..<odd / 3 {
      let digits = String(number, radix: 16)
      let slot = String(repeating: "0", count: 32 - digits.count) + digits
      state.disk.plant(.directory, atPath: "\(InspectedState.store)/\(slot)")
      state.disk.plant([UInt8(number & 0xFF)], atPath: "\(InspectedState.store)/\(slot)/g-1")
      state.disk.plant([1], atPath: "\(InspectedState.store)/\(name.prefix { $0 != "/" })/g-\(number + 2)")
      state.disk.plant([1], atPath: "\(InspectedState.store)/odd \(number)")
    }
    let disk = FaultyFileSystem(state.disk)
    let result = await state.run("verify", InspectedState.path, on: disk)
    #expect(result.code == .damaged && result.output.contains("whole  \(name)"))
    #expect(result.output.split(separator: "\n").count > odd)
    #expect(disk.callCount < 20 * odd)
  }
}

extension String {
  /// The directory of a path.
  fileprivate var parent: String { split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } }
}
