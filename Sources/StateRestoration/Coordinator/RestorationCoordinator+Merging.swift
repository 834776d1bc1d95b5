internal import RestorationArchive

extension RestorationCoordinator {
  /// Has objects join the stored state: those that were edited in this run, and those that an earlier run edited while locked
  /// and that ended before the unlock.
  ///
  /// The next save has the joined states, as they differ from the stored ones. A state that can't be read is left as it is.
  ///
  /// - Parameters:
  ///   - loaded: The state that is restored.
  ///   - turn: The turn in which the objects were given their state.
  func mergeEdits(_ loaded: LoadedState, _ turn: RestoreTurn) {
    let layers = loaded.layers.isEmpty ? [loaded.plan] : loaded.layers
    if !turn.request.edits.objects.isEmpty { join(layers, areEdited: true, turn) }
    join(loaded.layers, areEdited: false, turn)
  }

  /// Has objects join the states of several layers, oldest first, and last their own if they were edited in this run.
  private func join(_ layers: [RestorePlan], areEdited: Bool, _ turn: RestoreTurn) {
    guard areEdited || layers.count > 1 else { return }
    var places: [RestorationPath: [(plan: RestorePlan, index: Int)]] = [:]
    for plan in layers {
      for index in plan.leads where plan.nodes[index].byteCount > 0 {
        guard plan.nodes[index].flags.isDisjoint(with: [.dormant, .unedited]) else { continue }
        places[plan.paths[index], default: []].append((plan, index))
      }
    }
    for own in turn.plan.leads {
      let path = turn.plan.paths[own]
      guard let records = places[path], records.count > (areEdited ? 0 : 1),
        let object = turn.object(at: own) as? any MergingController,
        turn.isEdited(object) == areEdited, areEdited || turn.progress[own].isRestored
      else { continue }
      let claimant = registry.claimant(object)
      let coders = records.compactMap { plan, index -> RestorationDecoder? in
        guard claimant.mismatch(with: plan.identity(of: index)) == nil else { return nil }
        var stored = plan.stored(at: index)
        stored.path = path
        return RestorationDecoder(stored, context: plan.context)
      }
      defer { for coder in coders { coder.finish() } }
      turn.noteBeginning(of: own)
      do throws(RestorationError) {
        if try object.merge(coders, andOwn: areEdited) {
          turn.noteJoined(own)
          log.log(.info, "\(path): joined the stored state and the typed one")
        }
      } catch {
        log.log(.warning, "\(path): the stored state and the typed one could not be joined: \(error)")
      }
    }
  }
}
