extension RestorationCoordinator {
  /// Does what a save does on the main actor and hands nothing over: for the benchmark.
  ///
  /// What is captured here is not saved: use a coordinator of its own.
  ///
  /// - Returns: What was captured, which costs time to let go of; a save does that elsewhere.
  @discardableResult
  package func measureCapture(of root: any RestorableController, everything: Bool = true) -> MeasuredCapture {
    MeasuredCapture(batch: capture(root, scope: everything ? .all : .noticed, context: configuration.context))
  }
}

/// What was captured to be measured.
package struct MeasuredCapture: Sendable {
  let batch: CaptureBatch
  /// The number of objects whose values were copied.
  package var capturedCount: Int { batch.capturedCount }
}
