extension PreservationOutcome {
  /// Something that a save noticed; none of them stops the save.
  @nonexhaustive public enum Finding: Sendable, Hashable, Codable {
    /// Two siblings claim one identifier: the first is preserved, the second keeps its earlier state.
    case duplicateIdentifier(path: RestorationPath, kept: String, refused: String)
    /// Two controllers list one object among their children: it is preserved at its path, and not below the other.
    case listedTwice(path: RestorationPath, other: RestorationPath)
    /// An object was listed and gone before it could be read, so that it is not preserved: whoever lists it makes it
    /// anew each time.
    case notHeld(path: RestorationPath)
    /// An identifier is empty, which excludes the object and everything below it.
    case emptyIdentifier(parent: RestorationPath, owner: String)
    /// The root's identifier is nil or empty, which excludes the whole hierarchy.
    case excludedRoot(owner: String)
    /// An object that has state has a nil identifier, which excludes it and everything below it.
    ///
    /// Said once for a class in each run, and only if no object of the class is preserved: nil is also the way to leave
    /// one out on purpose. One that says so, with ``RestorationIdentity/excluded``, is no finding.
    case missingIdentifier(parent: RestorationPath, owner: String)
    /// An object holds another one that has an identifier and is preserved nowhere, and its class lists no such
    /// objects.
    ///
    /// Said once for a class in each run, of its first object.
    case notListed(path: RestorationPath, owner: String, property: String, object: String)
    /// A class declares a property that is called as one of UIKit's, `restorationIdentifier` or `restorationClass`, and nobody
    /// reads it: its ``RestorableController/restoration`` says something else.
    ///
    /// Said once for a class in each run, of its first object.
    case misplacedDeclaration(path: RestorationPath, owner: String, property: String)
    /// The association of a list is gone, as nobody holds it: the selection comes back by row.
    ///
    /// Said once for a list in each run.
    case associationNotHeld(path: RestorationPath)
    /// Another window preserves the object as well: each gives it its own state, and the one that is restored last
    /// wins.
    ///
    /// Said once for an object in each run.
    case inTwoWindows(path: RestorationPath)
    /// The object's class tag is registered for no class, so that nothing can make the object again.
    case unregisteredClass(path: RestorationPath, tag: RestorationIdentity.ClassTag)
    /// A save by name has found a change that nothing had announced, while ``RestorationConfiguration/askingInterval``
    /// is nil: an automatic save would have missed it.
    case unannouncedChange(path: RestorationPath)
    /// The object's class tag is registered for another class, so its factory would make the wrong object.
    case inheritedTag(path: RestorationPath, tag: RestorationIdentity.ClassTag, registered: String, found: String)
    /// The object's values could not be encoded; its earlier state is kept.
    case encodingFailed(path: RestorationPath, message: String)
    /// The object's state is over the size budget for one node, which is the limit; or it is `required` and
    /// stays though the archive is over its own.
    case overBudget(path: RestorationPath, bytes: Int, limit: Int)
    /// State was left out so that the archive keeps within its size budget.
    ///
    /// The first save of this run that has room stores it again.
    case shed(path: RestorationPath, bytes: Int)
    /// A reference leads to an object that is not preserved; it will come back as nil.
    case danglingReference(path: RestorationPath, key: String)
    /// The state that was on disk and is not continued was set aside before this save replaced it.
    case setAside(RestorationCoordinator.SetAsideState)
    /// A state that was set aside is gone: newer ones needed its room.
    case setAsideRemoved(RestorationCoordinator.SetAsideState)
    /// State that waited for an object is gone, because newer state needed its room.
    case absentRemoved(path: RestorationPath, bytes: Int)
    /// An older record of an object's state is gone, because there is room for eight.
    case recordRemoved(path: RestorationPath, bytes: Int)
    /// The object's state could not be stored beside eight records that nobody has read; they stay.
    case noRoomForRecord(path: RestorationPath)
    /// Something on disk, as a rule saved while locked, could not be read or used, for this reason; it stays there.
    case failure(String)
  }
}

extension PreservationOutcome.Finding: CustomStringConvertible {
  /// The finding, with the path and the owners.
  public var description: String {
    switch self {
    case .duplicateIdentifier(let path, let kept, let refused):
      "\(path): two owners, \(kept) is preserved and \(refused) is not; give one of them another identifier, on a stack "
        + "with NavigationController.identifier(forPushing:)"
    case .listedTwice(let path, let other):
      "\(path): a child of \(other), too, where it is not preserved; list it in one place"
    case .notHeld(let path):
      "\(path): gone as soon as it was listed; hold children and views instead of making them whenever they are asked for"
    case .emptyIdentifier(let parent, let owner):
      "\(parent): the identifier of \(owner) is empty; use nil to leave it out"
    case .excludedRoot(let owner):
      "the root, a \(owner), has no identifier, so that nothing below it is preserved; give it one in its restoration"
    case .missingIdentifier(let parent, let owner):
      "\(parent): a \(owner) below has no identifier, so that nothing of it is preserved; give it one in its restoration, "
        + "or say RestorationIdentity.excluded"
    case .notListed(let path, let owner, let property, let object):
      "\(path): nobody preserves the \(object) in “\(property)”, as \(owner) lists nothing; conform to RestorationParent or "
        + "RestorationViewOwner, and list it"
    case .misplacedDeclaration(let path, let owner, let property):
      "\(path): nobody reads “\(property)” of \(owner); say it in restoration: RestorationIdentity(_:class:)"
    case .associationNotHeld(let path):
      "\(path): the association of the list is gone, so that its selection comes back by row; keep the association as long "
        + "as the list"
    case .inTwoWindows(let path):
      "\(path): in another window as well, and each restores its own state into it; make one for each window, or register "
        + "it as a shared object"
    case .unregisteredClass(let path, let tag):
      "\(path): class “\(tag)” is not registered; register it before restoring, or the object will not be made again"
    case .unannouncedChange(let path):
      "\(path): changed without being noticed; mark the property @Restored, make the class @Observable, or call "
        + "invalidateRestorableState()"
    case .inheritedTag(let path, let tag, let registered, let found):
      "\(path): tag “\(tag)” is registered for \(registered), but the object is a \(found); give \(found) a tag of its own"
    case .encodingFailed(let path, let message):
      "\(path): could not be encoded, the earlier state is kept until it can; mend what its encoding refuses: \(message)"
    case .overBudget(let path, let bytes, let limit):
      "\(path): \(ReportText.bytes(bytes)) of state, the budget is \(ReportText.bytes(limit)); keep what is large in a file, or "
        + "raise the budget in RestorationConfiguration"
    case .shed(let path, let bytes):
      "\(path): \(ReportText.bytes(bytes)) left out to keep within the budget; raise archiveByteBudget, or its priority"
    case .danglingReference(let path, let key):
      "\(path): reference “\(key)” leads to an object that is not preserved; list that object in the hierarchy, or share "
        + "it in the registry"
    case .setAside(let state): "set aside: \(state)"
    case .setAsideRemoved(let state): "no longer set aside, because newer states needed its room: \(state)"
    case .absentRemoved(let path, let bytes):
      "\(path): \(ReportText.bytes(bytes)) that waited for an object are gone, because newer state needed the room"
    case .recordRemoved(let path, let bytes):
      "\(path): \(ReportText.bytes(bytes)) of an older record are gone, because there is room for eight"
    case .noRoomForRecord(let path):
      "\(path): not stored, because eight unread records lie there; forget the path, or start a program that can read them"
    case .failure(let text): text
    }
  }
}
