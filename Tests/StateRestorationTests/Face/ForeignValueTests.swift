import StateRestoration
import Testing

/// A value of somebody else's type is preserved in a Codable form, below a computed property.
@MainActor struct ForeignValueTests {
  /// A type that isn't Codable, such as a toolkit's own.
  struct Colour: Equatable {
    var red, green, blue: Double
  }

  nonisolated struct StoredColour: Codable, Sendable {
    var red, green, blue: Double
  }

  final class Painter: RestorableController {
    let restoration: RestorationIdentity = "painter"
    @Restored("ink") private var stored = StoredColour(red: 0, green: 0, blue: 0)

    var ink: Colour {
      get { Colour(red: stored.red, green: stored.green, blue: stored.blue) }
      set { stored = StoredColour(red: newValue.red, green: newValue.green, blue: newValue.blue) }
    }
  }

  @Test func `a value that isn't Codable comes back through a computed property`() throws {
    let old = Painter()
    old.ink = Colour(red: 0.5, green: 0, blue: 0)
    let new = Painter()
    try transfer(from: old, to: new)
    #expect(new.ink == old.ink)
  }
}
