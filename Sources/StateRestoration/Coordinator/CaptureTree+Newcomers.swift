import RestorationArchive

/// Objects that have come to a place by themselves where state is stored that nobody asked for: they were not given it.
extension CaptureTree {
  /// Has what is stored stay in the place to which an object has come by itself: nobody was asked to preserve what it has now.
  func keepStored(of node: TrackedNode, while fingerprint: [UInt8]) {
    (node.isUnasked, node.keepsStored, node.isBorrower) = (true, true, true)
    node.fingerprintWhenRefused = fingerprint
    unasked.append(node)
  }

  /// Whether an object is met for the first time, by a save that nobody asked for, and came by itself: below one that was
  /// given its state, or that came with it.
  func mayBeUnasked(_ node: TrackedNode) -> Bool {
    guard node.isNew, scope == .noticed, isOnOffer != nil, node.origin == nil, let parent = node.parent else {
      return false
    }
    return parent.origin != nil || (parent.isUnasked && parent.keepsStored)
  }

  /// Whether what an object has is newer than what was stored in the place to which it has come by itself: it was saved, or
  /// edited since a capture first met it.
  func isNewer(_ object: any RestorableObject, at path: RestorationPath) -> Bool {
    guard let node = node(of: object), node.origin == nil, node.identifier == path.last else { return false }
    return !node.isUnasked || !node.keepsStored || fingerprint(of: object) != node.fingerprintWhenRefused
  }
}
