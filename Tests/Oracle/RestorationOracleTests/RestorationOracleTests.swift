import RestorationOracle
import Testing

/// Short random scripts with fixed seeds; `restoration-oracle` runs others for as long as it is told.
@MainActor @Suite struct RestorationOracleTests {
  /// What the scripts of one test vary besides edits and saves.
  nonisolated static let groups: [[Dimension]] = [
    [.kills, .presenting, .removing, .renames, .moves, .order, .hiding],
    [.kills, .hiding, .collisions, .removing, .restoringAgain, .forgetting, .discarding],
    [.kills, .tags, .models, .versions, .replacing, .hiding],
    [.kills, .killsInSaves, .powerCuts, .powerCutsInSaves, .scenes, .hiding],
    [.kills, .locks, .lockedLaunches, .removing, .renames, .moves],
    [.kills, .locks, .lockedLaunches, .killsInSaves, .powerCutsInSaves, .hiding],
    [.kills, .crashes, .killsInLaunches, .retries, .hiding],
    [.kills, .models, .goneModels, .replacing],
  ]

  @Test(arguments: groups) func `random scripts agree with the rules`(dimensions: [Dimension]) async throws {
    let excluded = Set(Dimension.allCases).subtracting(dimensions)
    var search = try await Search(seed: 1, length: 40, without: excluded)
    for number in 1...40 {
      guard let finding = await search.run(number) else { continue }
      Issue.record("script \(number): \(finding.difference)\n\(Step.text(of: finding.steps))")
      return
    }
  }

  @Test func `a script reads back as it is written`() throws {
    let steps: [Step] = [
      .push(parent: 1, name: 2, kind: 3), .cutPowerInSave(call: 4, losing: .max), .edit(page: 5, value: 6), .save,
      .launch(version: 1, hiding: 2, making: 3, kind: 4), .unlock, .kill, .retry, .discard,
    ]
    #expect(Step.script(Step.text(of: steps)) == steps)
  }

  @Test(arguments: Dimension.allCases) func `a script without a dimension has none of its steps`(
    dimension: Dimension
  ) {
    let steps = { (excluded: Set<Dimension>) in
      (1...50).flatMap { number in
        var maker = ScriptMaker(seed: UInt64(number), dimensions: Set(Dimension.allCases).subtracting(excluded))
        return maker.script(length: 40)
      }
    }
    #expect(steps([]) != steps([dimension]) || dimension == .collisions)
  }
}
