/// A failure of making or reading an archive or one coded value.
///
/// It never quotes state: text holds names, numbers and positions only.
package struct ArchiveError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure; compare with the static members.
  ///
  /// More may come in later versions.
  package struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The code's name, as printed.
    package let description: String

    /// Makes a code of this module.
    package init(_ description: String) {
      self.description = description
    }

    /// The bytes break the format.
    package static let corrupt = Code("corrupt")
    /// The bytes end before what they announce.
    package static let truncated = Code("truncated")
    /// The bytes are of a format version newer than this module knows.
    package static let unsupportedVersion = Code("unsupportedVersion")
    /// The bytes are no archive at all.
    package static let notAnArchive = Code("notAnArchive")
    /// A delta belongs to another base, or is out of order.
    package static let wrongBase = Code("wrongBase")
    /// A limit on archives, or one of the format, was passed.
    package static let limitExceeded = Code("limitExceeded")
    /// No node has this number or path.
    package static let noSuchNode = Code("noSuchNode")
    /// A sibling already has this identifier.
    package static let duplicateIdentifier = Code("duplicateIdentifier")
    /// A change would make the tree something else than a tree.
    package static let invalidTree = Code("invalidTree")
    /// A value could not be encoded; see the cause.
    package static let encodingFailed = Code("encodingFailed")
    /// A value could not be decoded; see the cause.
    package static let decodingFailed = Code("decodingFailed")
    /// No value was stored under this key.
    package static let keyNotFound = Code("keyNotFound")
    /// A change would alter a part of the archive that can't be read now.
    package static let partAway = Code("partAway")
    /// The supplier of the bytes failed; see the cause.
    package static let sourceFailed = Code("sourceFailed")
  }

  /// The kind of failure.
  package var code: Code
  /// The node concerned; nil when no node is.
  package var path: RestorationPath?
  /// The part of an archive of several whose bytes it is about; nil when there is one part, and when it is about none.
  package var part: RestorationArchive.Part?
  /// The position in bytes, counted from the start of what `message` names; nil when there is none.
  package var offset: Int?
  /// The failure, then the remedy.
  package var message: String
  /// The error underneath, such as a `DecodingError` or the source's own; its own description may quote state.
  package var cause: (any Error)?

  /// Makes an error.
  package init(
    _ code: Code, _ message: String, path: RestorationPath? = nil, offset: Int? = nil,
    cause: (any Error)? = nil
  ) {
    self.code = code
    self.path = path
    self.offset = offset
    self.message = message
    self.cause = cause
  }

  /// The error of a number that no node has.
  static func noSuchNode(_ id: NodeID) -> ArchiveError { ArchiveError(.noSuchNode, "there is no node \(id)") }

  /// The error of values that are nested in each other over a limit.
  static func tooDeep(limit: Int, at offset: Int? = nil) -> ArchiveError {
    ArchiveError(
      .limitExceeded,
      "the depth of the value is over the limit of \(limit) levels; make it flatter, or raise the limit",
      offset: offset)
  }

  /// The error as `Codable` knows it.
  func decodingError(_ path: [any CodingKey]) -> DecodingError {
    let fault = code == .limitExceeded ? "over a limit" : "damaged"
    return .dataCorrupted(
      DecodingError.Context(
        codingPath: path, debugDescription: "The bytes are \(fault) at byte \(offset ?? 0): \(message).",
        underlyingError: self))
  }

  /// One line: the code, the message, then the place and the kind of the cause.
  ///
  /// It quotes no state: an error of the program's, or of `Codable`'s, is told by its kind and the types it names; see
  /// ``cause`` for its own words.
  package var description: String {
    var text = "\(code): \(message)"
    if let path { text += " (at \(path))" }
    if let part { text += " (part \(part.rawValue))" }
    if let offset { text += " (byte \(offset))" }
    if let cause { text += ": \(cause.descriptionWithoutState)" }
    return text
  }
}
