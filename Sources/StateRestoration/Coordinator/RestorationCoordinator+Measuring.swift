extension RestorationCoordinator {
  /// Does what a save does on the main actor and hands nothing over: for the benchmark.
  ///
  /// What is captured here is not saved: use a coordinator of its own.
  ///
  /// - Returns: The number of objects whose values were copied.
  @discardableResult
  package func measureCapture(of root: any RestorableController, everything: Bool = true) -> Int {
    capture(root, scope: everything ? .all : .noticed, context: configuration.context).capturedCount
  }
}
