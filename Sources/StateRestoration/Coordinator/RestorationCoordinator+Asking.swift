internal import RestorationArchive

extension RestorationCoordinator {
  /// So long objects are asked in one turn of the main actor.
  private static var turn: Duration { .milliseconds(4) }
  /// The clock is read after so many objects.
  private static var objectsBetweenLooks: Int { 8 }

  /// Begins or ends to ask objects whose changes can't be noticed, as the policy says.
  func armAsking() {
    repetition = nil
    guard case .onChange = preservesAutomatically, let interval = configuration.askingInterval else { return }
    repetition = Repetition(every: interval, on: configuration.clock) { [weak self] in await self?.askObjects() }
  }

  /// Asks the objects whose changes can't be noticed, and notes those that have changed: the save that follows has them.
  ///
  /// The main actor only copies values; they are compared on the worker. Nothing is written, and nobody hears of it, when nothing
  /// has changed.
  func askObjects() async {
    guard !isAsking, mayAsk else { return }
    isAsking = true
    defer { isAsking = false }
    let context = configuration.context
    guard var application = takeApplicationState(context: context).map(Optional.some) else { return }
    var round = tree.beginAsking()
    repeat {
      guard mayAsk, round.revision == tree.revision else { return }
      let asked = askSome(&round, application, context)
      application = nil
      guard !asked.isEmpty else { continue }
      let found = await worker.run { $0.table.findChanged(asked.batch) }
      guard round.revision == tree.revision else { return }
      for key in asked.changed + found.sorted() { noteChange(of: key) }
    } while !round.isOver
  }

  /// Asks objects for one turn.
  func askSome(
    _ round: inout AskingRound, _ application: ApplicationState?, _ context: RestorationContext
  ) -> AskedValues {
    let clock = ContinuousClock()
    let end = clock.now.advanced(by: Self.turn)
    var count = 0
    return tree.ask(&round, application: application, context: context) {
      count += 1
      return count.isMultiple(of: Self.objectsBetweenLooks) && clock.now >= end
    }
  }

  /// Whether there is a hierarchy that was captured, and that is saved when it changes.
  private var mayAsk: Bool {
    guard case .onChange = preservesAutomatically, standing == .live || standing == .locked else { return false }
    guard delegate != nil, root != nil, !tree.roots.isEmpty else { return false }
    guard !tree.isCapturing, !unlock.isSuspended else { return false }
    return operations.current == nil || operations.current == .saving
  }

  private func noteChange(of key: CaptureBatch.Key) {
    if key == CaptureBatch.application {
      invalidateApplicationState()
    } else {
      tree.node(key)?.flag.raise()
    }
  }
}
