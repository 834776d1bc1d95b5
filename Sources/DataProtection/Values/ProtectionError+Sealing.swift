package import Sealing

extension ProtectionError {
  /// Says in the caller's terms why a cryptographic operation failed.
  ///
  /// - Parameters:
  ///   - error: What the sealing module threw.
  ///   - what: The action that failed: "open the keybag".
  package init(_ error: SealingError, while what: String) {
    let code: Code =
      switch error.code {
      case .authenticationFailed, .invalidLength, .invalidPublicKey, .invalidParameter: .corrupt
      case .keyWiped: .locked
      case .secretsLost, .memoryUnavailable, .randomUnavailable, .libraryFailure: .secretsUnavailable
      }
    self.init(code, "Could not \(what): \(error.message)", cause: error)
  }
}

/// Runs a cryptographic operation and says in words what failed.
package func sealing<R: ~Copyable>(
  _ what: @autoclosure () -> String, _ body: () throws(SealingError) -> R
) throws(ProtectionError) -> R {
  do throws(SealingError) {
    return try body()
  } catch {
    throw ProtectionError(error, while: what())
  }
}
