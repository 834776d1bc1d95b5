internal import RestorationArchive

/// Whether an object that keeps stored state has been edited since: what it has is compared with what it had.
extension CaptureTree {
  /// What an object had before anybody could edit it, which stands below another one's stored state and in no claim.
  struct Sighting {
    weak var object: (any RestorableObject)?
    var fingerprint: [UInt8]
  }

  /// The objects that were known before the state was restored once more, and what they were.
  struct Acquaintances {
    var nodes: [ObjectIdentifier: TrackedNode] = [:]
    var claims: [ObjectIdentifier: Claim] = [:]

    /// Takes those of a tree; those that it had not met since it was last asked stay known.
    @MainActor mutating func add(_ tree: CaptureTree) {
      if nodes.isEmpty { nodes = tree.byObject } else { nodes.merge(tree.byObject) { $1 } }
      if claims.isEmpty { claims = tree.claims } else { claims.merge(tree.claims) { $1 } }
    }
  }

  /// Remembers who is known, before the state is restored once more.
  func rememberAcquaintances() { acquaintances.add(self) }

  /// What an object had when it was first refused what is stored, so that an edit since then still counts as one.
  ///
  /// Nil, so that whatever it has is newer, for one that has had state of its own: what is on the screen is the user's.
  func firstSighting(_ object: any RestorableObject) -> [UInt8]? {
    let identity = ObjectIdentifier(object)
    if let claim = acquaintances.claims[identity], claim.object === object {
      return claim.keepsStored ? claim.sighted : nil
    }
    if let node = acquaintances.nodes[identity], node.object === object {
      return node.keepsStored ? node.sighted : nil
    }
    return fingerprint(of: object)
  }

  /// Looks at what no claim names below an object of another class or model than its stored state: as it is now, it is not
  /// newer than that.
  func sightBelow(_ stranger: any RestorableController) {
    var seen: Set<ObjectIdentifier> = []
    var stack: [any RestorableController] = [stranger]
    while let next = stack.popLast() {
      guard seen.insert(ObjectIdentifier(next)).inserted else { continue }
      for view in next.restorationViews { sight(view) }
      for child in next.restorationChildren {
        sight(child)
        stack.append(child)
      }
    }
  }

  private func sight(_ object: any RestorableObject) {
    let identity = ObjectIdentifier(object)
    guard claims[identity] == nil, let fingerprint = firstSighting(object) else { return }
    sighted[identity] = Sighting(object: object, fingerprint: fingerprint)
  }

  /// What an object has, in bytes to compare; nil when it has nothing to preserve.
  private func fingerprint(of object: any RestorableObject) -> [UInt8]? {
    ObjectBinding(object).capture(context: context, observing: false).map { fingerprint($0.entries, $0.references) }
  }

  /// The same; of references the objects count, wherever they are.
  func fingerprint(_ entries: [RestorationArchive.Entry], _ references: [CapturedReference]) -> [UInt8] {
    let targets = references.map { reference in
      let objects: [(any RestorableObject)?] =
        switch reference.targets {
        case .one(let object): [object]
        case .many(let objects): objects
        }
      return RestorationArchive.Entry(
        key: reference.key, value: objects.map { $0.map { "\(ObjectIdentifier($0))" } })
    }
    return (try? RecordEncoder().encode(entries + targets, tables: &sightings)) ?? []
  }
}
