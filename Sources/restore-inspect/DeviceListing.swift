package import DataProtection
import FileSystem
import Foundation

/// What there is on a device: a table of its archives and protected files, none of which is opened.
///
/// That needs no passcode: names, times, sizes and classes are not what a passcode protects.
package struct DeviceListing: Sendable {
  /// One slot of the archives.
  package struct Archive: Sendable {
    /// The hash that its directory is called by.
    package let directory: String
    /// What its ledger says.
    package let summary: SlotSummary
  }

  /// One directory of protected files.
  package struct Files: Sendable {
    /// The hash that it is called by.
    let place: String
    /// Its name; nil if the ledger of its list doesn't say.
    var name: String?
    /// So many files are in it.
    var count = 0
    var byteCount = 0
  }

  /// Where the device is.
  package let path: String
  /// Whether a passcode protects it.
  let hasPasscode: Bool
  /// By application, scene and slot; those without a name come last.
  package private(set) var slots: [Archive] = []
  private(set) var files: [Files] = []
  /// What could not be looked at, and why.
  private(set) var problems: [(what: String, error: ProtectionError)] = []

  /// Looks at a device.
  @concurrent
  package init(_ device: InspectedDevice) async {
    path = device.path
    hasPasscode = device.device.hasPasscode
    do throws(ProtectionError) {
      if let store = try device.device.inspectArchives() {
        for name in store.slots { add(name, store) }
        if let code = store.listProblem {
          problems.append(("the list of archives", ProtectionError(code, "Its list of archives can't be used.")))
        }
      }
    } catch {
      problems.append(("the archives", error))
    }
    do throws(ProtectionError) {
      for place in try device.device.placesOfFiles() { addFiles(place, device) }
    } catch {
      problems.append(("the protected files", error))
    }
    slots.sort { Self.key($0).lexicographicallyPrecedes(Self.key($1)) }
  }

  private static func key(_ archive: Archive) -> [String] {
    guard let slot = archive.summary.slot else { return ["1", archive.directory] }
    return ["0", slot.application, slot.scene, slot.slot]
  }

  private mutating func add(_ name: SlotName, _ store: StoreInspection) {
    do throws(ProtectionError) {
      let summary = try store.summary(of: name)
      // A directory that a program has opened, or somebody has made, and nothing was saved in.
      let isEmpty = summary.slot == nil && summary.problem == nil && summary.byteCount == 0
      if !isEmpty { slots.append(Archive(directory: name.text, summary: summary)) }
    } catch {
      problems.append((name.text, error))
    }
  }

  private mutating func addFiles(_ place: String, _ device: InspectedDevice) {
    var found = Files(place: place)
    do throws(ProtectionError) {
      guard let store = try device.device.inspectFiles(at: place) else { return }
      for name in store.slots {
        let summary = try store.summary(of: name)
        found.byteCount += summary.byteCount
        // The list of the names is a slot of its own, and the only one that has a name.
        if let slot = summary.slot { found.name = slot.scene } else { found.count += 1 }
      }
      files.append(found)
    } catch {
      problems.append((place, error))
    }
  }

  /// The archives that can be named and shown: those of scenes, and lists of scenes.
  package var archives: [ArchiveSlot] {
    slots.compactMap(\.summary.slot).filter { VerifyScope.holdsArchive($0.slot) }
  }

  /// How the tool ends because of it.
  package var code: InspectExitCode {
    if slots.isEmpty && files.isEmpty && problems.isEmpty { return .notFound }
    return (slots.compactMap(\.summary.problem) + problems.map(\.error.code)).map { InspectExitCode($0) }
      .reduce(.success) { $0.combined(with: $1) }
  }

  // MARK: Output

  /// What the columns are called.
  static let columns = ["application", "scene", "slot", "generation", "written", "size", "class"]

  /// The cells of a slot, below ``columns``.
  static func cells(_ archive: Archive) -> [String] {
    let summary = archive.summary
    let names = summary.slot.map { [$0.application, $0.shownScene, $0.slot] } ?? ["?", "?", archive.directory]
    return names
      + [
        summary.generation.map { "\($0)" } ?? "",
        summary.savedAt.map { readable(Date(timeIntervalSince1970: $0)) } ?? "",
        readable(bytes: summary.byteCount), summary.parts.map { "\($0.protection)" }.joined(separator: ", "),
      ]
  }

  /// One line for each part of a generation that has several: its place, class and size.
  static func parts(_ archive: Archive) -> [String] {
    guard archive.summary.parts.count > 1 else { return [] }
    return archive.summary.parts.map { part in
      "part \(part.place.rawValue): \(part.protection), "
        + (part.byteCount > 0 ? readable(bytes: part.byteCount) : "missing")
    }
  }

  /// What else there is to say of a slot.
  static func notes(_ archive: Archive) -> [String] {
    var notes: [String] = []
    if archive.summary.pendingCount > 0 { notes.append("\(archive.summary.pendingCount) saved while locked") }
    if archive.summary.setAsideCount > 0 { notes.append("\(archive.summary.setAsideCount) set aside") }
    return notes
  }

  /// The table as text.
  func lines(_ style: InspectStyle) -> [String] {
    var lines = [style.name(path) + "  " + style.detail(hasPasscode ? "has a passcode" : "has no passcode")]
    if !slots.isEmpty {
      let rows = slots.map { Self.cells($0).map { InspectStyle.safe($0) } }
      let widths = Self.columns.indices.map { column in
        ([Self.columns] + rows).map { $0[column].count }.max() ?? 0
      }
      func row(_ cells: [String]) -> String {
        zip(cells, widths).map { $0 + String(repeating: " ", count: max(0, $1 - $0.count)) }.joined(separator: "  ")
      }
      lines.append("  " + style.detail(row(Self.columns)))
      for (archive, cells) in zip(slots, rows) {
        let notes = Self.notes(archive)
        let problem = archive.summary.problem.map { "  " + style.bad("\($0)") } ?? ""
        lines.append(
          "  " + row(cells) + (notes.isEmpty ? "" : "  " + style.notice("[\(notes.joined(separator: ", "))]")) + problem
        )
        lines += Self.parts(archive).map { "    " + style.detail($0) }
      }
    }
    for files in files {
      let name = files.name.map { "“\($0)”" } ?? files.place
      lines.append(
        "  protected files \(style.name(name))  "
          + style.detail("\(files.count) \(files.count == 1 ? "file" : "files"), \(readable(bytes: files.byteCount))"))
    }
    lines += problems.map { "  " + style.bad("\($0.what): \(InspectFailure($0.error).message)") }
    if code == .notFound { lines.append("  " + style.bad("Nothing is preserved here.")) }
    return lines
  }

  /// The same as a value.
  var json: JSONValue {
    .object([
      "path": .string(path), "hasPasscode": .bool(hasPasscode), "problem": .null,
      "slots": .array(
        slots.map { archive in
          let summary = archive.summary
          return .object([
            "application": .optional(summary.slot?.application), "scene": .optional(summary.slot?.shownScene),
            "slot": .optional(summary.slot?.slot), "directory": .string(archive.directory),
            "generation": .optional(summary.generation.map { "\($0)" }),
            "writtenAt": .optional(summary.savedAt.map { readable(Date(timeIntervalSince1970: $0)) }),
            "bytes": .count(summary.byteCount), "class": .optional(summary.protection.map { "\($0)" }),
            "parts": .array(
              summary.parts.map { part in
                .object([
                  "place": .count(Int(part.place.rawValue)), "class": .string("\(part.protection)"),
                  "bytes": .count(part.byteCount),
                ])
              }),
            "pending": .count(summary.pendingCount), "setAside": .count(summary.setAsideCount),
            "problem": .optional(summary.problem.map { "\($0)" }),
          ])
        }),
      "files": .array(
        files.map { files in
          .object([
            "name": .optional(files.name), "directory": .string(files.place), "count": .count(files.count),
            "bytes": .count(files.byteCount),
          ])
        }),
      "problems": .array(
        problems.map { .object(["what": .string($0.what), "problem": .string($0.error.code.description)]) }),
    ])
  }
}

// MARK: Devices

extension DeviceListing {
  /// The table of a device, or of all those of the user.
  ///
  /// - Parameter path: The device's directory; nil for all where programs keep their state.
  static func report(
    _ path: String?, _ environment: DeviceEnvironment, _ style: InspectStyle
  ) async throws(InspectFailure) -> InspectOutput {
    if let path {
      let listing = await DeviceListing(try await InspectedDevice.open(path, environment: environment))
      return InspectOutput(
        lines: listing.lines(style), json: .object(["devices": .array([listing.json])]), code: listing.code)
    }
    let state = try stateDirectory(environment)
    var output = InspectOutput(lines: [], json: .null)
    var devices: [JSONValue] = []
    for path in Self.devices(in: state, environment.fileSystem) {
      do throws(InspectFailure) {
        let listing = await DeviceListing(try await InspectedDevice.open(path, environment: environment))
        output.lines += listing.lines(style)
        devices.append(listing.json)
        output.code = output.code.combined(with: listing.code == .notFound ? .success : listing.code)
      } catch {
        output.lines += [style.name(path), "  " + style.bad(error.message)]
        devices.append(.object(["path": .string(path), "problem": .string(error.message)]))
        output.code = output.code.combined(with: error.code)
      }
    }
    guard !devices.isEmpty else {
      throw InspectFailure(
        .notFound, "There is no device in \(InspectStyle.safe(state)); give the directory of one.")
    }
    output.json = .object(["devices": .array(devices)])
    return output
  }

  /// Where the programs of this user keep their state.
  private static func stateDirectory(_ environment: DeviceEnvironment) throws(InspectFailure) -> String {
    do throws(ProtectionError) {
      let path = try ProtectedDevice.Location.applicationState("x").path(variables: environment.variables)
      return String(path.dropLast("/x".count))
    } catch {
      throw InspectFailure(
        .usage, "Give the directory of a device: neither XDG_STATE_HOME nor HOME says where programs keep their state.")
    }
  }

  /// The directories in a directory that have a keybag.
  private static func devices(in state: String, _ fileSystem: any FileSystem) -> [String] {
    func names(_ path: String) -> [String] {
      guard let directory = try? fileSystem.openDirectory(atPath: path) else { return [] }
      defer { fileSystem.close(directory) }
      return (try? fileSystem.names(in: directory)) ?? []
    }
    return names(state).sorted().map { "\(state)/\($0)" }.filter { path in
      names(path).contains { $0.hasPrefix("keybag-") }
    }
  }
}

// MARK: Naming one

extension InspectArguments {
  /// The slot that the command line names, with the defaults for what it doesn't name.
  package var defaultSlot: ArchiveSlot {
    ArchiveSlot(
      application: application ?? SceneDefaults.application, scene: scene ?? SceneDefaults.scene, slot: slot)
  }
}

extension InspectedDevice {
  /// The slot that a command line means: the one that it names, or the one that there is.
  ///
  /// What the command line does not name is found out from the ledgers. Of several the one with the default names is meant; when
  /// there is none, they are listed in the error.
  package func slot(_ arguments: InspectArguments) async throws(InspectFailure) -> ArchiveSlot {
    let wanted = arguments.defaultSlot
    if arguments.application != nil, arguments.scene != nil { return wanted }
    let fitting = await names().filter { slot in
      slot.slot == arguments.slot && slot.application == arguments.application ?? slot.application
        && slot.scene == arguments.scene ?? slot.scene
    }
    if fitting.isEmpty || fitting.contains(wanted) || isListed(wanted) { return wanted }
    guard fitting.count == 1 else {
      throw InspectFailure(
        .usage, "There are several; name one with --application and --scene: \(Self.texts(fitting)).")
    }
    return fitting[0]
  }

  /// The names of all slots that can be named.
  @concurrent
  func names() async -> [ArchiveSlot] { await DeviceListing(self).slots.compactMap(\.summary.slot) }

  /// Whether a slot has a directory, or ought to have one.
  private func isListed(_ slot: ArchiveSlot) -> Bool {
    guard let store = try? device.inspectArchives(), let name = try? store.slot(of: slot) else { return false }
    return store.slots.contains(name)
  }

  /// Slots for people, a dozen at most.
  static func texts(_ slots: [ArchiveSlot]) -> String {
    let most = 12
    let texts = slots.prefix(most).map { slot in
      "application “\(InspectStyle.safe(slot.application))”, scene “\(InspectStyle.safe(slot.shownScene))”"
    }
    return texts.joined(separator: "; ") + (slots.count > most ? "; and \(slots.count - most) more" : "")
  }
}
