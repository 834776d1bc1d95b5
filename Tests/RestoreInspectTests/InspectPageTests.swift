import DataProtection
import Foundation
import RestorationArchive
import Testing
import restore_inspect

/// The page for a bug report.
@MainActor @Suite struct InspectPageTests {
  /// The elements of a page that are open at its end, and whether each was closed in its place.
  private static func isWellFormed(_ page: String) -> Bool {
    var open: [Substring] = []
    for match in page.matches(of: #/<(/?)([a-z0-9]+)[^>]*?(/?)>/#) {
      if match.1 == "/" {
        guard open.popLast() == match.2 else { return false }
      } else if match.3.isEmpty {
        open.append(match.2)
      }
    }
    return open.isEmpty && page.hasPrefix("<!DOCTYPE html>")
  }

  @Test func `it has the list, the rows of both generations and areas, and loads nothing`() async throws {
    let real = try await RealDevice()
    let result = try await InspectProcess.run(["export", real.path, "--html", "-"])
    #expect(result.code == 0 && result.error.isEmpty, "\(result.error)")
    let page = result.output
    #expect(Self.isWellFormed(page))
    for word in [
      "<th>application</th>", "generation 2, newest", "generation 1, the one before", "≠ draft", "<svg", "<rect",
      "root/editor", "Keybag", "draft: string, 6 bytes",
    ] {
      #expect(page.contains(word), "\(word)")
    }
    // Of the path only the last name; of the values none.
    for word in ["<script", "http:", "https:", "src=", "href=", "url(", "@import", "second", "first", "/tmp"] {
      #expect(!page.contains(word), "\(word)")
    }
    #expect(page.contains("default-src 'none'"))
    let revealed = try await InspectProcess.run(["export", real.path, "--html", "-", "--reveal"]).output
    #expect(revealed.contains("second") && Self.isWellFormed(revealed))
  }

  @Test func `it is written to a new file for this user alone, and over none`() async throws {
    let real = try await RealDevice()
    let before = try real.contents()
    let file = "\(real.path).html"
    defer { try? FileManager.default.removeItem(atPath: file) }
    let first = try await InspectProcess.run([real.path, "--html", file])
    #expect(first.code == 0 && first.output.isEmpty && first.error.isEmpty, "\(first.error)")
    let page = try String(contentsOfFile: file, encoding: .utf8)
    #expect(Self.isWellFormed(page))
    let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    for path in [file, "\(real.path)/device.key"] {
      let again = try await InspectProcess.run([real.path, "--html", path])
      #expect(again.code == InspectExitCode.unavailable.rawValue && again.error.contains("a file already"))
    }
    #expect(try String(contentsOfFile: file, encoding: .utf8) == page)
    #expect(try real.contents() == before)
  }

  @Test func `it goes with export alone`() async throws {
    let state = try await InspectedState()
    #expect(await state.run("tree", InspectedState.path, "--html", "-").code == .usage)
    #expect(await state.run("export", InspectedState.path, "--html", "-", "--json").code == .usage)
  }

  @Test func `nothing in a name or a value is markup`() async throws {
    let state = try await InspectedState()
    let evil = "<script>alert('x')</script>&\"\u{202E}"
    _ = try await state.addArchive(evil, evil)
    try await state.inProgram { store in
      var writer = RestorationArchive.Writer(
        context: RestorationArchive.Context(
          applicationVersion: "<b>1</b>", timeSaved: Date(timeIntervalSince1970: 1.7e9)))
      let root = try writer.insert(RestorationIdentifier(evil))
      try writer.setRecord(
        of: root, entries: [RestorationArchive.Entry(key: evil, value: evil)],
        attributes: RestorationArchive.Attributes(model: ModelIdentifier(evil)))
      try store.publish(try writer.makeArchive())
    }
    for options in [[], ["--reveal"]] {
      let result = await state.run(["export", InspectedState.path, "--html", "-"] + options)
      #expect(result.code == .success)
      #expect(Self.isWellFormed(result.output))
      #expect(
        !result.output.contains("<script") && !result.output.contains("<b>1") && !result.output.contains("\u{202E}"))
      #expect(result.output.contains("&lt;script&gt;"))
    }
  }

  @Test func `locked or damaged archives have their reason where their rows would be`() async throws {
    let state = try await InspectedState(passcode: "1234")
    let locked = await state.run("export", InspectedState.path, "--html", "-")
    #expect(locked.code == .locked && locked.output.contains("main / main / archive"))
    #expect(locked.output.contains("--passcode-prompt") && Self.isWellFormed(locked.output))
    let open = await state.run("export", InspectedState.path, "--html", "-", passcode: "1234")
    #expect(open.code == .success && open.output.contains("editor") && !open.output.contains("a secret draft"))
    // The model's identifier comes from the user's data.
    #expect(!open.output.contains("note-7") && open.output.contains("of 6 bytes"))
    try state.edit(try state.newest) { $0[$0.count - 20] ^= 1 }
    let fallen = await state.run("export", InspectedState.path, "--html", "-", passcode: "1234")
    #expect(fallen.code == .damaged && fallen.output.contains("in place of the newest"))
  }

  @Test func `a thousand rows in a deep tree have their areas in those of their parents`() async throws {
    let state = try await InspectedState()
    try await state.inProgram { store in
      var writer = RestorationArchive.Writer(
        context: RestorationArchive.Context(timeSaved: Date(timeIntervalSince1970: 1.7e9)))
      var parent: NodeID?
      for index in 0..<1000 {
        let node = try writer.insert(RestorationIdentifier("n\(index)"), parent: index % 10 == 0 ? parent : nil)
        if index % 10 == 0 { parent = node }
        try writer.setRecord(
          of: node, entries: [RestorationArchive.Entry(key: "x", value: String(repeating: "x", count: index))],
          attributes: RestorationArchive.Attributes())
      }
      try store.publish(try writer.makeArchive())
    }
    let page = await state.run("export", InspectedState.path, "--html", "-").output
    #expect(Self.isWellFormed(page))
    let areas = page.matches(of: #/<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"/#).map {
      (x: Double($0.1)!, y: Double($0.2)!, width: Double($0.3)!, height: Double($0.4)!)
    }
    #expect(areas.count > 100)
    #expect(
      areas.allSatisfy { $0.width > 0 && $0.height > 0 && $0.x + $0.width <= 1000.2 && $0.y + $0.height <= 420.2 })
  }
}
