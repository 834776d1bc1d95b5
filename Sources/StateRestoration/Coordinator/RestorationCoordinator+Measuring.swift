extension RestorationCoordinator {
  /// Does what a save does on the main actor and hands nothing over: for the benchmark.
  ///
  /// This capture is not saved: use a coordinator of its own.
  ///
  /// - Returns: The capture, which costs time to let go of; a save does that elsewhere.
  @discardableResult
  package func measureCapture(of root: any RestorableController, everything: Bool = true) -> MeasuredCapture {
    MeasuredCapture(batch: capture(root, scope: everything ? .all : .noticed, context: configuration.context))
  }
}

extension RestorationCoordinator {
  /// Asks every object whose changes can't be noticed, as happens at each interval; for the benchmark.
  ///
  /// - Parameter now: The processor time of the calling thread.
  package func measureAsking(_ now: () -> Double) async -> MeasuredAsking {
    var measured = MeasuredAsking()
    var round = tree.beginAsking()
    repeat {
      let begun = now()
      let asked = askSome(&round, nil, configuration.context)
      measured.turns.append(now() - begun)
      measured.foundCount += asked.changed.count + (await worker.run { $0.table.findChanged(asked.batch) }).count
    } while !round.isOver
    measured.askedCount = round.askedCount
    return measured
  }
}

/// What asking objects costs.
package struct MeasuredAsking: Sendable {
  /// How many objects were asked.
  package var askedCount = 0
  /// How many of them had changed.
  package var foundCount = 0
  /// What each turn cost the main actor, in the unit of the clock.
  package var turns: [Double] = []
}

/// A capture to be measured.
package struct MeasuredCapture: Sendable {
  let batch: CaptureBatch
  /// The number of objects whose values were copied.
  package var capturedCount: Int { batch.capturedCount }
}
