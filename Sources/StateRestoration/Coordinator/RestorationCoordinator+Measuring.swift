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

/// A capture to be measured.
package struct MeasuredCapture: Sendable {
  let batch: CaptureBatch
  /// The number of objects whose values were copied.
  package var capturedCount: Int { batch.capturedCount }
}
