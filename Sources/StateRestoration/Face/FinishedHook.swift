/// Calls the finished hooks, and knows which classes have one of their own.
///
/// Whatever calls a program's code is noted in the crash marker before, which costs more than an empty hook.
@MainActor enum FinishedHook {
  private static var classesWithout: Set<ObjectIdentifier> = []
  /// Of these, the one that was met last.
  private static var lastWithout: ObjectIdentifier?
  private static var calledDefault: ObjectIdentifier?

  /// Called by the hook that does nothing.
  static func wasDefault(for object: any RestorableObject) { calledDefault = ObjectIdentifier(object) }

  /// Tells an object that restoring is over.
  ///
  /// - Parameter note: Called before a hook that may do something.
  static func call(on object: any RestorableObject, note: () -> Void) {
    let type = ObjectIdentifier(type(of: object))
    guard type != lastWithout else { return }
    guard !classesWithout.contains(type) else {
      lastWithout = type
      return
    }
    note()
    calledDefault = nil
    object.applicationFinishedRestoringState()
    if calledDefault == ObjectIdentifier(object) { classesWithout.insert(type) }
  }
}
