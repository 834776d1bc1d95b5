import Foundation
import SeededRandom

extension SplitMix64 {
  /// A number from zero to a bound.
  mutating func upTo(_ bound: Int) -> Int { Int(next() % UInt64(bound + 1)) }
}

/// A type of which random values can be made.
protocol Generated: Codable, Equatable {
  static func make(_ random: inout SplitMix64) -> Self
}

extension FixedWidthInteger where Self: Generated {
  static func make(_ random: inout SplitMix64) -> Self {
    switch random.upTo(5) {
    case 0: .max
    case 1: .min
    case 2: Self(truncatingIfNeeded: random.upTo(255))
    default: Self(truncatingIfNeeded: random.next() >> UInt64(random.upTo(63)))
    }
  }
}
extension Int: Generated {}
extension Int8: Generated {}
extension Int16: Generated {}
extension Int32: Generated {}
extension Int64: Generated {}
extension UInt: Generated {}
extension UInt8: Generated {}
extension UInt16: Generated {}
extension UInt32: Generated {}
extension UInt64: Generated {}
extension Bool: Generated {
  static func make(_ random: inout SplitMix64) -> Bool { random.upTo(1) == 1 }
}
extension Double: Generated {
  static func make(_ random: inout SplitMix64) -> Double {
    switch random.upTo(4) {
    case 0: Double(random.upTo(1000))
    case 1: -Double(random.upTo(1000)) / 8
    case 2: .leastNonzeroMagnitude
    case 3: .greatestFiniteMagnitude
    default: Double.random(in: -1e9...1e9, using: &random)
    }
  }
}
extension Float: Generated {
  static func make(_ random: inout SplitMix64) -> Float { Float.random(in: -1e6...1e6, using: &random) }
}
extension String: Generated {
  static func make(_ random: inout SplitMix64) -> String {
    let letters: [Character] = ["a", "b", "\0", "é", "e\u{301}", "漢", "😀", "\"", "\\", "\n", "z", "/"]
    return String(
      (0..<random.upTo(random.upTo(9) == 0 ? 300 : 20)).map { _ in letters[random.upTo(letters.count - 1)] })
  }
}
extension Data: Generated {
  static func make(_ random: inout SplitMix64) -> Data {
    Data((0..<random.upTo(300)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
  }
}
extension Date: Generated {
  static func make(_ random: inout SplitMix64) -> Date {
    Date(timeIntervalSinceReferenceDate: Double(random.upTo(1 << 40)) / 1024 - 1e8)
  }
}
extension UUID: Generated {
  static func make(_ random: inout SplitMix64) -> UUID {
    var bytes: [UInt8] = []
    for _ in 0..<16 { bytes.append(UInt8(truncatingIfNeeded: random.next())) }
    return unsafe bytes.withUnsafeBytes { unsafe UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}
extension URL: Generated {
  static func make(_ random: inout SplitMix64) -> URL {
    URL(string: "https://example.com/\(random.upTo(99))?q=\(random.upTo(9))#part")!
  }
}
extension Decimal: Generated {
  static func make(_ random: inout SplitMix64) -> Decimal {
    Decimal(string: "\(random.upTo(1) == 0 ? "-" : "")\(random.next()).\(random.upTo(999_999))")!
  }
}
extension Optional: Generated where Wrapped: Generated {
  static func make(_ random: inout SplitMix64) -> Wrapped? { random.upTo(2) == 0 ? nil : Wrapped.make(&random) }
}
extension Array: Generated where Element: Generated {
  static func make(_ random: inout SplitMix64) -> [Element] { (0..<random.upTo(6)).map { _ in .make(&random) } }
}
extension Set: Generated where Element: Generated {
  static func make(_ random: inout SplitMix64) -> Set<Element> {
    Set((0..<random.upTo(40)).map { _ in Element.make(&random) })
  }
}
extension Dictionary: Generated where Key: Generated, Value: Generated {
  static func make(_ random: inout SplitMix64) -> [Key: Value] {
    Dictionary((0..<random.upTo(40)).map { _ in (Key.make(&random), Value.make(&random)) }) { $1 }
  }
}

enum Colour: String, Codable, CaseIterable, Hashable, Generated {
  case red, green = "GREEN", blue = ""
  static func make(_ random: inout SplitMix64) -> Colour { allCases[random.upTo(2)] }
}
enum Level: Int8, Codable, Hashable, CaseIterable, Generated {
  case low = -100, high = 100
  static func make(_ random: inout SplitMix64) -> Level { allCases[random.upTo(1)] }
}
struct Point: Codable, Hashable, Generated {
  var x: Double
  var y: Double
  static func make(_ random: inout SplitMix64) -> Point { Point(x: .make(&random), y: .make(&random)) }
}
struct Empty: Codable, Hashable, Generated {
  static func make(_ random: inout SplitMix64) -> Empty { Empty() }
}
struct Wide: Codable, Equatable, Generated {
  var a: Int8?, b: UInt64?, c: Double?, d: Float?, e: Bool?, f: String?, g: Data?, h: Date?, i: UUID?, j: [Int]?
  var k: Point?, l: Colour?, m: [String: Int]?, n: UInt16?, o: Set<String>?, p: Int?, q: [Point]?, r: URL?
  static func make(_ random: inout SplitMix64) -> Wide {
    Wide(
      a: .make(&random), b: .make(&random), c: .make(&random), d: .make(&random), e: .make(&random),
      f: .make(&random), g: .make(&random), h: .make(&random), i: .make(&random), j: .make(&random),
      k: .make(&random), l: .make(&random), m: .make(&random), n: .make(&random), o: .make(&random),
      p: .make(&random), q: .make(&random), r: .make(&random))
  }
}
indirect enum Expression: Codable, Hashable, Generated {
  case number(Int)
  case sum(Expression, Expression)
  case call(name: String, arguments: [Expression])
  case nothing
  static func make(_ random: inout SplitMix64) -> Expression { make(&random, 3) }
  private static func make(_ random: inout SplitMix64, _ depth: Int) -> Expression {
    switch depth == 0 ? 0 : random.upTo(3) {
    case 0: .number(.make(&random))
    case 1: .sum(make(&random, depth - 1), make(&random, depth - 1))
    case 2:
      .call(name: .make(&random), arguments: (0..<random.upTo(2)).map { _ in make(&random, depth - 1) })
    default: .nothing
    }
  }
}
struct Tree: Codable, Equatable, Generated {
  var label: String
  var children: [Tree]
  var byName: [String: Tree]
  static func make(_ random: inout SplitMix64) -> Tree { make(&random, 3) }
  private static func make(_ random: inout SplitMix64, _ depth: Int) -> Tree {
    let count = depth == 0 ? 0 : random.upTo(2)
    return Tree(
      label: .make(&random), children: (0..<count).map { _ in make(&random, depth - 1) },
      byName: Dictionary((0..<count).map { ("\($0)", make(&random, depth - 1)) }) { $1 })
  }
}
struct Box<Content: Generated>: Codable, Equatable, Generated {
  var content: Content
  static func make(_ random: inout SplitMix64) -> Box { Box(content: .make(&random)) }
}
struct Transparent<Content: Generated & Hashable>: Codable, Hashable, Generated {
  var content: Content
  init(content: Content) { self.content = content }
  init(from decoder: any Decoder) throws {
    content = try decoder.singleValueContainer().decode(Content.self)
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(content)
  }
  static func make(_ random: inout SplitMix64) -> Transparent { Transparent(content: .make(&random)) }
}
