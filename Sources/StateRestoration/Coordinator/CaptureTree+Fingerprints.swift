internal import RestorationArchive

/// Whether an object that keeps stored state has been edited since: what it has is compared with what it had.
extension CaptureTree {
  /// What an object had before anybody could edit it, which stands below another one's stored state and in no claim.
  struct Refused {
    weak var object: (any RestorableObject)?
    var fingerprint: [UInt8]
  }

  /// Remembers who is there, before the state is restored once more; with a root, also whom nobody has met yet below it.
  func rememberAcquaintances(below root: (any RestorableController)?) {
    let hierarchy = root.map { ControllerWalk($0).objects } ?? []
    acquaintances.add(self, below: hierarchy)
  }

  /// What an object had when it was first refused what is stored, so that an edit since then still counts as one.
  ///
  /// Nil, so that whatever it has is newer, for one that has had state of its own: what is on the screen is the user's.
  func fingerprintWhenFirstRefused(_ object: any RestorableObject) -> [UInt8]? {
    acquaintances.knows(object) ? acquaintances.fingerprintWhenRefused(object) : fingerprint(of: object)
  }

  /// Looks at what no claim names below an object of another class or model than its stored state: as it is now, it is not
  /// newer than that.
  func noteRefused(below stranger: any RestorableController) {
    for object in ControllerWalk(stranger).objects where claims[ObjectIdentifier(object)] == nil {
      guard let fingerprint = fingerprintWhenFirstRefused(object) else { continue }
      refusedBelow[ObjectIdentifier(object)] = Refused(object: object, fingerprint: fingerprint)
    }
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
    return (try? RecordEncoder().encode(entries + targets, tables: &fingerprintTables)) ?? []
  }
}
