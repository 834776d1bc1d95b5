import FileSystem

/// Whose home a new device would be made in.
enum HomeOwner {
  /// Throws `.unsafeLocation` when a directory would be made below one that another user owns, as a program does that was
  /// started with `sudo`: the user's own program could then not open what root has made, nor make anything beside it.
  ///
  /// Below directories of root everybody may make what they can.
  ///
  /// - Parameter path: Where nothing is yet.
  static func check(_ path: String, _ fileSystem: any FileSystem) throws(ProtectionError) {
    var components = path.split(separator: "/")
    while !components.isEmpty {
      components.removeLast()
      let above = "/" + components.joined(separator: "/")
      // A link says nothing about whose home it is in.
      guard let directory = try? fileSystem.openDirectory(atPath: above) else { continue }
      defer { fileSystem.close(directory) }
      let owner = try attempt("look at a directory") { () throws(FileSystemError) in
        try fileSystem.status(of: directory).owner
      }
      guard owner != fileSystem.currentUser, owner != 0 else { return }
      throw ProtectionError(
        .unsafeLocation,
        "\"\(above)\" belongs to user \(owner), and this program runs as user \(fileSystem.currentUser), perhaps with sudo. "
          + "Run it as that user, or set HOME or XDG_STATE_HOME to a directory of your own.")
    }
  }
}
