import Foundation

/// The published vectors of the Wycheproof project, in the folder that `WYCHEPROOF_DIR` names.
///
/// `Tests/Fixtures/Vectors/prepare-wycheproof.py` makes that folder.
struct Wycheproof: Decodable {
  struct Test: Decodable {
    var tcId: Int
    var comment, result: String
    var flags: [String]
    var key, iv, aad, msg, ct, tag, ikm, salt, info, okm, `public`, `private`, shared, ctx, msgSha512: String?
    var size, msgLength: Int?

    var isValid: Bool { result == "valid" }
  }

  struct Group: Decodable {
    var keySize, ivSize, tagSize: Int?
    var tests: [Test]
  }

  var testGroups: [Group]

  /// The folder; `nil` when the variable isn't set.
  static let directory = ProcessInfo.processInfo.environment["WYCHEPROOF_DIR"].map { URL(filePath: $0) }

  /// What a skipped test says.
  static let hint = "WYCHEPROOF_DIR is not set, so the published vectors did not run; .ci/run sets it"

  static func read(_ name: String) throws -> Wycheproof {
    try JSONDecoder().decode(
      Wycheproof.self, from: Data(contentsOf: directory!.appending(path: name)))
  }
}
