import Foundation
import RestorationArchive
import StateRestorationTesting
import Synchronization
import Testing

@testable import StateRestoration

/// The first table of `Docs/Engine.md`, as it stands there: for any stored variant and any live object what happens when the
/// state is restored, saved after an edit, when the object leaves, and at an unlock after an edit.
@MainActor @Suite struct AnyVariantTests {
  /// A page that shows the model of the stored state, if that has one.
  class Page: RestorableController {
    class var restorationExtent: RestorationExtent? { nil }
    let restorationIdentifier: RestorationIdentifier? = "place"
    let restorationClass: RestorationClass? = "page"
    var restorationModelIdentifier: ModelIdentifier?
    @Restored("value") var text = "at launch"
  }

  final class RichPage: Page {
    override class var restorationExtent: RestorationExtent? { .restore }
  }

  final class Window: RestorableController {
    let restorationIdentifier: RestorationIdentifier? = "window"
    var restorationChildren: [any RestorableController]
    init(_ page: Page) { restorationChildren = [page] }
  }

  /// A row of the table: what is stored, and what its columns say.
  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let restore, save, leave, unlock: String
  }

  nonisolated static let rows: [Row] = {
    var page = URL(filePath: #filePath)
    for _ in 1...4 { page.deleteLastPathComponent() }
    let text = (try? String(contentsOf: page.appending(path: "Docs/Engine.md"), encoding: .utf8)) ?? ""
    let lines = text.split(separator: "\n").drop { !$0.hasPrefix("| The only variant | Restore ") }
    return lines.prefix { $0.hasPrefix("|") }.dropFirst(2).map { line in
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      return Row(testDescription: cells[1], restore: cells[2], save: cells[3], leave: cells[4], unlock: cells[5])
    }
  }()

  /// The variants that a row names.
  private func variants(_ row: Row) throws -> [StoredVariant] {
    func page(
      _ value: String? = "stored", tag: RestorationClass = "page", model: ModelIdentifier? = nil,
      version: StateVersion = 1, flags: RestorationArchive.NodeFlags = []
    ) -> [StoredVariant] {
      [StoredVariant(value, tag: tag, model: model, version: version, flags: flags)]
    }
    switch row.testDescription {
    case "fits", "beyond the extent": return page()
    case "fits, shed": return page(nil, flags: .shed)
    case "fits, newer version": return page(version: 2)
    // Digits are stored as a number, which is no text.
    case "fits, damaged or undecodable": return page("7")
    case "left out after a crash": return page(flags: .leftOut)
    case "other class or model": return page(tag: "other")
    case "expired, or its model is gone": return page(model: "gone")
    case "there is none": return []
    default: throw Unknown(what: row.testDescription)
    }
  }

  private struct Unknown: Error { let what: String }

  /// A launch with a page in the window, before anything is restored.
  @MainActor private struct Launch {
    let bench = Bench()
    let coordinator: RestorationCoordinator
    let page: Page
    let window: Window

    init(_ row: Row, _ variants: [StoredVariant], isLocked: Bool = false) throws {
      var window = StoredVariant(nil, tag: nil)
      if !variants.isEmpty { window.places = [("place", variants)] }
      var writer = try RestorationArchive.Writer(
        continuing: VariantTree.archive([("window", [window])]))
      let archive = try writer.makeArchive()
      bench.store.state.withLock { state in
        state.generations = [.init(number: state.next, base: archive)]
        state.next += 1
      }
      if isLocked { bench.store.lock(true) }
      coordinator = bench.launch { registry in
        registry.register(Page.self, as: "page", onlyIf: { $0 != "gone" })
      }
      let isRich = row.testDescription == "beyond the extent"
      if isRich { coordinator.extent = .launch }
      page = isRich ? RichPage() : Page()
      page.restorationModelIdentifier = variants.first?.attributes.model
      self.window = Window(page)
    }

    /// What is stored in the place after a save: the variant in front, and the dormant ones.
    func saved() async throws -> String {
      _ = try await coordinator.preserve(window)
      let text = try VariantTree.text(of: bench.newestReader())
      return String(text.dropFirst("window:-".count).trimmingCharacters(in: ["(", ")"]).dropFirst("place:".count))
    }
  }

  /// What a cell says that a save leaves in the place.
  private func tree(_ cell: String, _ stored: String) throws -> String {
    switch cell {
    case "overwritten", "new one": "edited"
    case "new one in front": "edited|\(stored)"
    case "removed": ""
    case "goes dormant": "|\(stored)"
    case "stays": stored
    default: throw Unknown(what: cell)
    }
  }

  private func stored(_ row: Row) throws -> String { try variants(row).first.map { $0.value ?? "-" } ?? "" }

  @Test func `the page has the table`() { #expect(Self.rows.count == 9) }

  @Test(arguments: rows) func `restore`(_ row: Row) async throws {
    let launch = try Launch(row, variants(row))
    let report = try await launch.coordinator.restore(into: launch.window)
    #expect(report.outcome == .restored)
    #expect(launch.page.text == (row.testDescription == "fits" ? "stored" : "at launch"))
    // Whose the variant is shows when the page leaves: an owner takes it along, one that is blank over it leaves it dormant.
    launch.window.restorationChildren = []
    let left = try await launch.saved()
    switch row.restore {
    case "owner", "owner, nothing given", "owner of a new one", "deleted; then as if it were not there":
      #expect(left == "")
    case "blank over it": #expect(left == "|" + (try stored(row)))
    case "blank": #expect(left == (try stored(row)))
    default: throw Unknown(what: row.restore)
    }
  }

  @Test(arguments: rows) func `save after an edit`(_ row: Row) async throws {
    let launch = try Launch(row, variants(row))
    _ = try await launch.coordinator.restore(into: launch.window)
    launch.page.text = "edited"
    #expect(try await launch.saved() == tree(row.save.isEmpty ? "overwritten" : row.save, stored(row)))
  }

  @Test(arguments: rows) func `an object that nobody edits leaves`(_ row: Row) async throws {
    let launch = try Launch(row, variants(row))
    _ = try await launch.coordinator.restore(into: launch.window)
    _ = try await launch.saved()
    launch.window.restorationChildren = []
    #expect(try await launch.saved() == tree(row.leave.isEmpty ? "removed" : row.leave, stored(row)))
  }

  @Test(arguments: rows) func `unlock after an edit`(_ row: Row) async throws {
    let launch = try Launch(row, variants(row), isLocked: true)
    #expect(try await launch.coordinator.restore(into: launch.window).outcome == .locked)
    await launch.coordinator.endTurn()
    launch.page.text = "edited"
    launch.bench.store.lock(false)
    await launch.coordinator.protectedDataDidBecomeAvailable()
    #expect(launch.page.text == "edited")
    #expect(try await launch.saved() == tree(row.unlock, stored(row)))
  }
}
