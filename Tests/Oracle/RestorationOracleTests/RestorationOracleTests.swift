import RestorationOracle
import Testing

/// Short random scripts with fixed seeds; `restoration-oracle` runs others for as long as it is told.
@MainActor @Suite struct RestorationOracleTests {
  @Test func `a script reads back as it is written`() throws {
    let steps: [Step] = [
      .push(parent: 1, name: 2, kind: 3), .cutPowerInSave(call: 4, losing: .max), .edit(page: 5, value: 6), .save,
      .launch(version: 1, hiding: 2, making: 3, kind: 4),
    ]
    #expect(Step.script(Step.text(of: steps)) == steps)
  }
}
