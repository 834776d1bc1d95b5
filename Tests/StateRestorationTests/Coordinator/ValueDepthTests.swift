import StateRestoration
import Testing

/// Values that are nested deep: the limit is a setting, and the finding says it.
@MainActor @Suite struct ValueDepthTests {
  /// An outline: an object with a list of such objects, two levels of depth each.
  struct Outline: Codable, Equatable, Sendable {
    var title = ""
    var children: [Outline] = []
    init(depth: Int) { children = depth > 1 ? [Outline(depth: depth - 1)] : [] }
  }

  final class OutlineController: RestorableController, StatefulObject {
    var restoration: RestorationIdentity = "outline"
    var restorableState = Outline(depth: 1)
  }

  /// Saves an outline and gives back the findings, and the outline of the next launch.
  private func relaunched(depth: Int, limit: Int?) async throws -> (
    findings: [PreservationOutcome.Finding], outline: Outline
  ) {
    let bench = Bench()
    if let limit { bench.configuration.valueDepthLimit = limit }
    let first = OutlineController()
    first.restorableState = Outline(depth: depth)
    let coordinator = bench.launch()
    let outcome = try await coordinator.preserve(Screen("root", children: [first]))
    let second = OutlineController()
    _ = try await bench.launch().restore(into: Screen("root", children: [second]))
    return (outcome.receipt?.findings ?? [], second.restorableState)
  }

  @Test func `an outline of sixty levels comes back`() async throws {
    let (findings, outline) = try await relaunched(depth: 60, limit: nil)
    #expect(findings.isEmpty && outline == Outline(depth: 60))
  }

  @Test func `a deeper outline is reported with its path, the word depth, the limit and the remedy`() async throws {
    let (findings, _) = try await relaunched(depth: 70, limit: nil)
    let text = try #require(findings.first).description
    for word in ["root/outline", "depth", "128", "raise"] { #expect(text.contains(word), "\(text)") }
  }

  @Test func `a program may raise the limit`() async throws {
    let (findings, outline) = try await relaunched(depth: 149, limit: 300)
    #expect(findings.isEmpty && outline == Outline(depth: 149))
  }
}
