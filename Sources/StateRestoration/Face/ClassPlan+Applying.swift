extension ClassPlan {
  /// Gives an object its state: all values are decoded before the first is assigned, then its coder method runs.
  ///
  /// - Returns: The version the state was migrated from, if it was.
  func apply(
    _ coder: RestorationDecoder, to object: any RestorableObject, properties: [RestoredProperty]
  ) throws(RestorationError) -> StateVersion? {
    defer { coder.finish() }
    try refuseNewer(coder)
    guard let coding else {
      try assign(coder, to: object, properties)
      return coder.storedVersion.flatMap { $0 < version ? $0 : nil }
    }
    // Restored whole or not at all: assignments are taken back when the coder method throws.
    let former = properties.map { $0.snapshot() } + [state?.snapshot(of: object)].compactMap(\.self)
    try assign(coder, to: object, properties)
    do throws(RestorationError) {
      try coding.decode(object, with: coder)
    } catch {
      for takeBack in former { takeBack() }
      throw error
    }
    guard let stored = coder.storedVersion, stored < version else { return nil }
    return stored
  }

  /// Decodes all values before the first is assigned.
  private func assign(
    _ coder: RestorationDecoder, to object: any RestorableObject, _ properties: [RestoredProperty]
  ) throws(RestorationError) {
    guard !properties.isEmpty else { return try state?.assign(to: object, coder: coder, version: version) ?? () }
    var assignments: [@MainActor () -> Void] = []
    if let assignment = try state?.prepare(object, coder: coder, version: version) { assignments.append(assignment) }
    for property in properties {
      if let assignment = try property.prepare(with: coder) { assignments.append(assignment) }
    }
    for assignment in assignments { assignment() }
  }

  /// Throws if the state is of a newer version than the class knows.
  private func refuseNewer(_ coder: RestorationDecoder) throws(RestorationError) {
    guard let stored = coder.storedVersion, stored > version else { return }
    throw RestorationError(
      .newerVersion, "The state has version \(stored), but \(type) knows versions up to \(version); it is kept.",
      path: coder.path)
  }
}
