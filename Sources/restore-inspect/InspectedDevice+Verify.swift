package import DataProtection
import FileSystem

extension InspectedDevice {
  /// Reads everything whole and says of each file what became of it.
  @concurrent
  package func verify(_ slots: [ArchiveSlot], _ style: InspectStyle) async throws(InspectFailure) -> InspectOutput {
    var files: [VerifiedFile] = []
    var problems: [(slot: ArchiveSlot, problem: ProtectionError)] = []
    for slot in slots {
      let (found, problem) = list(slot)
      files += found
      if let problem { problems.append((slot, problem)) }
    }
    let isEmpty = files.isEmpty && problems.isEmpty
    if let ledger = checkLedger(slots[0]) { files.append(ledger) }
    for (name, keybag) in try InspectedKeybag.read(path, fileSystem) {
      let outcome: VerifiedFile.Outcome =
        switch keybag {
        case .success: .whole
        case .failure(let error): .problem(error.code)
        }
      files.append(VerifiedFile(name: name, kind: .keybag, outcome: outcome))
    }
    files += others(than: Set(files.map(\.name)))
    let codes = problems.map { InspectExitCode($0.problem.code) } + files.map(\.code)
    var code = codes.reduce(InspectExitCode.success) { $0.combined(with: $1) }
    var lines = files.map { $0.line(style) }
    lines += problems.map { style.bad("\($0.slot.slot): \(InspectFailure($0.problem).message)") }
    if isEmpty {
      code = code.combined(with: .notFound)
      lines.append(style.bad("Nothing is preserved here for this application and scene."))
    }
    return InspectOutput(
      lines: lines,
      json: .object([
        "files": .array(files.map(\.json)),
        "problems": .array(
          problems.map { .object(["slot": .string($0.slot.slot), "problem": .string($0.problem.code.description)]) }),
      ]), code: code)
  }

  private func list(_ slot: ArchiveSlot) -> (files: [VerifiedFile], problem: ProtectionError?) {
    do throws(ProtectionError) {
      let store = try store(slot)
      let material = try store.listMaterial()
      let files = material.map { VerifiedFile($0, slot: slot) }
      guard slot.slot == "archive", !material.isEmpty else { return (files, nil) }
      // The files are whole; now what is in them.
      do throws(ProtectionError) {
        let archive = try Self.read(try store.openNewest(checkingFrames: true))
        if archive.droppedBytes > 0, !material.contains(where: { $0.problem == .corrupt }) {
          return (
            files,
            ProtectionError(.corrupt, "The last \(archive.droppedBytes) bytes of the journal are not whole.")
          )
        }
        guard let node = archive.nodes.first(where: { $0.problem != nil }) else { return (files, nil) }
        return (files, ProtectionError(.corrupt, "The node \(node.path) can't be read.", cause: node.problem))
      } catch {
        // What a file's own line says already needs no second one.
        return (files, material.contains { $0.problem == error.code } ? nil : error)
      }
    } catch {
      return ([], error.code == .notFound ? nil : error)
    }
  }

  private func checkLedger(_ slot: ArchiveSlot) -> VerifiedFile? {
    let names = names(in: "archives")
    if names.isEmpty { return nil }
    do throws(ProtectionError) {
      let problem = try device.archives(for: slot).ledgerProblem()
      guard problem != nil || names.contains("ledger") else { return nil }
      return VerifiedFile(name: "ledger", kind: .ledger, outcome: problem.map { .problem($0) } ?? .whole)
    } catch {
      return VerifiedFile(name: "ledger", kind: .ledger, outcome: .problem(error.code))
    }
  }

  /// Names in the store that hold nothing.
  private static let emptyNames: Set<String> = ["lock", "CACHEDIR.TAG"]

  /// Files of the store that belong to something else.
  private func others(than known: Set<String>) -> [VerifiedFile] {
    names(in: "archives").filter { !known.contains($0) && !Self.emptyNames.contains($0) }.sorted().map { name in
      VerifiedFile(name: name, kind: .other, outcome: .notRead)
    }
  }

  private func names(in subdirectory: String) -> [String] {
    do throws(FileSystemError) {
      let parent = try fileSystem.openDirectory(atPath: path)
      defer { fileSystem.close(parent) }
      let directory = try fileSystem.openDirectory(subdirectory, in: parent)
      defer { fileSystem.close(directory) }
      return try fileSystem.names(in: directory)
    } catch {
      return []
    }
  }
}
