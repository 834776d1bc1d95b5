extension RestorationReport {
  /// What became of one preserved object: who gave it, or why it did not come back, and what it cost.
  public struct Node: Sendable, Hashable, Codable {
    /// The rung of the ladder that gave the object, in the order in which they are asked.
    @nonexhaustive public enum Origin: String, Sendable, Hashable, Codable, CaseIterable {
      /// The restoration class that the state names.
      case restorationClass
      /// The coordinator's delegate.
      case delegate
      /// The object was in the hierarchy already.
      case existing
      /// A registered blueprint.
      case blueprint
      /// The object came after restoring, by ``RestorationCoordinator/restore(_:at:)`` or
      /// ``RestorationRegistry/share(_:as:version:)``, and got its state then.
      case registration
    }

    /// Restored, or not and why.
    @nonexhaustive public enum Result: Sendable, Hashable, Codable {
      /// The object exists and has its state again.
      case restored(Origin)
      /// The state was not given to any object.
      case notRestored(RestorationReport.NotRestoredReason)
    }

    /// What kind of object the node belongs to.
    package enum Kind: String, Sendable, Hashable, Codable {
      /// A controller.
      case controller
      /// A view of a controller.
      case view
      /// A registered shared object.
      case shared
    }

    /// Where the object is, from the root.
    public var path: RestorationPath
    /// What kind of object the node belongs to.
    package var kind = Kind.controller
    /// Restored, or not and why.
    public var result: Result
    /// Size of the node's record in bytes.
    package var byteCount = 0
    /// Things to know about the node, most important first.
    public var remarks: [RestorationReport.Remark] = []

    /// True when the object has its state again.
    public var isRestored: Bool {
      if case .restored = result { true } else { false }
    }

    /// Why the node did not come back; nil when it did.
    public var notRestoredReason: RestorationReport.NotRestoredReason? {
      if case .notRestored(let reason) = result { reason } else { nil }
    }
  }
}

/// The name of it in this module.
package typealias NodeReport = RestorationReport.Node

extension RestorationReport.Node.Origin: CustomStringConvertible {
  /// Who made the object, as a clause.
  public var description: String {
    switch self {
    case .restorationClass: "made by its class"
    case .delegate: "made by the delegate"
    case .existing: "made by the program"
    case .blueprint: "made by a blueprint"
    case .registration: "made later"
    }
  }
}
