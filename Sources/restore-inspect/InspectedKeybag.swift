import DataProtection
package import FileSystem

/// The keybags of a device's directory, as they say themselves; their keys are never shown.
package enum InspectedKeybag {
  /// Reads every keybag in a directory.
  @concurrent
  package static func report(
    _ path: String, _ fileSystem: any FileSystem, _ style: InspectStyle
  ) async throws(InspectFailure) -> InspectOutput {
    let found = try read(path, fileSystem)
    guard !found.isEmpty else {
      throw InspectFailure(.notFound, "There is no keybag in \(InspectStyle.safe(path)).")
    }
    var code = InspectExitCode.success
    var lines: [String] = []
    var json: [JSONValue] = []
    for (name, result) in found {
      switch result {
      case .success(let keybag):
        lines += Self.lines(keybag, name, style)
        json.append(Self.json(keybag, name))
      case .failure(let error):
        code = code.combined(with: InspectExitCode(error.code))
        lines.append("\(style.name(name)): \(style.bad("\(error.code): \(error.message)"))")
        json.append(problem(error, name))
      }
    }
    return InspectOutput(lines: lines, json: .object(["keybags": .array(json)]), code: code)
  }

  /// Every keybag in a directory, by its file's name, as far as its form tells; or why it has none.
  static func read(
    _ path: String, _ fileSystem: any FileSystem
  ) throws(InspectFailure) -> [(name: String, keybag: Result<KeybagSummary, ProtectionError>)] {
    do throws(FileSystemError) {
      let directory = try fileSystem.openDirectory(atPath: path)
      defer { fileSystem.close(directory) }
      var found: [(name: String, keybag: Result<KeybagSummary, ProtectionError>)] = []
      for name in try fileSystem.names(in: directory).sorted() where name.hasPrefix(KeybagSummary.fileNamePrefix) {
        found.append((name, Result { () throws(ProtectionError) in try read(name, in: directory, fileSystem) }))
      }
      return found
    } catch {
      let isAbsent = error.code == .noSuchFile || error.code == .notDirectory
      throw InspectFailure(
        isAbsent ? .notFound : .unavailable,
        isAbsent ? "There is no directory \(InspectStyle.safe(path))." : "\(InspectStyle.safe(path)): \(error)")
    }
  }

  private static func read(
    _ name: String, in directory: Descriptor, _ fileSystem: any FileSystem
  ) throws(ProtectionError) -> KeybagSummary {
    let bytes: [UInt8]
    do throws(FileSystemError) {
      let file = try fileSystem.openFile(name, in: directory, [])
      defer { fileSystem.close(file) }
      bytes = try fileSystem.readBytes(file, count: 65_536)
    } catch {
      switch error.code {
      case .symbolicLink, .isDirectory, .noSuchDevice:
        throw ProtectionError(.corrupt, "Something that is no regular file stands in a keybag's place.", cause: error)
      default:
        throw ProtectionError(
          .io, "The keybag can't be read; check its owner and mode.", errno: error.code.rawValue, cause: error)
      }
    }
    return try KeybagSummary(bytes)
  }

  /// The same keys for a keybag that can't be read, so that readers need no second shape.
  private static func problem(_ error: ProtectionError, _ name: String) -> JSONValue {
    .object([
      "name": .string(name), "identifier": .null, "revision": .null, "isForTests": .null, "scrypt": .null,
      "keys": .array([]), "problem": .string(error.code.description),
    ])
  }

  private static func lines(_ keybag: KeybagSummary, _ name: String, _ style: InspectStyle) -> [String] {
    var facts = ["revision \(keybag.revision)", "identifier \(keybag.identifier)"]
    if let cost = keybag.derivation {
      facts.append("passcode: scrypt N = 2^\(cost.workExponent), r = \(cost.blockSize), p = \(cost.parallelism)")
    } else {
      facts.append("no passcode")
    }
    if keybag.isForTests { facts.append("made for tests, refused by production") }
    return ["\(style.name(name))  \(style.detail(facts.joined(separator: ", ")))"]
      + keybag.keys.map { key in
        "  \(key.protection)  \(style.detail("key \(key.identifier)\(key.isRetired ? ", retired" : "")"))"
      }
  }

  private static func json(_ keybag: KeybagSummary, _ name: String) -> JSONValue {
    .object([
      "name": .string(name), "identifier": .string(keybag.identifier),
      "revision": .integer(Int64(clamping: keybag.revision)),
      "isForTests": .bool(keybag.isForTests),
      "problem": .null,
      "scrypt": keybag.derivation.map { cost in
        .object([
          "workExponent": .count(Int(cost.workExponent)), "blockSize": .count(Int(cost.blockSize)),
          "parallelism": .count(Int(cost.parallelism)),
        ])
      } ?? .null,
      "keys": .array(
        keybag.keys.map { key in
          .object([
            "class": .string("\(key.protection)"), "identifier": .string(key.identifier),
            "isRetired": .bool(key.isRetired),
          ])
        }),
    ])
  }
}
