internal import DataProtection

extension ProtectionError.Code {
  /// Whether the same may succeed later: it says nothing about what the files hold.
  var saysTryAgain: Bool {
    switch self {
    case .locked, .busy, .io, .durabilityUnknown, .secretsUnavailable: true
    default: false
    }
  }
}
