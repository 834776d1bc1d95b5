internal import RestorationArchive

extension RestorationCoordinator {
  /// So long objects are asked in one turn of the main actor.
  private static var turn: Duration { .milliseconds(4) }
  /// The end of a turn, in which its answers are handed over.
  private static var handingOver: Duration { .microseconds(200) }
  /// The clock is read after so many objects.
  private static var objectsBetweenLooks: Int { 8 }

  /// Begins or ends to ask objects whose changes can't be noticed, as the policy says.
  func armAsking() {
    repetition = nil
    beginAsking()
  }

  /// Begins to ask at the interval, unless that goes on already, or there is nobody to ask: then nobody is woken for it.
  func beginAsking() {
    guard repetition == nil, hasAnyoneToAsk else { return }
    guard case .onChange = preservesAutomatically, let interval = configuration.askingInterval else { return }
    hasNamedAsked = false
    repetition = Repetition(every: interval, on: configuration.clock) { [weak self, turns] done in
      turns.perform {
        guard let self else { return done() }
        self.askObjects(done)
      }
    }
  }

  /// Asks the objects whose changes can't be noticed, and notes those that have changed: the save that follows has them.
  ///
  /// The main actor only copies values, a few milliseconds in each turn; they are compared on the worker. Nothing is written, and
  /// nobody hears of it, when nothing has changed.
  private func askObjects(_ done: @escaping @Sendable () -> Void) {
    guard askingRound == nil, mayAsk else { return done() }
    guard hasAnyoneToAsk else {
      repetition = nil
      return done()
    }
    guard let application = takeApplicationState(context: configuration.context) else { return done() }
    logAsked()
    askingRound = tree.beginAsking()
    askInThisTurn(application, done)
  }

  /// Says who is asked, so that a program may find out what keeps it from being left alone.
  private func logAsked() {
    guard !hasNamedAsked else { return }
    hasNamedAsked = true
    log.log(.info, "asks for changes that nobody announces: \(askedOnes)")
  }

  private var askedOnes: String {
    let paths = tree.polled.lazy.filter { !$0.isRemoved }.map { "\($0.path)" }
    let named = (encodesApplicationState ? ["the delegate"] : []) + paths.prefix(5)
    let rest = paths.dropFirst(5).count
    return named.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
  }

  /// Whether something may change without a notice: an object, or the app-level state.
  private var hasAnyoneToAsk: Bool { encodesApplicationState || tree.hasAnyoneToAsk }

  private func askInThisTurn(_ application: ApplicationState?, _ done: @escaping @Sendable () -> Void) {
    guard var round = askingRound, round.revision == tree.revision, mayAsk else {
      askingRound = nil
      return done()
    }
    let asked = askSome(&round, application, configuration.context)
    askingRound = round
    worker.post { [weak self, turns] session in
      let found = asked.isEmpty ? [] : session.table.findChanged(asked.batch)
      turns.perform {
        guard let self else { return done() }
        self.note(asked.changed + found.sorted())
        if self.askingRound?.isOver != false { self.askingRound = nil }
        self.askInThisTurn(nil, done)
      }
    }
  }

  /// Asks objects for one turn.
  func askSome(
    _ round: inout AskingRound, _ application: ApplicationState?, _ context: RestorationArchive.Context
  ) -> AskedValues {
    let clock = ContinuousClock()
    let end = clock.now.advanced(by: Self.turn - Self.handingOver)
    var count = 0
    return tree.ask(&round, application: application, context: context) { objects in
      count += objects
      guard count >= Self.objectsBetweenLooks else { return false }
      count = 0
      return clock.now >= end
    }
  }

  /// Whether there is a hierarchy that was captured, and that is saved when it changes.
  private var mayAsk: Bool {
    guard case .onChange = preservesAutomatically, standing == .live || standing == .locked else { return false }
    guard delegate != nil, root != nil, !tree.roots.isEmpty, !isAsking, !unlock.isSuspended else { return false }
    return operations.current == nil || operations.current == .saving
  }

  /// Notes that objects have changed, unless everything was restored anew meanwhile.
  private func note(_ keys: [CaptureBatch.Key]) {
    guard let askingRound, askingRound.revision == tree.revision else { return }
    for key in keys {
      if key == CaptureBatch.application {
        invalidateApplicationState()
      } else {
        tree.node(key)?.flag.raise()
      }
    }
  }
}
