/// The objects that were there before the state was restored once more, and what they had when they were first refused what
/// is stored.
@MainActor struct Acquaintances {
  private var nodes: [ObjectIdentifier: TrackedNode] = [:]
  private var claims: [ObjectIdentifier: CaptureTree.Claim] = [:]
  private var refusedBelow: [ObjectIdentifier: CaptureTree.Refused] = [:]
  /// Those that turned up since the last restoration, and that no capture has met.
  private var newcomers: [ObjectIdentifier: LiveObjects.Living] = [:]

  /// Takes those of a tree, and of a hierarchy; those that neither had met since it was last asked stay known.
  mutating func add(_ tree: CaptureTree, below hierarchy: [any RestorableObject]) {
    if nodes.isEmpty { nodes = tree.byObject } else { nodes.merge(tree.byObject) { $1 } }
    if claims.isEmpty { claims = tree.claims } else { claims.merge(tree.claims) { $1 } }
    refusedBelow.merge(tree.refusedBelow) { $1 }
    for object in hierarchy where !knows(object) {
      newcomers[ObjectIdentifier(object)] = .init(object: object)
    }
  }

  /// Whether an object was there before.
  func knows(_ object: any RestorableObject) -> Bool {
    let identity = ObjectIdentifier(object)
    return claims[identity]?.object === object || refusedBelow[identity]?.object === object
      || nodes[identity]?.object === object || newcomers[identity]?.object === object
  }

  /// What an object had when it was first refused what is stored; nil when it has had state of its own.
  func fingerprintWhenRefused(_ object: any RestorableObject) -> [UInt8]? {
    let identity = ObjectIdentifier(object)
    if let claim = claims[identity], claim.object === object {
      return claim.keepsStored ? claim.fingerprintWhenRefused : nil
    }
    if let refused = refusedBelow[identity], refused.object === object { return refused.fingerprint }
    if let node = nodes[identity], node.object === object {
      return node.keepsStored ? node.fingerprintWhenRefused : nil
    }
    return nil
  }
}
