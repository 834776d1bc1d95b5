import Foundation

/// The typical workload: twelve fields of the kinds that controllers have.
enum Typical: Workload {
  static let name = "typical"

  /// How a list is ordered.
  enum Order: String, Codable, Sendable {
    case name, date, size, kind
  }

  /// A rectangle.
  struct Frame: Codable, Equatable, Sendable {
    var x: Double
    var y: Double
    var width: Double
    var height: Double
  }

  /// A controller's state.
  struct State: Codable, Equatable, Sendable {
    var selection: Int
    var scrollX: Double
    var scrollY: Double
    var title: String
    var isEditing: Bool
    var lastOpened: Date?
    var expanded: [Int]
    var recent: [String]
    var order: Order
    var frame: Frame
    var counts: [String: Int]
    var thumbnail: Data
    var document: UUID?
  }

  static func make(_ random: inout SplitMix) -> State {
    State(
      selection: random.below(100_000), scrollX: Double(random.below(4_000)) / 3,
      scrollY: Double(random.below(4_000)) / 7,
      title: random.text(40, beyondASCII: true), isEditing: random.below(2) == 0,
      lastOpened: random.below(3) == 0
        ? nil : Date(timeIntervalSinceReferenceDate: Double(random.below(1 << 30)) + 0.125),
      expanded: (0..<8).map { _ in random.below(5_000) }, recent: (0..<3).map { _ in random.text(8 + random.below(8)) },
      order: [.name, .date, .size, .kind][random.below(4)],
      frame: Frame(
        x: Double(random.below(2_000)) / 2, y: Double(random.below(2_000)) / 2, width: Double(random.below(3_000)) / 3,
        height: Double(random.below(3_000)) / 3),
      counts: Dictionary(uniqueKeysWithValues: (0..<4).map { ("key\($0)-\(random.below(20))", random.below(1_000)) }),
      thumbnail: Data((0..<64).map { _ in UInt8(random.below(256)) }),
      document: random.below(4) == 0
        ? nil
        : UUID(
          uuid: (
            1, 2, 3, 4, 5, 6, 7, 8, UInt8(random.below(256)), UInt8(random.below(256)), UInt8(random.below(256)),
            UInt8(random.below(256)), UInt8(random.below(256)), UInt8(random.below(256)), UInt8(random.below(256)),
            UInt8(random.below(256))
          )))
  }
}
