public import FoundationEssentials
import RestorationArchive
public import StateRestoration
public import Testing

/// What a program preserved once, kept in its repository: today's version must still restore it.
///
/// Record it once per released version, with ``record(_:after:)``, and write `data` to a fixture. Never record it again.
/// The file is not sealed: it holds only what the test put in.
public struct GoldenArchive: Sendable, Hashable, Codable {
  /// The archive, as it was before it was sealed.
  public let archive: Data

  /// The values that were preserved, by path and property.
  public let values: [String: [String: String]]

  /// Reads a recorded file.
  public init(_ data: Data) throws { self = try JSONDecoder().decode(GoldenArchive.self, from: data) }

  private init(archive: Data, values: HierarchyValues) {
    self.archive = archive
    self.values = Self.plain(values)
  }

  /// The bytes of the file: JSON, the same for the same content.
  public var data: Data {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      return try encoder.encode(self)
    }
  }

  /// Records what a hierarchy preserves.
  @MainActor public static func record<Root: RestorableController>(
    _ subject: RestorationSubject<Root>, after change: @MainActor (Root) async throws -> Void
  ) async throws -> GoldenArchive {
    let device = try await SimulatedDevice()
    let harness = subject.harness(on: device)
    let application = try await harness.launch { subject.application() }
    try await change(application.root)
    let values = subject.values(of: application.root)
    try await harness.enterBackground()
    try requirePreserved(harness)
    let preserved = try await harness.openPreserved()
    let reader = try RestorationArchive.Reader(
      base: RestorationArchive.Source(preserved.base), deltas: preserved.deltas)
    var writer = try RestorationArchive.Writer(continuing: reader)
    return GoldenArchive(
      archive: preserved.deltas.isEmpty ? preserved.base : try writer.makeArchive(), values: values)
  }

  /// Restores the archive into today's hierarchy and compares the values.
  ///
  /// - Returns: The differences, each also recorded as an issue at the caller's line; empty when all is well.
  @discardableResult
  @MainActor public func assertStillRestores<Root: RestorableController>(
    in subject: RestorationSubject<Root>, sourceLocation: SourceLocation = #_sourceLocation
  ) async -> [String] {
    do {
      let device = try await SimulatedDevice()
      let harness = subject.harness(on: device)
      try await harness.publish(archive)
      let application = try await harness.launch { subject.application() }
      var found: [String] = []
      let now = Self.plain(subject.values(of: application.root))
      for (path, before) in values.sorted(by: { $0.key < $1.key }) {
        guard let after = now[path] else {
          found.append("\(path): did not come back")
          continue
        }
        // Properties that are new since the recording are the program's own business.
        for (name, text) in before.sorted(by: { $0.key < $1.key }) where after[name] != text {
          found.append("\(path).\(name): \(text) → \(after[name] ?? "nothing")")
        }
      }
      for text in found { Issue.record("\(text)", sourceLocation: sourceLocation) }
      return found
    } catch {
      Issue.record("\(error)", sourceLocation: sourceLocation)
      return ["\(error)"]
    }
  }

  private static func plain(_ values: HierarchyValues) -> [String: [String: String]] {
    Dictionary(
      values.properties.map { ($0.key.description, $0.value) }, uniquingKeysWith: { first, _ in first })
  }
}
