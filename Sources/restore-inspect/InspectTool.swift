package import DataProtection
import Foundation
import RestorationArchive

/// The tool: a command line in, text and an exit code out.
package struct InspectTool: Sendable {
  /// What a run came to.
  package struct Result: Sendable, Hashable {
    /// The standard output.
    package var output = ""
    /// The standard error; one line, or nothing.
    package var error = ""
    /// How the tool ends.
    package var code = InspectExitCode.success
    /// What is to be written to a new file; nil for nothing.
    package var page: Page?
  }

  /// A file that a run makes.
  package struct Page: Sendable, Hashable {
    /// Where it goes.
    package let path: String
    /// What it holds.
    package let text: String
  }

  private let environment: DeviceEnvironment
  private let style: InspectStyle

  /// Makes a tool.
  package init(environment: DeviceEnvironment = .system, style: InspectStyle) {
    self.environment = environment
    self.style = style
  }

  /// Does what the command line says; with `--json` the output is one object, also of a failure.
  ///
  /// - Parameter passcode: Reads the passcode from where the command line says.
  package func run(
    _ words: [String], passcode: (InspectArguments.PasscodeSource) throws(InspectFailure) -> ProtectedDevice.Passcode?
  ) async -> Result {
    // Also of a command line that makes no sense.
    var isJSON = words.contains("--json")
    do throws(InspectFailure) {
      let arguments = try InspectArguments(words)
      guard let verb = arguments.verb else { return Result(output: InspectHelp.text + "\n") }
      isJSON = arguments.isJSON
      var style = style
      if isJSON { style.hasColours = false }
      if let html = arguments.html {
        guard verb == .export, !isJSON else {
          throw InspectFailure(.usage, "--html goes with export, and not with --json.")
        }
        style.hasColours = false
        let page = try await page(arguments, style, passcode)
        if html == "-" { return Result(output: page.text, code: page.code) }
        return Result(code: page.code, page: Page(path: html, text: page.text))
      }
      let output = try await perform(verb, arguments, style, passcode)
      return Result(output: output.text(isJSON: arguments.isJSON), code: output.code)
    } catch {
      let failure = InspectOutput(
        lines: [],
        json: .object(["error": .string(error.message), "exitStatus": .count(Int(error.code.rawValue))]))
      return Result(
        output: isJSON ? failure.text(isJSON: true) : "",
        error: "restore-inspect: \(InspectStyle.safe(error.message))\n", code: error.code)
    }
  }

  private func perform(
    _ verb: InspectArguments.Verb, _ arguments: InspectArguments, _ style: InspectStyle,
    _ passcode: (InspectArguments.PasscodeSource) throws(InspectFailure) -> ProtectedDevice.Passcode?
  ) async throws(InspectFailure) -> InspectOutput {
    let path = Self.absolute(arguments.path)
    switch verb {
    case .keybag: return try await InspectedKeybag.report(path, environment.fileSystem, style)
    case .list: return try await DeviceListing.report(arguments.path.isEmpty ? nil : path, environment, style)
    default: break
    }
    let device = try await open(path, arguments, passcode)
    let slot = try await device.slot(arguments)
    switch verb {
    case .tree: return try await device.archive(slot).tree(style)
    case .show:
      let node = RestorationPath((arguments.node ?? []).map { RestorationIdentifier($0) })
      return try await device.archive(slot).show(node, reveals: arguments.reveals, style)
    case .sizes: return try await device.archive(slot).sizes(style)
    case .diff:
      let archive = try await device.archive(slot)
      guard let newer = arguments.newerPath else {
        if case .olderGeneration(because: let reason) = archive.standing {
          throw InspectFailure(
            .damaged,
            "The newest generation can't be used\(reason.map { " (\($0))" } ?? ""), so there is nothing to compare.")
        }
        let older = try await device.archive(slot, predecessor: true)
        return archive.difference(since: older, reveals: arguments.reveals, style)
      }
      let other = try await open(Self.absolute(newer), arguments, passcode)
      return try await other.archive(slot).difference(since: archive, reveals: arguments.reveals, style)
    case .verify: return try await device.verify(VerifyScope(slot, isNarrow: arguments.namesSlot), style)
    case .export: return try await export(device, slot, arguments, style)
    case .keybag, .list: preconditionFailure("They need no device.")
    }
  }

  /// The page for a bug report.
  private func page(
    _ arguments: InspectArguments, _ style: InspectStyle,
    _ passcode: (InspectArguments.PasscodeSource) throws(InspectFailure) -> ProtectedDevice.Passcode?
  ) async throws(InspectFailure) -> (text: String, code: InspectExitCode) {
    let device = try await open(Self.absolute(arguments.path), arguments, passcode)
    var page = InspectPage(reveals: arguments.reveals)
    let listing = await DeviceListing(device)
    page.add(listing)
    var code = listing.code
    let named = arguments.namesSlot ? try await device.slot(arguments) : nil
    let slots = named.map { [$0] } ?? listing.archives
    if slots.isEmpty {
      page.addNote("There is no archive whose name is known: its ledger is gone, or nothing is preserved.")
    }
    for slot in slots {
      do throws(InspectFailure) {
        let newest = try await device.archive(slot)
        code = code.combined(with: newest.standingCode)
        page.add(newest, await device.others(slot), of: slot)
      } catch {
        code = code.combined(with: error.code)
        page.addNote(error.message, on: slot)
      }
    }
    let scope = VerifyScope(named ?? slots.first ?? arguments.defaultSlot, isNarrow: named != nil)
    let files = try await device.verify(scope, style)
    page.add("Every file", files.lines)
    code = code.combined(with: files.code)
    page.add("Keybag", try await InspectedKeybag.report(device.path, environment.fileSystem, style).lines)
    return (page.text, code)
  }

  /// Opens a device, and unlocks it when the command line says where its passcode comes from.
  private func open(
    _ path: String, _ arguments: InspectArguments,
    _ passcode: (InspectArguments.PasscodeSource) throws(InspectFailure) -> ProtectedDevice.Passcode?
  ) async throws(InspectFailure) -> InspectedDevice {
    let device = try await InspectedDevice.open(path, environment: environment)
    if let passcode = try passcode(arguments.passcode) { try await device.unlock(passcode) }
    return device
  }

  private static func absolute(_ path: String) -> String { URL(filePath: path).standardizedFileURL.path }

  /// Everything in one piece; parts that can't be read say why, and the rest is there all the same.
  private func export(
    _ device: InspectedDevice, _ slot: ArchiveSlot, _ arguments: InspectArguments, _ style: InspectStyle
  ) async throws(InspectFailure) -> InspectOutput {
    let files = try await device.verify(VerifyScope(slot, isNarrow: arguments.namesSlot), style)
    let keybag = try await InspectedKeybag.report(device.path, environment.fileSystem, style)
    var lines = ["Files"] + files.lines + ["", "Keybag"] + keybag.lines
    var parts: [String: JSONValue] = [
      "verify": files.json, "keybag": keybag.json, "tree": .null, "sizes": .null, "values": .array([]),
      "problem": .null,
    ]
    var code = files.code
    do throws(InspectFailure) {
      let archive = try await device.archive(slot)
      let redactsModels = !arguments.reveals
      let tree = archive.tree(redactsModels: redactsModels, style)
      let sizes = archive.sizes(redactsModels: redactsModels, style)
      lines += ["", "Tree"] + tree.lines + ["", "Sizes"] + sizes.lines + ["", "Values"]
      var values: [JSONValue] = []
      for node in archive.nodes {
        let shown = InspectedArchive.show(
          [node], at: node.path, redactsModels: redactsModels, reveals: arguments.reveals, style)
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
