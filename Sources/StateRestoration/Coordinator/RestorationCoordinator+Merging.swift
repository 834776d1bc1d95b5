internal import RestorationArchive

extension RestorationCoordinator {
  /// The stored state without the edits of this run, if an edited object wants to join it; nil otherwise.
  func storedForMerging(_ edits: Edits) async -> LoadedState? {
    let wantsIt = tree.nodes.contains { node in
      guard let object = node?.object as? any MergingController else { return false }
      return edits.objects.contains(ObjectIdentifier(object))
    }
    // With no edits in the place of those that this run has saved itself.
    var writer = RestorationArchive.Writer(context: configuration.context, limits: limits)
    guard wantsIt, let none = try? writer.makeArchive(), case .success(let loaded) = await load(edits: none) else {
      return nil
    }
    return loaded
  }

  /// Has edited objects join the stored state to theirs; unreadable state is left as it is.
  ///
  /// Their state then differs from the stored one, and the next save has it.
  func mergeEdits(_ stored: LoadedState?, _ turn: RestoreTurn) {
    guard let plan = stored?.plan else { return }
    for index in plan.nodes.indices {
      let node = plan.nodes[index]
      guard !node.isDormant, let own = turn.index(at: plan.paths[index]),
        let object = turn.object(at: own) as? any MergingController, turn.edited.contains(ObjectIdentifier(object)),
        registry.claimant(object).mismatch(with: plan.identity(of: index)) == nil
      else { continue }
      let decoder = RestorationDecoder(
        record: plan.record(of: index), path: plan.paths[index], context: plan.context, storedVersion: node.version,
        modelIdentifier: plan.details(of: index).model)
      defer { decoder.finish() }
      do throws(RestorationError) {
        if try object.merge(decoder) {
          log.log(.info, "\(plan.paths[index]): joined what was stored to what was typed")
        }
      } catch {
        log.log(.warning, "\(plan.paths[index]): what was stored could not be joined to what was typed: \(error)")
      }
    }
  }
}
