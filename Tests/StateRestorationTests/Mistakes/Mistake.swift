import StateRestoration

/// A mistake that a program can make, in the words of the article *When something does not come back*.
enum Mistake: String, CaseIterable, Codable, Sendable {
  // What a save says.
  case delegateGone = "The delegate is not kept"
  case savingRefused = "The delegate answers no to saving"
  case noRoot = "`preserve()` before anything was restored or saved"
  case rootExcluded = "The root has no identifier"
  case unnamed = "An object with state has no identifier"
  case associationGone = "Nobody keeps the association of a list"
  case duplicate = "Two siblings have one identifier"
  case emptyIdentifier = "An identifier is empty"
  case unregistered = "A class with a tag is not registered"
  case inheritedTag = "A subclass inherits the tag of its superclass"
  case listedTwice = "Two controllers list one child"
  case inTwoWindows = "One object stands in two windows"
  case notListed = "A class lists children and is no `RestorationParent`"
  case misplaced = "`let restorationClass = \"item\"` beside `restoration`"
  case fleeting = "Children are made anew whenever they are asked for"
  case unnoticed = "A change that nobody can notice, where `askingInterval` is nil"
  case danglingReference = "A reference to an object outside the hierarchy"
  case tooMuch = "A value that belongs into a file of the user's"
  case unencodable = "A value that can't be encoded, such as a number that is infinite in your own coding"
  // What a report says.
  case nobodyMakes = "Nobody makes the object again"
  case tagGone = "A class was renamed without `formerly:`"
  case factoryDeclines = "A factory answers nil"
  case anotherClass = "Another class is at the path"
  case downgrade = "An older version of the program is started"
  case noMigration = "`stateVersion` was raised without a migration"
  case missingKey = "A field was added, and the object has no value for it"
  case anotherType = "A key has another type than before"
  case unreadKey = "A key was renamed"
  case titleAsName = "An identifier is made of a title, which changes"
  case notInstalled = "A container doesn't keep a child that was made"
  case noDelegateAtRestore = "The delegate is gone before restoring"
  case restoringRefused = "The delegate answers no to restoring"
  case editedWhileLocked = "An object is edited while the device is locked"
  case lockedScope = "A scope is read while the device is locked"
  // What is thrown or logged.
  case secondCoordinator = "Two coordinators for one scene"
  case coordinatorGone = "The session, windows or coordinator is not kept"
  case renamedField = "A field was renamed without a version"
  case blockedMainActor = "The main thread waits, in `readLine()` say"
  // What the lint says.
  case identifierForgotten = "An identifier is nil"
  // What a trap says.
  case keyTwice = "A subclass encodes under a key of its superclass"
  case markedTwice = "Two properties are `@Restored` under one key"
  case encoderTooLate = "An encoder is used after its method"
  case unbalanced = "`completeStateRestoration()` is called too often"
  case tagTwice = "Two classes are registered under one tag"
  case badChain = "`stateVersion` is raised, and a step is missing"
  case cycle = "A controller is its own descendant"
  case reservedKey = "A key of a coder begins with `$`"
  case versionTwice = "A `VersionedState` in an object that names a version too"
  case viewWithClass = "A view that names a class"

  /// Whom the message names, beside what is to be done; nil where the whole program is meant, or a class.
  var place: String? {
    switch self {
    case .unnamed, .emptyIdentifier, .unregistered, .inheritedTag, .notListed, .misplaced, .tooMuch, .unencodable:
      "! root: "
    case .associationGone: "! list: "
    case .duplicate, .fleeting: "! root/child: "
    case .listedTwice: "! root/other/child: "
    case .inTwoWindows: "! search: "
    case .danglingReference, .unnoticed: "! panel: "
    case .nobodyMakes, .tagGone, .factoryDeclines, .anotherClass, .downgrade, .noMigration, .missingKey, .anotherType,
      .notInstalled:
      "✗ child  "
    case .unreadKey: "! child  "
    case .titleAsName: "✗ inbox 3  "
    case .editedWhileLocked: "✗ page  "
    case .lockedScope: "(at scope/tab)"
    case .renamedField: "root/child: "
    case .identifierForgotten: "root: "
    case .keyTwice: "Twice at root "
    case .reservedKey: "Reserved at root "
    case .cycle: "Screen at outer/inner"
    default: nil
    }
  }

  /// Whether the mistake stops the program.
  var traps: Bool {
    switch self {
    case .keyTwice, .markedTwice, .encoderTooLate, .unbalanced, .tagTwice, .badChain, .cycle, .reservedKey,
      .versionTwice, .viewWithClass:
      true
    default: false
    }
  }
}
