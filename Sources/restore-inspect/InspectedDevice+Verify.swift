package import DataProtection
import Foundation

extension InspectedDevice {
  /// Reads everything whole and says of each file what became of it.
  @concurrent
  package func verify(_ slots: [ArchiveSlot], in path: String, _ style: InspectStyle) async -> InspectOutput {
    var lines: [String] = []
    var json: [JSONValue] = []
    var code = InspectExitCode.success
    var known: Set<String> = ["lock", "ledger"]
    var isEmpty = true
    for slot in slots {
      let (material, problem) = list(slot)
      isEmpty = isEmpty && material.isEmpty && problem == nil
      for file in material {
        known.insert(file.name)
        if let problem = file.problem { code = code.combined(with: InspectExitCode(problem)) }
        lines.append(Self.line(file, slot, style))
        json.append(Self.json(file, slot))
      }
      if let problem {
        code = code.combined(with: InspectExitCode(problem.code))
        lines.append(style.bad("\(slot.slot): \(InspectFailure(problem).message)"))
        json.append(.object(["slot": .string(slot.slot), "problem": .string(problem.code.description)]))
      }
    }
    let directory = (path as NSString).appendingPathComponent("archives")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    let others = names.filter { !known.contains($0) }.sorted()
    if !others.isEmpty {
      lines.append(style.detail("\(others.count) more files, of other applications, scenes or slots"))
      json += others.map { .object(["name": .string($0), "slot": .null]) }
    }
    if isEmpty, code == .success {
      code = .notFound
      lines.append(style.bad("Nothing is preserved here for this application and scene."))
    }
    return InspectOutput(lines: lines, json: .object(["files": .array(json)]), code: code)
  }

  private func list(_ slot: ArchiveSlot) -> (material: [ArchiveMaterial], problem: ProtectionError?) {
    do throws(ProtectionError) {
      let store = try store(slot)
      let material = try store.listMaterial()
      guard slot.slot == "archive", !material.isEmpty else { return (material, nil) }
      // The files are whole; now what is in them.
      do throws(ProtectionError) {
        let archive = try Self.read(try store.openNewest())
        guard let node = archive.nodes.first(where: { $0.problem != nil }) else { return (material, nil) }
        return (material, ProtectionError(.corrupt, "The node \(node.path) can't be read.", cause: node.problem))
      } catch {
        // What a file's own line says already needs no second one.
        return (material, material.contains { $0.problem == error.code } ? nil : error)
      }
    } catch {
      return ([], error.code == .notFound ? nil : error)
    }
  }

  private static func line(_ file: ArchiveMaterial, _ slot: ArchiveSlot, _ style: InspectStyle) -> String {
    let kind =
      switch file.kind {
      case .generation: file.isCurrent ? "generation, current" : "generation"
      case .pending: "pending generation"
      case .journal(let number): "journal \(number)"
      case .setAside: "set aside"
      case .marker: "crash marker"
      }
    let outcome = file.problem.map { style.bad($0.description) } ?? style.good("whole")
    let generation = file.generation.map { " \($0)" } ?? ""
    return "\(outcome)  \(style.name(file.name))  "
      + style.detail("\(slot.slot): \(kind)\(generation), \(readable(bytes: file.byteCount))")
  }

  private static func json(_ file: ArchiveMaterial, _ slot: ArchiveSlot) -> JSONValue {
    let kind =
      switch file.kind {
      case .generation: "generation"
      case .pending: "pending"
      case .journal: "journal"
      case .setAside: "setAside"
      case .marker: "marker"
      }
    return .object([
      "name": .string(file.name), "slot": .string(slot.slot), "kind": .string(kind),
      "generation": file.generation.map { .string($0.description) } ?? .null, "bytes": .count(file.byteCount),
      "isCurrent": .bool(file.isCurrent), "problem": .optional(file.problem?.description),
    ])
  }
}
