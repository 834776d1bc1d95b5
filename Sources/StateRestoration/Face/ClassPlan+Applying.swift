extension ClassPlan {
  /// Gives an object its state: all values are decoded before the first is assigned, then its coder method runs.
  ///
  /// - Parameter version: The version that the object knows.
  /// - Returns: The version the state was migrated from, if it was.
  func apply(
    _ coder: RestorationDecoder, to object: any RestorableObject, _ version: StateVersion,
    properties: [RestorationEncoder.Property]
  ) throws(RestorationError) -> StateVersion? {
    defer { coder.finish() }
    try refuseNewer(coder, version)
    if properties.isEmpty, coding == nil {
      // One value or none, as nearly always: nothing can fail once it is decoded.
      try state?.give(object, coder: coder, version: version)
      return coder.storedVersion.flatMap { $0 < version ? $0 : nil }
    }
    var assignments: [@MainActor () -> Void] = []
    if let assignment = try state?.prepare(object, coder: coder, version: version) { assignments.append(assignment) }
    for property in properties {
      if let assignment = try property.prepare(with: coder) { assignments.append(assignment) }
    }
    // Restored whole or not at all: assignments are taken back when the coder method throws.
    let former =
      coding == nil ? [] : properties.map { $0.snapshot() } + [state?.snapshot(of: object)].compactMap(\.self)
    for assignment in assignments { assignment() }
    do throws(RestorationError) {
      try coding?.decode(object, with: coder)
    } catch {
      for takeBack in former { takeBack() }
      throw error
    }
    return coder.storedVersion.flatMap { $0 < version ? $0 : nil }
  }

  /// Throws if the state is of a newer version than the class knows.
  private func refuseNewer(_ coder: RestorationDecoder, _ version: StateVersion) throws(RestorationError) {
    guard let stored = coder.storedVersion, stored > version else { return }
    throw RestorationError(
      .newerVersion, "The state has version \(stored), but \(type) knows versions up to \(version); it is kept.",
      path: coder.path)
  }
}
