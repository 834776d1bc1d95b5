extension RestorationReport {
  /// Why one preserved node did not come back.
  ///
  /// The node's state is not lost: every save copies it along until an object takes it or
  /// ``RestorationCoordinator/forget(_:)`` removes it. State below an object that leaves the hierarchy goes with that, though, and
  /// of absent state the oldest makes room (``PreservationOutcome/Finding/absentRemoved(path:bytes:)``). There are
  /// exceptions:
  /// ``expired(age:limit:)``, ``modelGone(_:)`` and ``classRetired(_:)`` remove the state with the next save, as the registry asks. With
  /// ``touchedMeanwhile`` the newer state lies before it. With ``shed`` there is none, because the last save had no room for it.
  @nonexhaustive public enum NotRestoredReason: Sendable, Hashable, Codable {
    /// No restoration class, delegate, existing object or blueprint gave an object for the path.
    case noObject
    /// Nobody gave an object for the path, and an object of its class beside it has another name, under which nothing
    /// is stored: an identifier that is made of a title, say.
    case nameDiffers(found: String, type: String)
    /// Its class was given up; see ``RestorationRegistry/retire(_:)``.
    case classRetired(RestorationIdentity.ClassTag)
    /// The recorded restoration class is not registered, and nobody else gave an object.
    case unknownClass(RestorationIdentity.ClassTag)
    /// The restoration class answered nil, which is final: the subtree is not to be restored.
    case refusedByClass(RestorationIdentity.ClassTag)
    /// The object that is there is of another class than the recorded one.
    case classMismatch(recorded: RestorationIdentity.ClassTag, found: String)
    /// The class or the delegate made an object with another identifier than the path's; it is given nothing, and the
    /// state stays.
    case otherIdentifier(String)
    /// The object that was given for the path has another node's state already: one object has one place.
    case objectTaken(by: RestorationPath)
    /// The state was written by a newer version of its class; it is kept and not read.
    case newerVersion(stored: StateVersion, known: StateVersion)
    /// A migration step failed, or a step is missing.
    case migrationFailed(String)
    /// The object could not decode its state.
    case decodingFailed(String)
    /// The node's bytes were changed.
    case damaged(String)
    /// Its class of protection has no key now: it comes back after the unlock, and until then nothing is known of it.
    case locked
    /// The parent was not restored, so there is nowhere to put the object.
    case parentNotRestored
    /// The state is older than its age limit, given in seconds.
    case expired(age: Double, limit: Double)
    /// The model object that the state belongs to does not exist any more.
    case modelGone(ModelIdentifier)
    /// The object shows another model object than the one the state belongs to.
    case modelMismatch(recorded: ModelIdentifier?, found: ModelIdentifier?)
    /// Restoring died at this node before; it stays stored, and out until it is asked for.
    case leftOutAfterCrash
    /// The user changed the object while the device was locked, or a save met it before
    /// ``RestorationCoordinator/restore(_:at:)``; the newer state wins.
    case touchedMeanwhile
    /// The object was made, or given to ``RestorationCoordinator/restore(_:at:)``, but no container had it.
    case notInstalled
    /// The state was not stored, because the archive was over its size budget; a save says so when it happens.
    case shed
    /// Asynchronous restoring ran out of time before the object was there.
    case timedOut
    /// Its object has left the place, or shows another model now: the state waits for an object that it fits, and
    /// nobody is made for it.
    case absent
    /// The launch asks for less than the state's class comes back with; the state stays for a launch that asks for
    /// more.
    case beyondExtent(Lifecycle.LaunchOptions.Extent)
  }
}

extension RestorationReport.NotRestoredReason: CustomStringConvertible {
  /// The reason, then the remedy where there is one.
  public var description: String {
    switch self {
    case .noObject:
      "no object: register a class or a blueprint, answer in the delegate, or build it before restoring"
    case .nameDiffers(let found, let type):
      "no object has this name, but the \(type) “\(found)” beside it has nothing stored: an identifier must be the same at each "
        + "launch, so do not make it of a title; kept"
    case .classRetired(let tag): "class “\(tag)” is retired; the next save removes its state"
    case .unknownClass(let tag): "class “\(tag)” is not registered: register it, or name it among a class's former tags"
    case .refusedByClass(let tag):
      "class “\(tag)” declined; kept: make an object in its factory, or give the class up with retire(_:)"
    case .classMismatch(let recorded, let found):
      "recorded as “\(recorded)”, but the object is a \(found); kept: where the class was renamed, register it with formerly:"
    case .otherIdentifier(let found):
      "the object made for it calls itself “\(found)”: make it with the identifier of the path; kept"
    case .objectTaken(let path): "the object given for it is \(path) already: give one object for each path; kept"
    case .newerVersion(let stored, let known):
      "state version \(stored) is newer than \(known); kept for the version of the program that wrote it"
    case .migrationFailed(let text): "migration failed, and the state is kept: \(text)"
    case .decodingFailed(let text): "decoding failed, and the state is kept: \(text)"
    case .damaged(let text): "damaged: \(text)"
    case .locked: "locked; it comes back after the unlock"
    case .parentNotRestored: "its parent was not restored: see there"
    case .expired(let age, let limit): "\(seconds(age)) old, the limit is \(seconds(limit))"
    case .modelGone(let model): "its model “\(model)” is gone"
    case .modelMismatch(let recorded, let found):
      "belongs to model \(quoted(recorded)), but the object shows \(quoted(found))"
    case .leftOutAfterCrash:
      "left out, because restoring it failed before; kept: restore with retriesLeftOut, or answer yes in shouldRetryNodeAt"
    case .touchedMeanwhile: "changed meanwhile; the newer state is kept"
    case .notInstalled: "its container did not take it; kept: keep it in installRestoredChildren(_:)"
    case .shed: "not stored, to keep within the size budget: raise archiveByteBudget, or its priority"
    case .timedOut: "came too late; kept: raise extensionTimeLimit, or call restore(_:at:) earlier"
    case .absent: "waits for an object that it fits; forget the path to give it up"
    case .beyondExtent(let extent): "comes back with the extent “\(extent)”, which this launch does not have; kept"
    }
  }

  /// Whole seconds, but for what no whole number is: a file and a decoded report can hold any number.
  private func seconds(_ value: Double) -> String {
    guard let whole = Int(exactly: value.rounded()) else { return "\(value) s" }
    return "\(whole) s"
  }

  private func quoted(_ model: ModelIdentifier?) -> String { model.map { "“\($0)”" } ?? "none" }
}
