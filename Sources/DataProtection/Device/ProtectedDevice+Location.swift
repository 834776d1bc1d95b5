extension ProtectedDevice {
  /// Where a device keeps its keys and files.
  public struct Location: Hashable, Sendable {
    private enum Kind: Hashable, Sendable {
      case applicationState(String)
      case directory(String)
    }

    private let kind: Kind

    private init(_ kind: Kind) {
      self.kind = kind
    }

    /// The place where this platform keeps the state of an application.
    ///
    /// On Linux that is `$XDG_STATE_HOME/<identifier>`, or `~/.local/state/<identifier>` when the variable isn't set
    /// or isn't an absolute path (XDG Base Directory Specification 0.8).
    ///
    /// Nothing is made there in another user's home, as a program would that was started with `sudo`: that is
    /// `unsafeLocation`.
    ///
    /// - Parameter identifier: The application's reverse-DNS identifier; a single path component.
    /// - Returns: The location.
    public static func applicationState(_ identifier: String) -> ProtectedDevice.Location {
      ProtectedDevice.Location(.applicationState(identifier))
    }

    /// A directory of the caller's choice.
    ///
    /// It must belong to the user alone (mode 0700). Opening a device makes it, with the directories above it, if it
    /// isn't there.
    ///
    /// - Parameter path: An absolute path.
    /// - Returns: The location.
    public static func directory(_ path: String) -> ProtectedDevice.Location {
      ProtectedDevice.Location(.directory(path))
    }
  }
}

extension ProtectedDevice.Location {
  /// Whether the user's home decides where this is, and not the caller.
  var isInHome: Bool { if case .applicationState = kind { true } else { false } }

  /// The absolute path of this location, found in an environment.
  ///
  /// - Parameter variables: Looks up an environment variable.
  /// - Throws: `invalidArgument` for an identifier that isn't a single path component, a path that isn't absolute,
  ///   or when no home directory is known.
  package func path(variables: (String) -> String?) throws(ProtectionError) -> String {
    switch kind {
    case .directory(let path):
      guard path.hasPrefix("/"), !path.utf8.contains(0) else {
        throw ProtectionError(
          .invalidArgument, "The device directory \"\(path)\" is not an absolute path; give one that is.")
      }
      return path
    case .applicationState(let identifier):
      let isComponent =
        !identifier.isEmpty && identifier != "." && identifier != ".."
        && !identifier.utf8.contains(UInt8(ascii: "/")) && !identifier.utf8.contains(0)
      guard isComponent else {
        throw ProtectionError(
          .invalidArgument,
          "The application identifier \"\(identifier)\" can't name a directory; use one like com.example.notes.")
      }
      if let state = variables("XDG_STATE_HOME"), state.hasPrefix("/") { return state + "/" + identifier }
      guard let home = variables("HOME"), home.hasPrefix("/") else {
        throw ProtectionError(
          .invalidArgument,
          "Neither XDG_STATE_HOME nor HOME is an absolute path; set one or choose a directory.")
      }
      return home + "/.local/state/" + identifier
    }
  }
}
