internal import DataProtection

extension ProtectionError.Code {
  /// Whether the same may succeed later: it says nothing about what the files hold.
  var isTransient: Bool {
    switch self {
    case .locked, .busy, .io, .durabilityUnknown, .secretsUnavailable: true
    default: false
    }
  }
}
