import Foundation
import Testing

/// Mistakes that don't compile, or not without a warning: every row of the table *The compiler says* is made here, and gives
/// that message.
@Suite struct CompilerMistakeTests {
  /// The programs by the words of the table; each is a file of its own.
  static let programs: [String: String] = [
    "An object without `restoration`": """
    final class Search1: RestorableController {}
    """,
    "`let restorationIdentifier = \"search\"`, as in UIKit": """
    final class Search2: RestorableController { let restorationIdentifier = "search" }
    """,
    "`let restorationClass = \"item\"`, as in UIKit": """
    final class Item1: RestorableController { let restorationClass = "item" }
    """,
    "`let restoration = \"search\"`, which is a `String`": """
    final class Search3: RestorableController { let restoration = "search" }
    """,
    "`let restoraton: RestorationIdentity = \"search\"`": """
    final class Search4: RestorableView { let restoraton: RestorationIdentity = "search" }
    """,
    "`controller.restorationIdentifier`, as in UIKit": """
    @MainActor func name(_ controller: any RestorableController) { print(controller.restorationIdentifier as Any) }
    """,
    "A parent with `restorationChilds`": """
    final class Shelf1: RestorationParent {
      let restoration: RestorationIdentity = "shelf"
      let restorationChilds: [any RestorableController] = []
    }
    """,
    "A parent whose children have another type": """
    final class Shelf2: RestorationParent {
      let restoration: RestorationIdentity = "shelf"
      let restorationChildren: [StoredValue<Int>] = []
    }
    """,
    "`super.restorationChildren` where the superclass is no parent": """
    class Base1: RestorableController { let restoration: RestorationIdentity = "base" }
    final class Shelf3: Base1, RestorationParent {
      var restorationChildren: [any RestorableController] { super.restorationChildren }
    }
    """,
    "An owner of views without `restorationViews`": """
    final class Page1: RestorationViewOwner { let restoration: RestorationIdentity = "page" }
    """,
    "A container with `installRestoredChild(_:)`": """
    final class Pages1: RestorationContainer {
      let restoration: RestorationIdentity = "pages"
      let restorationChildren: [any RestorableController] = []
      func installRestoredChild(_ children: [RestoredChild]) {}
      func restorationRole(of child: any RestorableController) -> RestoredChild.Role? { nil }
    }
    """,
    "A container without roles": """
    final class Pages2: RestorationContainer {
      let restoration: RestorationIdentity = "pages"
      let restorationChildren: [any RestorableController] = []
      func installRestoredChildren(_ children: [RestoredChild]) {}
    }
    """,
    "`applicationFinishedRestoringstate()` in a `FinishingObject`": """
    final class Search5: RestorableController, FinishingObject {
      let restoration: RestorationIdentity = "search"
      func applicationFinishedRestoringstate() {}
    }
    """,
    "One of the two coder methods": """
    final class Canvas1: RestorableController, CodingObject {
      let restoration: RestorationIdentity = "canvas"
      func encodeRestorableState(with coder: RestorationEncoder) {}
    }
    """,
    "State with a version and without migrations": """
    nonisolated struct State1: VersionedState { static var stateVersion: StateVersion { 2 } }
    """,
    "State with migrations and without a version": """
    nonisolated struct State2: VersionedState {
      static var stateversion: StateVersion { 2 }
      static var migrations: StateMigrations<State2> { StateMigrations(from: 1) { (_: Int) in State2() } }
    }
    """,
    "A migration that ends in another type": """
    nonisolated struct State3: VersionedState {
      static var stateVersion: StateVersion { 2 }
      static var migrations: StateMigrations<State3> { StateMigrations(from: 1) { (old: Int) in "\\(old)" } }
    }
    """,
    "State that is not `Codable`": """
    final class Editor1: RestorableController, StatefulObject {
      let restoration: RestorationIdentity = "editor"
      var restorableState = NotCodable()
    }
    nonisolated struct NotCodable: Sendable {}
    """,
    "`@Restored` without `@ObservationIgnored` in an `@Observable` class": """
    import Observation
    @Observable final class Player1: RestorableController {
      let restoration: RestorationIdentity = "player"
      @Restored("volume") var volume = 1.0
    }
    """,
    "A misspelt or mistyped method of a delegate, in an extension with the conformance (a warning)": """
    @MainActor final class Delegate1 {}
    extension Delegate1: RestorationCoordinatorDelegate {
      func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
      func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }
      func coordinator(_ coordinator: RestorationCoordinator, didFailToPreserve error: any Error) {}
    }
    """,
    "A `switch` over reasons, remarks, findings or outcomes without a `default`": """
    func isNothing(_ outcome: RestorationReport.Outcome) -> Bool { 
      switch outcome {
      case .restored, .partlyRestored, .nothingPreserved, .declined, .locked, .damaged, .otherDevice, .keysMissing: true
      case .newerVersion, .expired, .rolledBack, .missing, .givenUpAfterCrashes, .unavailable: true
      }
    }
    """,
  ]

  /// The messages of the article by mistake.
  private static func table() throws -> [String: String] {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<3 { root.deleteLastPathComponent() }
    let page = root.appending(path: "Sources/StateRestoration/StateRestoration.docc/WhenSomethingDoesNotComeBack.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let rest = try #require(text.components(separatedBy: "The compiler says:\n").last)
    let section = try #require(rest.components(separatedBy: " says:\n").first)
    var rows: [String: String] = [:]
    for line in section.split(separator: "\n") where line.hasPrefix("| ") {
      let cells = line.dropFirst(2).dropLast(2).components(separatedBy: " | ")
      guard cells.count == 2, cells[1].hasPrefix("“"), cells[1].hasSuffix("”") else { continue }
      rows[cells[0]] = String(cells[1].dropFirst().dropLast())
    }
    return rows
  }

  @Test func `every mistake of the table is an error of the compiler, in the words of the table`() async throws {
    let table = try Self.table()
    #expect(Set(table.keys) == Set(Self.programs.keys))
    var files: [String: String] = [:]
    let mistakes = Self.programs.keys.sorted()
    for (number, mistake) in mistakes.enumerated() {
      files["Mistake\(number)"] = "import StateRestoration\n\(Self.programs[mistake] ?? "")\n"
    }
    let (failures, _) = try await Compiler.failures(of: files, includingWarnings: true)
    for (number, mistake) in mistakes.enumerated() {
      let said = failures.filter { $0.program == "Mistake\(number)" }.map(\.message).joined(separator: "\n")
      #expect(said.contains(table[mistake] ?? "no row"), "\(mistake): \(said)")
    }
    // In the code of a macro, which is in no file; the page has these words below the table.
    let ofMacros = failures.filter { $0.program.hasPrefix("@__swiftmacro") }.map(\.message)
    #expect(ofMacros.contains { $0.contains("invalid redeclaration of synthesized property '_volume'") })
  }
}
