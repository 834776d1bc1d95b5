import ApplicationLifecycle
import Testing

@Suite struct SnapshotRulesTests {
  @Test(arguments: [false, true], [false, true])
  func `a snapshot is kept only if it shows what will come back`(isPreserved: Bool, isTopPreserved: Bool) {
    for isIgnored in [false, true] {
      let rules = SnapshotRules(
        isStatePreserved: isPreserved, isTopControllerPreserved: isTopPreserved, isIgnoredOnNextLaunch: isIgnored)
      #expect(rules.keepsSnapshot == (isPreserved && isTopPreserved && !isIgnored))
    }
  }
}
