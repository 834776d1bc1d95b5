internal import FoundationEssentials

extension RestorationCoordinator {
  /// Returns when nothing is being deleted; throws when a restoration is running already.
  func waitForDiscard() async throws(RestorationError) {
    while occupation == .discarding { await waitUntilFree() }
    guard occupation == .restoring else { return }
    throw RestorationError(
      .restorationInProgress, "A restoration is running already; wait for it before you start another.")
  }

  /// Loads the newest state off the main actor, with what only this run holds if there is any.
  func load(live: LiveState?) async -> Result<LoadedState, LoadFailure> {
    var loader = loader()
    loader.live = live
    let chosen = loader
    return await worker.run { _ in Result { () throws(LoadFailure) in try chosen.loadNewest() } }
  }

  /// Loads and goes the way through crashes, asking the delegate where it is to decide.
  func decide(source: RestorationSource, live: LiveState?) async -> Result<LoadedState, LoadFailure> {
    if case .setAside(let id) = source {
      let loader = loader()
      return await worker.run { _ in Result { () throws(LoadFailure) in try loader.loadSetAside(id) } }
    }
    let newest: Result<LoadedState, LoadFailure>
    // What could not be read before may be readable now, and what was read may be locked or older by now.
    if let prepared, case .success(let loaded) = prepared, await isCurrent(loaded) {
      newest = prepared
    } else {
      newest = await load(live: live)
    }
    prepared = nil
    guard case .success(var loaded) = newest else { return newest }
    if source == .olderGeneration {
      return await predecessor(of: loaded, because: "as the program asked").map { loaded in
        var loaded = loaded
        loaded.isOnRequest = true
        // Asked for by name: what ended badly before is left out, and everything else is tried again.
        if let culprit = loaded.culprit { loaded.crash = .leaveOut(node: culprit) }
        return loaded
      }.mapError { failure in
        var failure = failure
        failure.changesNothing = true
        return failure
      }
    }
    switch loaded.crash {
    case .restoreEverything, .leaveOut: return .success(loaded)
    case .olderGeneration: return await older(loaded, because: "restoring the newest failed")
    case .nothing: return await giveUp(loaded)
    case .ask(let node):
      switch recovery?.coordinator(self, decideAfter: loaded.history) ?? .olderGeneration {
      case .olderGeneration: return await older(loaded, because: "restoring the newest failed twice")
      case .restoreNothing: return await giveUp(loaded)
      case .tryAgain:
        loaded.crash = node.map { .leaveOut(node: $0) } ?? .restoreEverything
        return .success(loaded)
      }
    }
  }

  /// Whether what was loaded can still be read, and is still the newest.
  private func isCurrent(_ loaded: LoadedState) async -> Bool {
    let store = store
    return await worker.run { _ in
      guard let state = try? store.open(.newest) else { return false }
      return state.generation == loaded.state.generation && state.frames.count == loaded.state.frames.count
    }
  }

  private func older(_ loaded: LoadedState, because text: String) async -> Result<LoadedState, LoadFailure> {
    let result = await predecessor(of: loaded, because: text)
    // It has stood in before, and ended badly too.
    guard case .success(let older) = result, older.attempts.deaths == 0 || configuration.isDeveloperMode else {
      return await giveUp(loaded, refusesOlder: (try? result.get()) != nil)
    }
    return result
  }

  private func predecessor(of loaded: LoadedState, because text: String) async -> Result<LoadedState, LoadFailure> {
    let loader = loader()
    // What was joined, was joined to the newest.
    let remarks = loaded.remarks.filter { if case .mergedPendingChanges = $0 { false } else { true } }
    return await worker.run { _ in
      Result { () throws(LoadFailure) in try loader.loadPredecessor(remarks: remarks, because: text) }
    }
  }

  /// Takes the marker away, so that the next launch begins anew; the state itself stays, and is set aside by a save.
  private func giveUp(_ loaded: LoadedState, refusesOlder: Bool = false) async -> Result<LoadedState, LoadFailure> {
    await worker.run { _ in (try? loaded.subject.begin())?.end() }
    var failure = LoadFailure(outcome: .givenUpAfterCrashes, remarks: loaded.remarks, reason: .afterCrash)
    failure.refusesOlder = loaded.isPredecessor || refusesOlder
    return .failure(failure)
  }
}
