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

  /// Scripts that the engine got wrong once.
  nonisolated static let regressions: [(name: String, script: String)] = [
    (
      "what was saved while locked and closed before the unlock stays closed",
      """
      [.lock, .save, .launch(version: 3, hiding: 0, making: 0, kind: 0), .present(parent: 0, name: 2, kind: 4),
      .edit(page: 67, value: 1), .save, .dismiss(parent: 96), .unlock]
      """
    ),
    (
      "a late page that closes in its turn stays closed, though another has its address",
      """
      [.push(parent: 0, name: 1, kind: 0), .save, .launch(version: 1, hiding: 1, making: 0, kind: 1),
      .register(number: 0), .pop(page: 85), .push(parent: 0, name: 2, kind: 0), .restoreAgain]
      """
    ),
    (
      "what is pushed while a page shows another model is not below its former state",
      """
      [.push(parent: 0, name: 2, kind: 1), .push(parent: 11, name: 1, kind: 0), .save, .showOtherModel(page: 37),
      .push(parent: 47, name: 3, kind: 0), .save, .launch(version: 1, hiding: 2, making: 0, kind: 3),
      .push(parent: 0, name: 2, kind: 1), .launch(version: 1, hiding: 0, making: 0, kind: 0)]
      """
    ),
    (
      "an older program that retries a newer state keeps it in front",
      """
      [.push(parent: 0, name: 3, kind: 4), .save, .launch(version: 3, hiding: 0, making: 0, kind: 4),
      .edit(page: 60, value: 2), .save, .killInLaunch(call: 31), .launch(version: 1, hiding: 0, making: 0, kind: 2),
      .retry, .save, .launch(version: 3, hiding: 0, making: 0, kind: 0)]
      """
    ),
    (
      "a save survives a power cut though the disk was full in the run before",
      """
      [.failingSave(fault: 1, call: 21), .launch(version: 1, hiding: 0, making: 0, kind: 0),
      .cutPowerInSave(call: 23, losing: 18446744073709551615), .push(parent: 0, name: 4, kind: 0)]
      """
    ),
    (
      "a first save that is cut short twice leaves nothing damaged",
      """
      [.killInSave(call: 21), .forget(number: 3), .launch(version: 1, hiding: 0, making: 0, kind: 0),
      .cutPowerInSave(call: 5, losing: 14641671851652139492), .crashInLaunch(name: 5, decoding: 1)]
      """
    ),
    (
      "what was left out keeps its place when a page that stood there moves with a new child",
      """
      [.push(parent: 0, name: 6, kind: 0), .edit(page: 95, value: 3), .push(parent: 0, name: 4, kind: 0),
      .killInSave(call: 33), .crashInLaunch(name: 6, decoding: 0), .register(number: 3), .move(page: 86, parent: 67),
      .push(parent: 11, name: 6, kind: 0), .save, .launch(version: 1, hiding: 0, making: 0, kind: 0)]
      """
    ),
    (
      "a page that an older program opens while locked hides no newer state",
      """
      [.push(parent: 0, name: 6, kind: 0), .edit(page: 33, value: 3), .edit(page: 8, value: 4), .save,
      .launch(version: 3, hiding: 0, making: 0, kind: 0), .cutPowerInSave(call: 12, losing: 18446744073709551615),
      .launch(version: 1, hiding: 0, making: 0, kind: 0), .push(parent: 0, name: 6, kind: 0), .unlock,
      .killInSave(call: 18), .launch(version: 3, hiding: 0, making: 0, kind: 1)]
      """
    ),
    (
      "what an older program closes goes dormant whole",
      """
      [.push(parent: 0, name: 3, kind: 0), .push(parent: 57, name: 3, kind: 0), .save,
      .launch(version: 2, hiding: 0, making: 0, kind: 3), .killInSave(call: 31),
      .launch(version: 1, hiding: 0, making: 0, kind: 0), .push(parent: 0, name: 4, kind: 0), .pop(page: 77),
      .launch(version: 2, hiding: 0, making: 0, kind: 0), .register(number: 8)]
      """
    ),
    (
      "a page that moves below one that shows another model leaves nothing in its former place",
      """
      [.push(parent: 0, name: 5, kind: 0), .push(parent: 0, name: 3, kind: 0), .push(parent: 0, name: 1, kind: 1),
      .push(parent: 35, name: 3, kind: 0), .save, .move(page: 42, parent: 89), .push(parent: 0, name: 4, kind: 0),
      .showOtherModel(page: 74), .save, .launch(version: 1, hiding: 0, making: 0, kind: 0)]
      """
    ),
    (
      "a late page that shows another model before its first save has its own place",
      """
      [.push(parent: 0, name: 2, kind: 1), .save, .launch(version: 1, hiding: 0, making: 2, kind: 0),
      .register(number: 6), .push(parent: 0, name: 5, kind: 0), .showOtherModel(page: 18), .save,
      .launch(version: 1, hiding: 0, making: 0, kind: 0)]
      """
    ),
    (
      "a hierarchy that is turned inside out is saved",
      """
      [.push(parent: 0, name: 5, kind: 0), .push(parent: 87, name: 3, kind: 0), .push(parent: 62, name: 4, kind: 0),
      .save, .push(parent: 99, name: 3, kind: 0), .push(parent: 48, name: 5, kind: 0), .move(page: 86, parent: 66),
      .push(parent: 31, name: 5, kind: 0), .move(page: 50, parent: 90), .save, .lock, .unlock,
      .launch(version: 1, hiding: 0, making: 0, kind: 0)]
      """
    ),
    (
      "a page that shows another model while locked comes back with what is edited below it",
      """
      [.save, .push(parent: 0, name: 2, kind: 0), .cutPowerInSave(call: 24, losing: 18446744073709551615),
      .present(parent: 25, name: 2, kind: 1), .push(parent: 0, name: 1, kind: 0), .edit(page: 20, value: 3),
      .push(parent: 91, name: 1, kind: 0), .push(parent: 0, name: 5, kind: 0), .push(parent: 0, name: 4, kind: 0),
      .showOtherModel(page: 77), .push(parent: 47, name: 6, kind: 0), .edit(page: 20, value: 8), .unlock, .save,
      .launch(version: 1, hiding: 0, making: 0, kind: 0)]
      """
    ),
    (
      "what is pushed below a page that has moved below one that shows another model stays there",
      """
      [.push(parent: 0, name: 4, kind: 1), .push(parent: 15, name: 3, kind: 0), .push(parent: 5, name: 2, kind: 0),
      .save, .showOtherModel(page: 69), .push(parent: 11, name: 5, kind: 0), .push(parent: 9, name: 2, kind: 0),
      .save, .launch(version: 1, hiding: 0, making: 0, kind: 0)]
      """
    ),
    (
      "an edit that a late page's turn has met is stored for the model that was shown then",
      """
      [.push(parent: 0, name: 2, kind: 1), .push(parent: 0, name: 5, kind: 0), .save,
      .crashInLaunch(name: 5, decoding: 1), .edit(page: 35, value: 4), .register(number: 8),
      .push(parent: 0, name: 1, kind: 0), .showOtherModel(page: 57), .killInSave(call: 12),
      .launch(version: 1, hiding: 0, making: 2, kind: 3)]
      """
    ),
    (
      "a page that comes while locked, and names its model then, has not been edited",
      """
      [.push(parent: 0, name: 5, kind: 0), .save, .push(parent: 0, name: 2, kind: 0),
      .push(parent: 0, name: 3, kind: 0), .edit(page: 63, value: 4),
      .cutPowerInSave(call: 24, losing: 18446744073709551615), .push(parent: 0, name: 3, kind: 5),
      .showOtherModel(page: 85), .unlock]
      """
    ),
    (
      "an older program that joins less than the one that died may find a second state in the place",
      """
      [.push(parent: 0, name: 5, kind: 1), .save, .cutPower(losing: 0),
      .launch(version: 3, hiding: 0, making: 0, kind: 0), .push(parent: 0, name: 5, kind: 1),
      .push(parent: 31, name: 6, kind: 0), .edit(page: 35, value: 3), .save, .unlock,
      .crashInLaunch(name: 5, decoding: 0), .launch(version: 1, hiding: 0, making: 0, kind: 1)]
      """
    ),
    (
      "a value that an earlier late page's turn has met is stored for the model that was shown then",
      """
      [.lock, .push(parent: 0, name: 2, kind: 2), .unlock, .crashInLaunch(name: 6, decoding: 0),
      .push(parent: 0, name: 3, kind: 0), .push(parent: 77, name: 6, kind: 0), .save, .killInLaunch(call: 37),
      .edit(page: 33, value: 5), .register(number: 6), .edit(page: 97, value: 7), .showOtherModel(page: 88),
      .rename(page: 55, name: 4), .launch(version: 1, hiding: 0, making: 0, kind: 0)]
      """
    ),
    (
      "what was restored below a page of a newer version goes when that is closed",
      """
      [.push(parent: 0, name: 6, kind: 0), .push(parent: 31, name: 1, kind: 0), .save,
      .launch(version: 3, hiding: 1, making: 0, kind: 0), .save, .launch(version: 1, hiding: 0, making: 0, kind: 0),
      .pop(page: 91), .save, .launch(version: 3, hiding: 0, making: 0, kind: 0), .register(number: 4)]
      """
    ),
    (
      "what a page had for another model while locked may take the place of state without a model",
      """
      [.push(parent: 0, name: 6, kind: 0), .save, .cutPower(losing: 0), .push(parent: 0, name: 6, kind: 2),
      .edit(page: 3, value: 7), .push(parent: 0, name: 3, kind: 0), .showOtherModel(page: 64),
      .push(parent: 55, name: 6, kind: 0), .push(parent: 0, name: 5, kind: 0), .pop(page: 89),
      .edit(page: 90, value: 10), .unlock]
      """
    ),
    (
      "a late page below one that shows another model is given nothing",
      """
      [.push(parent: 0, name: 5, kind: 2), .push(parent: 63, name: 4, kind: 0), .push(parent: 0, name: 3, kind: 0),
      .push(parent: 86, name: 1, kind: 1), .push(parent: 93, name: 3, kind: 0), .pop(page: 89), .save,
      .launch(version: 1, hiding: 0, making: 1, kind: 0), .showOtherModel(page: 19), .register(number: 7)]
      """
    ),
    (
      "a page over newer state without a model may keep it when it shows another model",
      """
      [.launch(version: 3, hiding: 0, making: 0, kind: 4), .push(parent: 0, name: 3, kind: 0), .save,
      .launch(version: 1, hiding: 0, making: 3, kind: 5), .showOtherModel(page: 37), .push(parent: 39, name: 1, kind: 0),
      .save, .launch(version: 1, hiding: 0, making: 3, kind: 2)]
      """
    ),
    (
      "what was left out below a late page is left out where that has moved to",
      """
      [.push(parent: 0, name: 5, kind: 0), .push(parent: 13, name: 6, kind: 0), .push(parent: 95, name: 2, kind: 0),
      .save, .crashInLaunch(name: 2, decoding: 0), .launch(version: 1, hiding: 6, making: 0, kind: 3),
      .rename(page: 5, name: 6), .register(number: 7)]
      """
    ),
    (
      "what was deleted with its model is gone though the model comes back",
      """
      [.push(parent: 0, name: 5, kind: 3), .edit(page: 79, value: 4), .push(parent: 85, name: 5, kind: 0),
      .killInSave(call: 33), .launch(version: 2, hiding: 0, making: 0, kind: 0), .save, .cutPower(losing: 0),
      .launch(version: 1, hiding: 0, making: 0, kind: 0), .edit(page: 79, value: 7), .toggleModel(model: 2), .unlock,
      .toggleModel(model: 2), .register(number: 1), .save, .launch(version: 3, hiding: 0, making: 0, kind: 0)]
      """
    ),
    (
      "a page without a model, below one that shows another, comes without the model of its state",
      """
      [.push(parent: 0, name: 4, kind: 0), .push(parent: 0, name: 6, kind: 1), .push(parent: 56, name: 5, kind: 1),
      .save, .launch(version: 1, hiding: 0, making: 5, kind: 5), .edit(page: 23, value: 3),
      .showOtherModel(page: 62), .toggleModel(model: 2), .save, .launch(version: 1, hiding: 0, making: 0, kind: 0)]
      """
    ),
    (
      "an unedited page that came while locked may take the place of state whose model is gone",
      """
      [.push(parent: 0, name: 5, kind: 1), .toggleModel(model: 2), .save,
      .launch(version: 1, hiding: 0, making: 0, kind: 4), .cutPowerInSave(call: 15, losing: 128),
      .push(parent: 0, name: 5, kind: 5), .push(parent: 55, name: 2, kind: 0), .save, .unlock,
      .crashInLaunch(name: 6, decoding: 1)]
      """
    ),
  ]

  @Test(arguments: regressions) func `a script that once failed agrees`(name: String, script: String) async throws {
    let search = try await Search(seed: 1, length: 40)
    let steps = try #require(Step.script(script))
    #expect(await search.difference(steps) == nil, "\(name)")
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
