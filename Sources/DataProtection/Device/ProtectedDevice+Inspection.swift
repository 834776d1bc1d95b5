extension ProtectedDevice {
  /// Every archive on the device, whoever saved it; `nil` when there is nothing where they would be.
  ///
  /// Throws `missing` when there is a list of archives and no directory of them.
  package func inspectArchives() throws(ProtectionError) -> StoreInspection? {
    guard try stores.hasArchives() else { return nil }
    return try StoreInspection(try stores.archives())
  }

  /// The directories that may hold protected files, by the hashes that they are named by; their own names are sealed.
  ///
  /// Throws `io` when something else stands in the place of all of them.
  package func placesOfFiles() throws(ProtectionError) -> [String] {
    guard try stores.hasFiles() else { return [] }
    let digits = Set("0123456789abcdef".utf8)
    return try stores.filePlaces().filter { name in
      name.utf8.count == DeviceStores.placeByteCount * 2 && name.utf8.allSatisfy(digits.contains)
    }.sorted()
  }

  /// The protected files of one such directory; `nil` when it holds none.
  ///
  /// Throws as ``inspectArchives()`` does.
  package func inspectFiles(at place: String) throws(ProtectionError) -> StoreInspection? {
    guard try stores.hasFiles(at: place) else { return nil }
    return try StoreInspection(try stores.fileStore(at: place))
  }
}
