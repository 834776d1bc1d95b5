public import FoundationShim
public import StateRestoration
public import Testing

/// What a program preserved once, kept in its repository: today's version must still restore it.
///
/// `assertGoldenArchive` records and compares one by itself. Record one by name, with ``record(_:after:)``, to write its
/// ``archive`` to a file for `RestorationCoordinator.check`; once per released version, and never again. The archive is not
/// sealed: it holds only what the test put in.
public struct GoldenArchive: Sendable, Hashable, Codable {
  /// The archive, as it was before it was sealed.
  public let archive: Data

  /// The values that were preserved, by path and property.
  package let values: [String: [String: String]]

  /// Reads a recorded file.
  package init(_ data: Data) throws(HarnessError) {
    do {
      self = try JSONDecoder().decode(GoldenArchive.self, from: data)
    } catch {
      throw HarnessError("It is no golden archive: \(error)")
    }
  }

  private init(archive: Data, values: HierarchyValues) {
    self.archive = archive
    self.values = Self.plain(values)
  }

  /// The bytes of the file: JSON, the same for the same content.
  package var data: Data {
    get throws(HarnessError) {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      do { return try encoder.encode(self) } catch { throw HarnessError("It can't be written: \(error)") }
    }
  }

  /// Records what a hierarchy preserves.
  ///
  /// Two recordings of the same state are the same: both are made at the first moment of a device's clock.
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
    return GoldenArchive(archive: try await harness.readWhole(), values: values)
  }

  /// Restores the archive into today's hierarchy and compares the values.
  ///
  /// An age limit of the program doesn't count: on the device's clock no time has passed since the recording.
  ///
  /// - Returns: The differences, each also recorded as an issue at the caller's line; empty when all is well.
  @discardableResult
  @MainActor package func assertStillRestores<Root: RestorableController>(
    in subject: RestorationSubject<Root>, sourceLocation: SourceLocation = #_sourceLocation
  ) async -> [String] {
    do {
      let harness = try await launch(subject)
      guard let application = harness.application else { return [] }
      var found = unread(harness.report, application.root, subject)
      let now = Self.plain(subject.values(of: application.root))
      for (path, before) in values.sorted(by: { $0.key < $1.key }) {
        guard let after = now[path] else {
          found.append("\(path): did not come back")
          continue
        }
        // Properties that are new since the recording are the program's own business.
        for (name, text) in before.sorted(by: { $0.key < $1.key }) where !subject.ignores(name) && after[name] != text {
          found.append("\(path).\(name): \(text) → \(after[name] ?? "nothing")")
        }
      }
      for text in found { TestIssues.record(text, at: sourceLocation) }
      if !found.isEmpty { await attachEvidence(of: harness, at: sourceLocation) }
      return found
    } catch {
      TestIssues.record("\(error)", at: sourceLocation)
      return ["\(error)"]
    }
  }

  /// Restores the archive into today's hierarchy and lets the test judge it; the recorded values are not compared.
  ///
  /// For a version that moved or renamed values, which the recorded ones can't follow.
  ///
  /// - Returns: What kept the archive from being restored, or the check from ending; empty when all is well.
  @discardableResult
  @MainActor package func assertStillRestores<Root: RestorableController>(
    in subject: RestorationSubject<Root>, expecting check: @MainActor (Root) async throws -> Void,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async -> [String] {
    do {
      let harness = try await launch(subject)
      guard let application = harness.application else { return [] }
      let root = application.root
      // What the test itself reads of a scope is read; it may also replace what was stored.
      let before = unread(harness.report, nil, subject) + unknown(harness.report)
      for text in before { TestIssues.record(text, at: sourceLocation) }
      try await check(root)
      let after = unreadMembers(of: root, subject).filter { !before.contains($0) }
      for text in after { TestIssues.record(text, at: sourceLocation) }
      return before + after
    } catch {
      TestIssues.record("\(error)", at: sourceLocation)
      return ["\(error)"]
    }
  }

  /// The stored values that nobody reads today, so that a migration was forgotten; those that the test ignores don't count.
  @MainActor private func unread<Root>(
    _ report: RestorationReport?, _ root: Root?, _ subject: RestorationSubject<Root>
  ) -> [String] {
    let reported = (report?.nodes ?? []).flatMap { node in
      node.remarks.flatMap { remark -> [String] in
        guard case .unreadKeys(let keys) = remark else { return [] }
        return keys.compactMap { unreadText($0, node.path, subject) }
      }
    }
    let members = root.map { unreadMembers(of: $0, subject) } ?? []
    return reported + members.filter { !reported.contains($0) }
  }

  @MainActor private func unreadText<Root>(
    _ key: String, _ path: RestorationPath, _ subject: RestorationSubject<Root>
  ) -> String? {
    subject.ignores(key.split(separator: ".").last.map(String.init) ?? key)
      ? nil : "\(path): nobody reads “\(key)” any more: migrate it, or ignore \(key)"
  }

  /// The same for the values of scopes, which are read when somebody asks: those that nobody has declared or asked for, and
  /// those that today's program can't read, or reads without some of their fields.
  @MainActor private func unreadMembers<Root: RestorableController>(
    of root: Root, _ subject: RestorationSubject<Root>
  ) -> [String] {
    var found: [String] = []
    var stack: [(controller: any RestorableController, path: RestorationPath)] = [(root, [])]
    while let (controller, parent) = stack.popLast() {
      guard let name = controller.restoration.identifier else { continue }
      let path = parent.appending(name)
      stack += controller.listedChildren.reversed().map { ($0, path) }
      guard let member = controller as? any ScopeMember else { continue }
      do throws(RestorationError) {
        for field in try member.unread() {
          found += [unreadText(field.isEmpty ? name.rawValue : field, field.isEmpty ? parent : path, subject)]
            .compactMap(\.self)
        }
      } catch {
        if !subject.ignores(name.rawValue) { found.append("\(path): \(error.message)") }
      }
    }
    return found
  }

  /// The classes that the program does not know any more, whose state would be kept for ever.
  @MainActor private func unknown(_ report: RestorationReport?) -> [String] {
    (report?.nodes ?? []).compactMap { node in
      guard case .unknownClass(let tag)? = node.notRestoredReason else { return nil }
      return "\(node.path): the class “\(tag)” is not registered any more: register its new tag with formerly:, or "
        + "retire it"
    }
  }

  /// Launches today's program on a device that has the archive.
  @MainActor private func launch<Root>(
    _ subject: RestorationSubject<Root>
  ) async throws -> RestorationHarness<HierarchyApplication<Root>> {
    let harness = subject.harness(on: try await SimulatedDevice())
    try await harness.publish(archive)
    try await harness.launch { subject.application() }
    guard harness.report?.outcome == .restored else {
      let outcome =
        harness.report.map { "\($0.outcome)" } ?? "\(harness.restorable?.restoreError, default: "no report")"
      throw HarnessError("The golden archive can't be restored at all: \(outcome).")
    }
    return harness
  }

  private static func plain(_ values: HierarchyValues) -> [String: [String: String]] {
    Dictionary(
      values.properties.map { ($0.key.description, $0.value) }, uniquingKeysWith: { first, _ in first })
  }
}

/// Checks that today's program restores what an older version preserved, kept in a file.
///
/// It fails where a value differs, an object is missing, or a stored key has no reader any more.
///
/// When there is no file yet, the function makes it: it records the state after `change`, writes the file, and the test fails
/// once, to remind you to commit the file. Never record it again. Keep one file for every released version.
///
/// ```swift
/// @Test func `today's program restores what 1.0 preserved`() async {
///   await assertGoldenArchive(at: fixtures.appending(path: "1.0.json"), of: RestorationSubject { NotesWindow() }) {
///     $0.editor.draft = "hello"
///   }
/// }
/// ```
///
/// - Parameters:
///   - url: The file.
///   - subject: How the hierarchy is made.
///   - change: Makes the state to record; it runs only when there is no file yet.
///   - sourceLocation: The line of the test at which failures are shown.
/// - Returns: The differences between the recorded and the restored values; each also fails the test. Empty when all is
///   well.
@discardableResult
@MainActor public func assertGoldenArchive<Root: RestorableController>(
  at url: URL, of subject: RestorationSubject<Root>, after change: @MainActor (Root) async throws -> Void,
  sourceLocation: SourceLocation = #_sourceLocation
) async -> [String] {
  guard let golden = await goldenArchive(at: url, of: subject, after: change, sourceLocation) else { return [] }
  return await golden.assertStillRestores(in: subject, sourceLocation: sourceLocation)
}

/// Checks that today's program restores what an older version preserved, with expectations of the test's own.
///
/// Use it when a newer version moved or renamed values: the recorded values are not compared then. A stored key without a reader
/// fails here, too: ignore by name what was dropped on purpose.
///
/// ```swift
/// await assertGoldenArchive(at: url, of: RestorationSubject { NotesWindow() }, after: { $0.editor.text = "hello" }) {
///   #expect($0.editor.draft == "hello")
/// }
/// ```
///
/// - Parameters:
///   - url: The file.
///   - subject: How the hierarchy is made.
///   - change: Makes the state to record; it runs only when there is no file yet.
///   - check: Gets the restored root.
///   - sourceLocation: The line of the test at which failures are shown.
/// - Returns: What kept the archive from being restored; each also fails the test. Empty when all is well.
@discardableResult
@MainActor public func assertGoldenArchive<Root: RestorableController>(
  at url: URL, of subject: RestorationSubject<Root>, after change: @MainActor (Root) async throws -> Void = { _ in },
  expecting check: @MainActor (Root) async throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
) async -> [String] {
  guard let golden = await goldenArchive(at: url, of: subject, after: change, sourceLocation) else { return [] }
  return await golden.assertStillRestores(in: subject, expecting: check, sourceLocation: sourceLocation)
}

/// Reads the file; where there is none, records one and fails the test once.
@MainActor private func goldenArchive<Root: RestorableController>(
  at url: URL, of subject: RestorationSubject<Root>, after change: @MainActor (Root) async throws -> Void,
  _ sourceLocation: SourceLocation
) async -> GoldenArchive? {
  do {
    if FileManager.default.fileExists(atPath: url.path) { return try GoldenArchive(Data(contentsOf: url)) }
    let golden = try await GoldenArchive.record(subject, after: change)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try golden.data.write(to: url)
    TestIssues.record(
      "There was no golden archive; one was recorded in \(url.path). Commit it, and never record it again.",
      at: sourceLocation)
  } catch {
    TestIssues.record("The golden archive \(url.path): \(error)", at: sourceLocation)
  }
  return nil
}
