import DataProtection
import FileSystem

extension InspectedDevice {
  /// Reads everything in the scope whole and says of each file what became of it.
  @concurrent
  package func verify(_ scope: VerifyScope, _ style: InspectStyle) async throws(InspectFailure) -> InspectOutput {
    var check = DeviceCheck()
    check.check(DeviceCheck.archivesDirectory, scope) { () throws(ProtectionError) in try device.inspectArchives() }
    for (name, keybag) in try InspectedKeybag.read(path, fileSystem) {
      let outcome: VerifiedFile.Outcome =
        switch keybag {
        case .success: .whole
        case .failure(let error): .problem(error.code)
        }
      check.add(VerifiedFile(directory: "", name: name, kind: .keybag, outcome: outcome))
    }
    if !scope.isNarrow { checkFiles(&check) }
    for file in others(beside: check, scope) { check.add(file) }
    return report(check, scope, style)
  }

  /// Reads every directory of protected files; what each is called is sealed, and not needed.
  private func checkFiles(_ check: inout DeviceCheck) {
    do throws(ProtectionError) {
      for place in try device.placesOfFiles() {
        check.check("\(DeviceCheck.filesDirectory)/\(place)/archives", nil) { () throws(ProtectionError) in
          try device.inspectFiles(at: place)
        }
      }
    } catch {
      check.add(error, in: DeviceCheck.filesDirectory)
    }
  }

  /// Names that hold nothing to check: locks, and the mark for backup programs.
  private static let emptyNames: Set<String> = ["lock", "alone", "unnamed", "CACHEDIR.TAG"]

  /// Files that were not read, because they are out of the scope or no files of ours.
  private func others(beside check: DeviceCheck, _ scope: VerifyScope) -> [VerifiedFile] {
    let known = Set(check.files.map { "\($0.directory)/\($0.name)" })
    func others(in directory: String, but ours: Set<String> = []) -> [VerifiedFile] {
      names(in: directory).sorted().filter { name in
        !Self.emptyNames.contains(name) && !ours.contains(name) && !known.contains("\(directory)/\(name)")
      }.map { VerifiedFile(directory: directory, name: $0, kind: .other, outcome: .notRead) }
    }
    /// The entries of a store's directory, and of its slots' directories.
    func store(_ directory: String) -> [VerifiedFile] {
      let slots = names(in: directory).filter { name in known.contains { $0.hasPrefix("\(directory)/\(name)/") } }
      return others(in: directory, but: Set(slots)) + slots.sorted().flatMap { others(in: "\(directory)/\($0)") }
    }
    var all = store(DeviceCheck.archivesDirectory)
    if scope.isNarrow { return all }
    let places = Set((try? device.placesOfFiles()) ?? [])
    all += others(in: DeviceCheck.filesDirectory, but: places)
    for place in places.sorted() {
      let directory = "\(DeviceCheck.filesDirectory)/\(place)"
      all += others(in: directory, but: ["archives"]) + store("\(directory)/archives")
    }
    return all
  }

  private func report(_ check: DeviceCheck, _ scope: VerifyScope, _ style: InspectStyle) -> InspectOutput {
    let codes = check.files.map(\.code) + check.problems.map { InspectExitCode($0.error.code) }
    var code = codes.reduce(InspectExitCode.success) { $0.combined(with: $1) }
    var lines = check.files.map { $0.line(style) }
    lines += check.problems.map { problem in
      let place =
        problem.directory == DeviceCheck.archivesDirectory ? problem.slot ?? problem.directory : problem.directory
      return style.bad("\(place): \(InspectFailure(problem.error).message)")
    }
    if check.isEmpty {
      code = code.combined(with: .notFound)
      lines.append(
        style.bad("Nothing is preserved here\(scope.isNarrow ? " for this application and scene" : "")."))
    }
    return InspectOutput(
      lines: lines,
      json: .object([
        "files": .array(check.files.map(\.json)),
        "problems": .array(
          check.problems.map { problem in
            .object([
              "directory": .string(problem.directory), "slot": .optional(problem.slot),
              "problem": .string(problem.error.code.description),
            ])
          }),
      ]), code: code)
  }

  /// The names in a directory below the device's; none when it can't be listed.
  private func names(in directory: String) -> [String] {
    do throws(FileSystemError) {
      var parent = try fileSystem.openDirectory(atPath: path)
      defer { fileSystem.close(parent) }
      for name in directory.split(separator: "/") {
        let next = try fileSystem.openDirectory(String(name), in: parent)
        fileSystem.close(parent)
        parent = next
      }
      return try fileSystem.names(in: parent)
    } catch {
      return []
    }
  }
}
