/// How the tool ends; `Docs/restore-inspect.1` lists the codes.
package enum InspectExitCode: Int32, Sendable, Hashable, CaseIterable {
  /// Everything was read and is whole.
  case success = 0

  /// `diff` found differences.
  case different = 1

  /// The command line makes no sense.
  case usage = 2

  /// There is no device, archive, node or generation there.
  case notFound = 3

  /// The material is locked: a passcode is needed.
  case locked = 4

  /// The passcode is wrong, or wrong ones have to be waited out.
  case wrongPasscode = 5

  /// Something is damaged, missing, rolled back or put in another's place.
  case damaged = 6

  /// A newer version wrote it.
  case newerVersion = 7

  /// It was sealed on another device, or this device's keys are gone.
  case otherDevice = 8

  /// The disk, the directory or another process is in the way.
  case unavailable = 9

  /// What a code means, for `--help`.
  package var meaning: String {
    switch self {
    case .success: "everything was read and is whole"
    case .different: "diff: the generations differ"
    case .usage: "the command line makes no sense"
    case .notFound: "no device, archive, node or generation there"
    case .locked: "locked: a passcode is needed"
    case .wrongPasscode: "the passcode is wrong, or must wait"
    case .damaged: "damaged, missing, rolled back, or put in another's place"
    case .newerVersion: "written by a newer version"
    case .otherDevice: "sealed on another device, or the keys are gone"
    case .unavailable: "the disk, the directory or another process is in the way"
    }
  }
}
