import RestorationOracle
import Testing

/// Short random scripts with fixed seeds; `restoration-oracle` runs others for as long as it is told.
@MainActor @Suite(.serialized) struct RestorationOracleTests {
  /// What the scripts of one test vary besides edits and saves.
  nonisolated static let groups: [[Dimension]] = [
    [.kills, .presenting, .removing, .renames, .moves, .order, .duplicates, .hiding],
    [.kills, .hiding, .removing, .restoringAgain, .forgetting, .discarding, .lateRegistration],
    [.kills, .tags, .untagged, .models, .versions, .coding, .replacing, .hiding, .misnaming, .ages],
    [.kills, .killsInSaves, .powerCuts, .powerCutsInSaves, .failingSaves, .damage, .hiding],
    [.kills, .crashes, .killsInLaunches, .retries, .hiding, .order],
    [.kills, .models, .changingModels, .unnamed, .goneModels, .replacing, .lateRegistration],
    [.kills, .sizes, .versions, .removing, .joining],
    [.kills, .locks, .lockedLaunches, .joining, .models, .removing, .unnamed],
    [.kills, .classes, .locks, .lockedLaunches, .powerCuts, .removing, .moves, .renames, .order, .joining, .versions],
    Dimension.allCases,
  ]

  @Test(arguments: groups) func `random scripts agree with the tables`(dimensions: [Dimension]) async throws {
    let excluded = Set(Dimension.allCases).subtracting(dimensions)
    var search = try await Search(seed: 1, length: 40, without: excluded)
    for number in 1...5 {
      guard let finding = try await search.run(number) else { continue }
      Issue.record("script \(number): \(finding.difference)\n\(Step.text(of: finding.steps))")
      return
    }
  }

  @Test func `random scripts over the tables alone keep the promises`() async {
    for seed in 1...100 {
      let genes = TableScripts.genes(seed: UInt64(seed), count: 30)
      guard let violation = TableScripts.play(genes).violation else { continue }
      let steps = TableScripts.play(await TableScripts.shorten(genes)).steps
      Issue.record("seed \(seed): \(violation)\n\(steps.joined(separator: "\n"))")
      return
    }
  }

  @Test(arguments: Regression.all) func `a script that once failed agrees`(regression: Regression) async throws {
    let search = try await Search(seed: 1, length: 40)
    let steps = try #require(Step.script(regression.script))
    let difference = await search.difference(steps)
    #expect(difference == nil, "\(regression.name)")
  }

  @Test func `a script reads back as it is written`() throws {
    var launch = Step.Launch()
    (launch.version, launch.hiding, launch.replacing, launch.by) = (2, "a", "b", .card)
    (launch.misnaming, launch.model, launch.isUnnamed, launch.isStrict) = ("c", "A", true, true)
    let path = PagePath(["root", "a"])
    let steps: [Step] = [
      .push(path, .note, model: "A", value: 3, bytes: 10, presented: true), .edit(path, value: 6, bytes: 0),
      .push(path, .plain, model: nil, value: 0, bytes: 0, presented: false, protection: .complete),
      .protect(path, nil), .protect(path, .first), .configure(Protection.none),
      .many(path, count: 3, bytes: 0), .show(path, model: nil, value: 2), .rename(path, to: "b"),
      .move(path, below: PagePath(["root"])), .cutPowerInSave(call: 4, losing: .max), .save, .launch(launch), .unlock,
      .crashInLaunch("a", decoding: true), .failingSave(fault: 1, call: 2), .kill, .retry, .discard, .forget(path),
    ]
    #expect(Step.script(Step.text(of: steps)) == steps)
  }
}
