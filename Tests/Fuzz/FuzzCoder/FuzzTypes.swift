import Foundation

/// A value without keys that can be missing.
struct Point: Codable, Hashable, Sendable {
  var x: Double
  var y: Double
}

/// Every key may be missing, so that nearly everything decodes.
struct Wide: Codable, Equatable {
  var a: Int8?, b: UInt64?, c: Double?, d: Float?, e: Bool?, f: String?, g: Data?, h: Date?, i: UUID?, j: [Int]?
  var k: Point?, m: [String: Int]?, n: UInt16?, o: Set<String>?, p: Int?, q: [Point]?, r: [String: [String]]?
}

/// The kinds of numbers and of arrays.
struct Scalars: Codable, Equatable {
  var a: Int, b: [Int16], c: [Double], d: [String], e: [Bool?], f: UInt128, g: Int128, h: Float16, i: [Float]
  var j: [Int: Date], k: Decimal?, l: [UUID]
}

/// An enumeration with payloads that holds itself.
indirect enum Expression: Codable, Hashable {
  case number(Int)
  case sum(Expression, Expression)
  case call(name: String, arguments: [Expression])
}

/// A value that is as deep as the bytes say.
struct Tree: Codable, Equatable {
  var label: String
  var children: [Tree]
  var byName: [String: Tree]
}

/// A class with a part in its superclass, which is written through `superEncoder`.
class Base: Codable {
  var name = ""

  init() {}

  static func == (left: Base, right: Base) -> Bool { left.name == right.name }
}

/// The class below it.
final class Derived: Base, Equatable {
  var points: [Point]?

  private enum CodingKeys: CodingKey { case points }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    points = try container.decodeIfPresent([Point].self, forKey: .points)
    try super.init(from: container.superDecoder())
  }

  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(points, forKey: .points)
    try super.encode(to: container.superEncoder())
  }

  static func == (left: Derived, right: Derived) -> Bool { left.name == right.name && left.points == right.points }
}
