internal import DataProtection
internal import FoundationShim

extension RestorationCoordinator {
  /// Loads a state off the main actor; the newest with the edits of this run if there are any.
  func load(_ source: RestorationCoordinator.Source = .newest, edits: Data? = nil) async -> Result<
    LoadedState, LoadFailure
  > {
    await loading(edits) { loader throws(LoadFailure) in try loader.load(source) }
  }

  private func loading(
    _ edits: Data?, _ body: @Sendable (StateLoader) throws(LoadFailure) -> LoadedState
  ) async -> Result<LoadedState, LoadFailure> {
    var loader = loader()
    loader.edits = edits
    return await worker.run { [loader] session in
      var loader = loader
      if edits != nil { loader.ways = session.ways }
      return Result { () throws(LoadFailure) in try body(loader) }
    }
  }

  /// Loads and goes the way through crashes, asking the delegate where it is to decide.
  func decide(source: RestorationCoordinator.Source, edits: Data?) async -> Result<LoadedState, LoadFailure> {
    guard source == .newest else { return await load(source) }
    let newest: Result<LoadedState, LoadFailure>
    if let prepared, case .success(let loaded) = prepared, await isReadable(loaded) {
      newest = prepared
    } else {
      newest = await load(edits: edits)
    }
    prepared = nil
    guard case .success(var loaded) = newest else { return newest }
    switch loaded.crash {
    case .restoreEverything, .leaveOut: return .success(loaded)
    case .nothing: return giveUp(loaded)
    case .ask(let node):
      let history = RestorationCoordinator.CrashHistory(
        failedAttempts: loaded.history.deaths, savedAt: loaded.plan.context.timeSaved)
      switch delegate?.coordinator(self, decideAfter: history) ?? .olderGeneration {
      case .olderGeneration: return await fallback(for: loaded, edits: edits)
      case .restoreNothing: return giveUp(loaded)
      case .tryAgain:
        loaded.crash = node.map { .leaveOut(node: $0) } ?? .restoreEverything
        return .success(loaded)
      }
    }
  }

  /// Whether a prepared state can still be read, and no more of it than then.
  private func isReadable(_ loaded: LoadedState) async -> Bool {
    await worker.run {
      loaded.lockedClasses.isSubset(of: $0.store.lockedClasses)
        && (try? $0.store.open(.newest).generation) == loaded.state.generation
    }
  }

  /// The generation before the newest, which failed twice; nothing when it failed as well, or there is none.
  private func fallback(for newest: LoadedState, edits: Data?) async -> Result<LoadedState, LoadFailure> {
    let result = await loading(edits) { loader throws(LoadFailure) in
      try loader.loadPredecessor(newest.remarks, because: "restoring the newest failed twice")
    }
    guard case .success(var older) = result else { return giveUp(newest) }
    older.retiring.append(newest.state.generation)
    guard older.crash == .restoreEverything else { return giveUp(newest, older) }
    return .success(older)
  }

  /// Restores nothing; the next save sets aside every state that failed.
  private func giveUp(_ loaded: LoadedState...) -> Result<LoadedState, LoadFailure> {
    let newest = loaded[0]
    let retiring = loaded.flatMap(\.superseded)
    return .failure(
      LoadFailure(
        outcome: .givenUpAfterCrashes, remarks: newest.remarks, reason: .afterCrash,
        retiring: Array(Set(retiring)).sorted { $0.rawValue < $1.rawValue }))
  }
}
