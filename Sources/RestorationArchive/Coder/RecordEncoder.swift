/// Encodes the state of one node after another against shared tables.
package struct RecordEncoder: Sendable {
  /// What the encoded values find in their encoder's `userInfo`.
  package var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// The most levels that values may be nested in each other.
  package var depthLimit = 64

  /// Makes an encoder.
  package init(userInfo: [CodingUserInfoKey: any Sendable] = [:], depthLimit: Int = 64) {
    self.userInfo = userInfo
    self.depthLimit = depthLimit
  }

  /// Encodes entries in the given order and adds the keys and shapes they need to the tables.
  ///
  /// The same entries against the same tables give the same bytes. Of two entries with one key the last counts.
  /// When it throws (`encodingFailed` with the `EncodingError` as cause), the tables may have grown, to no harm.
  package func encode(
    _ entries: [RestorationArchive.Entry], tables: inout CodingTables
  ) throws(ArchiveError) -> [UInt8] { [] }
}
