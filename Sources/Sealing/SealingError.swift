/// Why a cryptographic operation could not be done.
///
/// The text never contains key bytes, nonces or content.
package struct SealingError: Error, Hashable, Sendable {
  /// The kind of failure.
  package let code: Code
  /// The failure and its remedy.
  package let message: String

  /// Puts an error together.
  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }
}

extension SealingError {
  /// What kind of failure an error tells of.
  package enum Code: Hashable, Sendable {
    /// The bytes were not made with this key, or were changed since: a tag, MAC, wrap or commitment doesn't fit.
    case authenticationFailed
    /// An input has a length that the algorithm excludes.
    case invalidLength
    /// An X25519 public key of low order: the shared secret would be all zeroes.
    case invalidPublicKey
    /// A parameter is out of the bounds set for it, such as scrypt's cost.
    case invalidParameter
    /// The arena was wiped by the kernel because this process is a fork: no key is left in it.
    case secretsLost
    /// The key was wiped before, because its class was locked.
    case keyWiped
    /// The operating system gave no memory for secrets.
    case memoryUnavailable
    /// The operating system gave no random bytes.
    case randomUnavailable
    /// libcrypto lacks the algorithm, or failed in a way that no input explains.
    case libraryFailure
  }
}

extension SealingError: CustomStringConvertible {
  /// The code and the message.
  package var description: String { "\(code): \(message)" }
}
