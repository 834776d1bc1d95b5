package import DataProtection
package import RestorationArchive

extension InspectFailure {
  /// The failure that an error of the device or its files comes to.
  package init(_ error: ProtectionError) {
    var message = InspectStyle.safe(error.message)
    if error.code == .locked { message += " Give the passcode with --passcode-prompt or --passcode-fd." }
    self.init(InspectExitCode(error.code), "\(error.code): \(message)")
  }

  /// The failure that an error of the archive comes to.
  package init(_ error: ArchiveError) {
    if error.code == .sourceFailed, let cause = error.cause as? ProtectionError {
      self.init(cause)
    } else {
      self.init(
        error.code == .unsupportedVersion ? .newerVersion : .damaged,
        "\(error.code): \(InspectStyle.safe(error.message))")
    }
  }
}

extension InspectExitCode {
  /// How the tool ends when a file has this problem.
  package init(_ code: ProtectionError.Code) {
    self =
      switch code {
      case .notFound: .notFound
      case .locked: .locked
      case .wrongPasscode, .passcodeDelayed, .invalidArgument: .wrongPasscode
      case .corrupt, .missing, .wrongIdentity, .wrongClass, .rolledBack: .damaged
      case .unsupportedVersion: .newerVersion
      case .otherDevice, .keysMissing: .otherDevice
      default: .unavailable
      }
  }

  /// The worse one: damage counts more than a missing key.
  package func combined(with other: InspectExitCode) -> InspectExitCode {
    let order: [InspectExitCode] = [
      .success, .different, .notFound, .locked, .wrongPasscode, .unavailable, .newerVersion, .otherDevice, .damaged,
      .usage,
    ]
    return (order.firstIndex(of: self) ?? 0) < (order.firstIndex(of: other) ?? 0) ? other : self
  }
}
