/// A pair of functions that gives a type which isn't Codable a form that is.
///
/// ```swift
/// extension RestorationSaver where Value == Colour, Stored == [Double] {
///   static let colour = RestorationSaver(
///     preserve: { [$0.red, $0.green, $0.blue] },
///     restore: { $0.count == 3 ? Colour(red: $0[0], green: $0[1], blue: $0[2]) : nil })
/// }
/// ```
public struct RestorationSaver<Value, Stored: Codable & Sendable>: Sendable {
  /// Gives a value's stored form; called on the main actor, so that the value need not be sendable.
  package let preserve: @MainActor @Sendable (Value) -> Stored

  /// Makes the value again; nil or an error means that the stored form makes no sense any more.
  package let restore: @MainActor @Sendable (Stored) throws -> Value?

  /// Makes a saver of its two directions.
  public init(
    preserve: @escaping @MainActor @Sendable (Value) -> Stored,
    restore: @escaping @MainActor @Sendable (Stored) throws -> Value?
  ) {
    self.preserve = preserve
    self.restore = restore
  }
}
