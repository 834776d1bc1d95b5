package import DataProtection
import Foundation
import RestorationArchive

/// The tool: a command line in, text and an exit code out.
package struct InspectTool: Sendable {
  /// What a run came to.
  package struct Result: Sendable, Hashable {
    /// What goes to the standard output.
    package var output = ""
    /// What goes to the standard error; one line, or nothing.
    package var error = ""
    /// How the tool ends.
    package var code = InspectExitCode.success
  }

  private let environment: DeviceEnvironment
  private let style: InspectStyle

  /// Makes a tool.
  package init(environment: DeviceEnvironment = .system, style: InspectStyle) {
    self.environment = environment
    self.style = style
  }

  /// Does what the command line says.
  ///
  /// - Parameter passcode: Reads the passcode from where the command line says.
  package func run(
    _ words: [String], passcode: (InspectArguments.PasscodeSource) throws(InspectFailure) -> Passcode?
  ) async -> Result {
    do throws(InspectFailure) {
      let arguments = try InspectArguments(words)
      guard let verb = arguments.verb else { return Result(output: InspectHelp.text + "\n") }
      var style = style
      if arguments.isJSON { style.hasColours = false }
      let output = try await perform(verb, arguments, style, passcode)
      return Result(output: output.text(isJSON: arguments.isJSON), code: output.code)
    } catch {
      return Result(error: "restore-inspect: \(error.message)\n", code: error.code)
    }
  }

  private func perform(
    _ verb: InspectArguments.Verb, _ arguments: InspectArguments, _ style: InspectStyle,
    _ passcode: (InspectArguments.PasscodeSource) throws(InspectFailure) -> Passcode?
  ) async throws(InspectFailure) -> InspectOutput {
    let path = URL(filePath: arguments.path).standardizedFileURL.path
    if verb == .keybag { return try await InspectedKeybag.report(path, environment.fileSystem, style) }
    let device = try await InspectedDevice.open(path, environment: environment)
    if let passcode = try passcode(arguments.passcode) { try await device.unlock(passcode) }
    let slot = ArchiveSlot(
      application: arguments.application, scene: arguments.scene ?? SceneDefaults.scene, slot: arguments.slot)
    switch verb {
    case .tree: return try await device.archive(slot).tree(style)
    case .show:
      let node = RestorationPath((arguments.node ?? []).map { RestorationIdentifier($0) })
      return try await device.archive(slot).show(node, reveals: arguments.reveals, style)
    case .sizes: return try await device.archive(slot).sizes(style)
    case .diff:
      let newest = try await device.archive(slot)
      let older = try await device.archive(slot, predecessor: true)
      return newest.difference(since: older, reveals: arguments.reveals, style)
    case .verify: return await device.verify(slots(slot), in: path, style)
    case .export: return try await export(device, slot, path, arguments, style)
    case .keybag: return try await InspectedKeybag.report(path, environment.fileSystem, style)
    }
  }

  /// The slot asked for, and the snapshot that goes with an archive.
  private func slots(_ slot: ArchiveSlot) -> [ArchiveSlot] {
    guard slot.slot == "archive" else { return [slot] }
    var snapshot = slot
    snapshot.slot = "snapshot"
    return [slot, snapshot]
  }

  /// Everything in one piece; parts that can't be read say why, and the rest is there all the same.
  private func export(
    _ device: InspectedDevice, _ slot: ArchiveSlot, _ path: String, _ arguments: InspectArguments, _ style: InspectStyle
  ) async throws(InspectFailure) -> InspectOutput {
    let files = await device.verify(slots(slot), in: path, style)
    let keybag = try await InspectedKeybag.report(path, environment.fileSystem, style)
    var lines = ["Files"] + files.lines + ["", "Keybag"] + keybag.lines
    var parts: [String: JSONValue] = ["files": files.json, "keybag": keybag.json]
    var code = files.code
    do throws(InspectFailure) {
      let archive = try await device.archive(slot)
      let (tree, sizes) = (archive.tree(style), archive.sizes(style))
      lines += ["", "Tree"] + tree.lines + ["", "Sizes"] + sizes.lines + ["", "Values"]
      var values: [JSONValue] = []
      for node in archive.nodes {
        let shown = try archive.show(node.path, reveals: arguments.reveals, style)
        lines += [style.name("\(node.path)")] + shown.lines.map { "  " + $0 }
        values.append(shown.json)
      }
      parts["tree"] = tree.json
      parts["sizes"] = sizes.json
      parts["values"] = .array(values)
      code = code.combined(with: tree.code)
    } catch {
      lines += ["", style.bad(error.message)]
      parts["problem"] = .string(error.message)
      code = code.combined(with: error.code)
    }
    return InspectOutput(lines: lines, json: .object(parts), code: code)
  }
}
