import StateRestoration
import StateRestorationTesting
import Synchronization
import Testing

/// Values are decoded once where they are restored, and encoded once where they are saved.
@MainActor @Suite struct CodingCountTests {
  nonisolated struct Counted: Codable, Sendable {
    static let decoded = Mutex(0)
    static let encoded = Mutex(0)

    var text = ""

    init() {}

    enum CodingKeys: CodingKey { case text }

    init(from decoder: any Decoder) throws {
      Self.decoded.withLock { $0 += 1 }
      text = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .text)
    }

    func encode(to encoder: any Encoder) throws {
      Self.encoded.withLock { $0 += 1 }
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(text, forKey: .text)
    }
  }

  @Test func `a class's first value is decoded once, and an unedited one encoded once a save`() async throws {
    let bench = Bench()
    let editor = StoredValue("editor", Counted())
    try await bench.preserve(editor)
    let coordinator = bench.launch()
    _ = try await coordinator.restore(into: editor)
    #expect(Counted.decoded.withLock { $0 } == 1)
    Counted.encoded.withLock { $0 = 0 }
    _ = try await coordinator.preserve(editor)
    // What was met at the end of the restoration is looked at by the next save.
    #expect(Counted.encoded.withLock { $0 } == 1)
  }
}
