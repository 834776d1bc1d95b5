/// Reads the list of a directory of protected files from bytes: for fuzzing.
package enum ProtectedFileIndexInspection {
  /// Takes a list apart.
  ///
  /// - Parameter bytes: Any bytes.
  /// - Returns: How many files it names.
  /// - Throws: `corrupt` or `unsupportedVersion` for what isn't a list.
  package static func open(_ bytes: [UInt8]) throws(ProtectionError) -> Int {
    try FileIndex(bytes).entries.count
  }
}
