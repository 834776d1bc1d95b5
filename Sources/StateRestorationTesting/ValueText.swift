import FoundationShim
import StateRestoration

/// Any value as one line of text that is the same for equal values, in any process.
///
/// It reads the value itself, not what a coder makes of it, so that a key that is neither written nor read shows.
enum ValueText {
  /// The text of a value; `nil` for values without a comparison: closures, and objects that are not preserved.
  @MainActor static func text(of value: Any, depth: Int = 0) -> String? {
    if depth > 32 { return "…" }
    return scalar(value) ?? structured(value, depth)
  }

  /// The fields of a struct that is one value of several; `nil` for everything else.
  @MainActor static func fields(of value: Any) -> [(name: String, value: Any)]? {
    let mirror = Mirror(reflecting: value)
    if mirror.displayStyle == .optional {
      return mirror.children.first.flatMap { fields(of: $0.value) }
    }
    guard mirror.displayStyle == .struct, !mirror.children.isEmpty, scalar(value) == nil else { return nil }
    // An identifier or a tag: a struct of one value is that value.
    if mirror.children.count == 1, mirror.children.first?.label == "rawValue" { return nil }
    return mirror.children.map { ($0.label ?? "", $0.value) }
  }

  @MainActor private static func scalar(_ value: Any) -> String? {
    switch value {
    case let value as String: return quoted(value)
    case let value as Bool: return value ? "true" : "false"
    case let value as Double: return number(value, value.bitPattern)
    case let value as Float: return number(Double(value), UInt64(value.bitPattern))
    case let value as any BinaryInteger: return "\(value)"
    case let value as Date: return "Date(\(value.timeIntervalSinceReferenceDate))"
    case let value as Data: return "Data(\(value.map { hex($0) }.joined()))"
    case let value as UUID: return "UUID(\(value.uuidString))"
    case let value as URL: return "URL(\(value.absoluteString))"
    case let value as any RestorableController:
      return "→ \(value.restoration.identifier?.description ?? "an excluded \(type(of: value))")"
    case let value as any RestorableView:
      return "→ \(value.restoration.identifier?.description ?? "an excluded \(type(of: value))")"
    default: return nil
    }
  }

  @MainActor private static func structured(_ value: Any, _ depth: Int) -> String? {
    let mirror = Mirror(reflecting: value)
    let children = { mirror.children.compactMap { text(of: $0.value, depth: depth + 1) } }
    switch mirror.displayStyle {
    case .optional: return mirror.children.first.map { text(of: $0.value, depth: depth + 1) } ?? "nil"
    case .collection: return "[\(children().joined(separator: ", "))]"
    case .set: return "[\(children().sorted().joined(separator: ", "))]"
    case .dictionary:
      let pairs = mirror.children.compactMap { pair -> String? in
        let parts = Mirror(reflecting: pair.value).children.compactMap { text(of: $0.value, depth: depth + 1) }
        return parts.count == 2 ? "\(parts[0]): \(parts[1])" : nil
      }
      return "[\(pairs.sorted().joined(separator: ", "))]"
    case .enum:
      guard let payload = mirror.children.first else { return ".\(value)" }
      return ".\(payload.label ?? "")(\(text(of: payload.value, depth: depth + 1) ?? "…"))"
    case .struct, .tuple:
      let fields = mirror.children.compactMap { child -> String? in
        guard let value = text(of: child.value, depth: depth + 1) else { return nil }
        return child.label.map { "\($0): \(value)" } ?? value
      }
      // A struct without fields to look at may still be a value: a wrapped number of a system module.
      if mirror.children.isEmpty, mirror.displayStyle == .struct { return "\(value)" }
      return "(\(fields.joined(separator: ", ")))"
    case .class, nil: return nil
    default: return nil
    }
  }

  private static func number(_ value: Double, _ bits: UInt64) -> String {
    value.isNaN ? "NaN(\(String(bits, radix: 16)))" : "\(value)"
  }

  private static func hex(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16)
    return digits.count == 1 ? "0" + digits : digits
  }

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case "\n": quoted += "\\n"
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
