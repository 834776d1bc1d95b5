import Foundation
import Testing

@testable import restore_demo

/// The moving pictures of the demo show what the program shows; `Docs/make-demo-svg` makes them.
struct PictureTests {
  /// The text of a frame of a picture in Docs, a line a row.
  private static func picture(_ frame: String, of name: String) throws -> [String] {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let svg = try String(contentsOf: root.appendingPathComponent("Docs/\(name).svg"), encoding: .utf8)
    let group = try #require(svg.firstRange(of: "<g id=\"\(frame)\">"), "there is no frame \(frame)")
    let end = try #require(svg[group.upperBound...].firstRange(of: "</g>"))
    var rows: [Int: [(column: Int, text: String)]] = [:]
    for match in svg[group.upperBound..<end.lowerBound].matches(
      of: #/<text x="([\d.]+)" y="(\d+)"[^>]*>([^<]*)<\/text>/#)
    {
      let (x, y) = (try #require(Double(match.1)), try #require(Int(match.2)))
      // A cell is 8.4 wide and 18 high, and the first one is at 12, 25.
      rows[(y - 25) / 18, default: []].append((Int(((x - 12) / 8.4).rounded()), String(match.3)))
    }
    return (0...(rows.keys.max() ?? 0)).map { row in
      (rows[row] ?? []).sorted { $0.column < $1.column }.reduce(into: "") { line, part in
        line += String(repeating: " ", count: max(part.column - DisplayWidth.of(line), 0)) + part.text
      }
    }
  }

  @Test func `the pictures are what the program shows`() async throws {
    let harness = try DemoHarness(notes: [
      "Plans/Trip.md": """
      # Trip to Seoul

      Bring: 한국 지도, passport, umbrella.

      - Day 1: Gyeongbokgung, then tea.
      - Day 2: 북한산 by train.

      """
    ])
    let run = try await harness.run([
      "resize 18 104", "key enter", "key enter", "key down", "key down", "key end", "text  And a torch.",
      "wait preserved", "screen", "kill",
    ])
    #expect(run.status == -9, "\(run.error)")
    try Self.compare(run.output, with: "typed", of: "demo")
    let second = try await harness.run(["resize 18 104", "screen"])
    #expect(second.status == 0, "\(second.error)")
    try Self.compare(second.output, with: "back", of: "demo")

    _ = try await harness.run([
      "key f4", "key enter", "text 1234", "key enter", "text 1234", "key enter", "key f2", "wait preserved", "kill",
    ])
    for (steps, frame) in [
      ([], "locked"), (["text 1234"], "asked"), (["text 1234", "key enter"], "unlocked"),
    ] {
      let run = try await harness.run(["resize 18 104"] + steps + ["screen", "kill"])
      try Self.compare(run.output, with: frame, of: "demo-locked")
    }
  }

  private static func compare(_ output: String, with frame: String, of name: String) throws {
    let screen = output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let picture = try picture(frame, of: name)
    #expect(picture.count == 18)
    // The numbers of a receipt are its own.
    for (row, line) in picture.enumerated() where !line.hasPrefix("save 1 · generation ") {
      #expect(row < screen.count && screen[row] == line, "row \(row) of \(frame) of \(name)")
    }
  }
}
