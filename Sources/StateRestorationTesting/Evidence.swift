import StateRestoration
import Testing

/// Attaches to the running test what explains a failed check: the report, and the preserved state without its values.
@MainActor func attachEvidence<Application>(
  of harness: RestorationHarness<Application>, at location: SourceLocation
) async {
  if let report = harness.report {
    TestIssues.attach("\(report)", named: "restoration-report.txt", at: location)
  }
  harness.killWithoutNotice()
  let dump: String
  do { dump = try await harness.redactedDump() } catch { dump = "The preserved state can't be read: \(error)" }
  TestIssues.attach(dump, named: "preserved-state.txt", at: location)
}
