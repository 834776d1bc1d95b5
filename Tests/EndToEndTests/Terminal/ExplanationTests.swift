import Testing

@testable import StateRestoration
@testable import restore_demo

/// What the status line says of an unlock that brings nothing back.
struct ExplanationTests {
  @Test(arguments: [RestorationReport.Outcome.locked, .partlyRestored])
  func `what keeps the rest from coming back after the passcode is said`(outcome: RestorationReport.Outcome) {
    let report = RestorationReport(outcome: outcome)
    let reason = "not preserved: No space left on device: make room, or choose another place with --state."
    #expect(
      Explanation.line(afterUnlock: report, because: reason)
        == "the rest is not back yet: not preserved: No space left on device: make room, or choose another place with --state."
    )
    #expect(
      Explanation.line(afterUnlock: report, because: nil)
        == "the rest is not back yet; it comes with the next save (^R)")
  }

  @Test func `of an unlock that brings all back, or whose report says why not, nothing more is said`() {
    for outcome in [RestorationReport.Outcome.restored, .damaged, .unavailable] {
      #expect(Explanation.line(afterUnlock: RestorationReport(outcome: outcome), because: "something") == nil)
    }
    #expect(Explanation.line(afterUnlock: nil, because: "something") == nil)
  }
}
