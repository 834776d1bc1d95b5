public import Observation

extension RestorationArchive.Role {
  /// The first column of a ``SplitController``.
  package static let primary: RestoredChild.Role = "primary"
  /// The second column of a ``SplitController``.
  package static let secondary: RestoredChild.Role = "secondary"
}

/// Two columns with a divider that the user moves.
///
/// The divider is preserved as a fraction of the whole width, so it means the same on a screen of another size.
@Observable @MainActor open class SplitController: ContainerController {
  /// The first column.
  public var primary: (any RestorableController)?

  /// The second column.
  public var secondary: (any RestorableController)?

  /// The first column's share of the width, from 0 to 1; assigning keeps it in the range that the initializer was given.
  public var dividerPosition: Double {
    get { position }
    set { position = Self.clamp(newValue, to: dividerRange, or: position) }
  }

  /// How far the divider can be moved.
  package let dividerRange: ClosedRange<Double>

  private var position: Double

  /// Makes two columns.
  ///
  /// - Parameters:
  ///   - restoration: What it is called among its siblings, and which class remakes it.
  ///   - primary: The first column.
  ///   - secondary: The second column.
  ///   - dividerPosition: The first column's share of the width.
  ///   - dividerRange: How far the divider can be moved.
  public init(
    _ restoration: RestorationIdentity,
    primary: (any RestorableController)? = nil, secondary: (any RestorableController)? = nil,
    dividerPosition: Double = 0.33, dividerRange: ClosedRange<Double> = 0.1...0.9
  ) {
    self.primary = primary
    self.secondary = secondary
    self.dividerRange = dividerRange
    position = Self.clamp(dividerPosition, to: dividerRange, or: dividerRange.lowerBound)
    super.init(restoration)
  }

  /// The columns that there are.
  override open var containedControllers: [any RestorableController] { [primary, secondary].compactMap { $0 } }

  /// Which column a child is.
  override open func restorationRole(of child: any RestorableController) -> RestoredChild.Role? {
    if child === primary { return .primary }
    if child === secondary { return .secondary }
    return super.restorationRole(of: child)
  }

  /// Preserves the divider.
  override open func encodeRestorableState(with coder: RestorationEncoder) {
    super.encodeRestorableState(with: coder)
    coder.encode(position, forKey: "split.divider")
  }

  /// Moves the divider to where it was.
  override open func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
    try super.decodeRestorableState(with: coder)
    if let stored = try coder.decodeIfPresent(Double.self, forKey: "split.divider") { dividerPosition = stored }
  }

  /// Takes the columns that were restored, those that were there last; one that could not be stays what it was at launch,
  /// unless it came into the other column.
  override open func install(_ children: [RestoredChild]) {
    let replacements = Replacements(of: containedControllers, by: children)
    let first = children.filter { $0.role == .primary }.newest
    let second = children.filter { $0.role == .secondary }.newest
    func staying(_ column: (any RestorableController)?, beside other: (any RestorableController)?)
      -> (any RestorableController)?
    {
      let controller = column.map { replacements[$0] ?? $0 }
      return controller === other ? nil : controller
    }
    (primary, secondary) = (first ?? staying(primary, beside: second), second ?? staying(secondary, beside: first))
  }

  private static func clamp(_ value: Double, to range: ClosedRange<Double>, or other: Double) -> Double {
    value.isNaN ? other : min(max(value, range.lowerBound), range.upperBound)
  }
}
