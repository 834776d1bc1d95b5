import StateRestoration
import Testing

/// A type that isn't Codable, such as a toolkit's own.
struct Colour: Sendable, Equatable {
  var red, green, blue: Double
}

extension RestorationSaver where Value == Colour, Stored == [Double] {
  static let colour = RestorationSaver(
    preserve: { [$0.red, $0.green, $0.blue] },
    restore: { $0.count == 3 ? Colour(red: $0[0], green: $0[1], blue: $0[2]) : nil })
}

/// A pair of functions stands in for a missing Codable conformance.
@MainActor struct RestorationSaverTests {
  final class Painter: RestorableController, CodingObject {
    let restoration: RestorationIdentity = "painter"
    @Restored("ink", using: .colour) var ink = Colour(red: 0, green: 0, blue: 0)
    var paper = Colour(red: 1, green: 1, blue: 1)

    func encodeRestorableState(with coder: RestorationEncoder) {
      coder.encode(paper, forKey: "paper", using: .colour)
    }

    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      paper = try coder.decodeIfPresent(forKey: "paper", using: .colour) ?? paper
    }
  }

  @Test func `a value that isn't Codable comes back through its saver`() throws {
    let old = Painter()
    old.ink = Colour(red: 0.5, green: 0, blue: 0)
    old.paper = Colour(red: 0, green: 0, blue: 0.25)
    let new = Painter()
    try transfer(from: old, to: new)
    #expect(new.ink == old.ink)
    #expect(new.paper == old.paper)
  }

  @Test func `what a saver makes nothing of is unreadable, not nil`() throws {
    let new = Painter()
    let error = #expect(throws: RestorationError.self) {
      try TrackedObject(new).apply(decoder(["ink": [1.0]], version: 1))
    }
    #expect(error?.code == .unreadable)
    #expect(error?.key == "ink")
  }
}
