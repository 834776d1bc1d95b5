/// Why bytes could not be read, before it is known which error to make of it.
struct CodingFailure: Error {
  /// What is wrong.
  let message: String
  /// Where, in bytes from the start of what was given to read.
  let offset: Int
  /// The kind of failure.
  let code: ArchiveError.Code

  init(_ message: String, at offset: Int, code: ArchiveError.Code = .corrupt) {
    self.message = message
    self.offset = offset
    self.code = code
  }

  /// The failure as an error of this module.
  var archiveError: ArchiveError { ArchiveError(code, message, offset: offset) }

  /// The failure as `Codable` knows it.
  func decodingError(_ path: [any CodingKey]) -> DecodingError {
    .dataCorrupted(
      DecodingError.Context(
        codingPath: path, debugDescription: "The bytes are damaged at byte \(offset): \(message).",
        underlyingError: archiveError))
  }
}
