import DataProtection
import FaultyFileSystem
import FileSystem
import Foundation
import RestorationArchive
import Testing
import restore_inspect

/// What `verify --json` says.
struct VerifyReport: Decodable {
  struct File: Decodable {
    var directory: String
    var name: String
    var kind: String
    var outcome: String
    var slot: String?
    var path: String { directory.isEmpty ? name : "\(directory)/\(name)" }
  }
  struct Problem: Decodable {
    var directory: String
    var slot: String?
    var problem: String
  }
  var files: [File]
  var problems: [Problem]

  /// The outcome of the file at a path below the device.
  func outcome(_ path: String) -> String? { files.first { $0.path == path }?.outcome }
}

extension InspectedState {
  /// Checks everything, and that nothing was changed by it.
  func verifyEverything(
    _ options: String..., passcode: String? = nil
  ) async throws -> (code: InspectExitCode, report: VerifyReport) {
    let before = Self.everything(disk)
    let tool = InspectTool(
      environment: Self.environment(disk), style: InspectStyle(hasColours: false))
    let result = await tool.run(["verify", Self.path, "--json"] + options) { _ throws(InspectFailure) in
      guard let passcode else { return nil }
      do throws(ProtectionError) { return try ProtectedDevice.Passcode(passcode) } catch { throw InspectFailure(error) }
    }
    var after = Self.everything(disk)
    if passcode != nil { after["/device/attempts"] = before["/device/attempts"] }
    #expect(after == before, "verify changed something")
    return (result.code, try JSONDecoder().decode(VerifyReport.self, from: Data(result.output.utf8)))
  }

  /// Every file below the device, with its content.
  private static func everything(_ disk: MemoryFileSystem, _ path: String = Self.path) -> [String: [UInt8]] {
    guard disk.status(atPath: path)?.kind == .directory else { return [path: disk.content(atPath: path) ?? []] }
    var found: [String: [UInt8]] = [path: []]
    for name in disk.names(atPath: path) { found.merge(everything(disk, "\(path)/\(name)")) { $1 } }
    return found
  }

  /// Does something with the device as a program would.
  func onDevice(
    passcode: String? = nil, isLocked: Bool = false, _ body: @escaping @Sendable (ProtectedDevice) throws -> Void
  ) async throws {
    let device = try await ProtectedDevice.open(at: .directory(Self.path), environment: Self.environment(disk))
    if let passcode, !isLocked { try await device.unlock(passcode: ProtectedDevice.Passcode(passcode)) }
    try await Self.elsewhere { try body(device) }
  }

  @concurrent private static func elsewhere(_ body: @Sendable () throws -> Void) async throws { try body() }

  /// A whole archive with one node.
  nonisolated static func archive(_ draft: String) throws -> Data {
    var writer = RestorationArchive.Writer(
      context: RestorationArchive.Context(timeSaved: Date(timeIntervalSince1970: 1.7e9)))
    let root = try writer.insert("root")
    try writer.setRecord(
      of: root, entries: [RestorationArchive.Entry(key: "draft", value: draft)],
      attributes: RestorationArchive.Attributes())
    return try writer.makeArchive()
  }

  /// Adds an archive for another application or scene; returns the directory of its slot and the name of its file.
  func addArchive(
    _ application: String, _ scene: String, slot: String = "archive",
    protection: ProtectionClass = .complete, passcode: String? = nil, _ content: Data? = nil
  ) async throws -> String {
    let before = Set(generations)
    let content = try content ?? Self.archive("of \(application)")
    try await onDevice(passcode: passcode) { device in
      let slot = ArchiveSlot(application: application, scene: scene, slot: slot)
      try device.archives(for: slot, protection: protection).publish(content)
    }
    return try #require(Set(generations).subtracting(before).first)
  }

  /// Creates a protected file; returns the path of its content below the device.
  func addFile(
    _ name: String, _ protection: ProtectionClass, in directory: String = "drafts",
    passcode: String? = nil, contents: Data = Data("secret".utf8)
  ) async throws -> String {
    let before = Set(filePaths)
    try await onDevice(passcode: passcode) { device in
      try device.files(in: directory).create(name, contents: contents, protection: protection).close()
    }
    let added = Set(filePaths).subtracting(before).filter { $0.contains("/g-") }
    // The content, and the list of names, which is another generation each time.
    return try #require(
      added.max { size(of: $0, protection) < size(of: $1, protection) })
  }

  private var filePaths: [String] {
    Self.everything(disk, Self.path + "/files").keys
      .map { String($0.dropFirst(Self.path.count + 1)) }
  }

  /// A header says the class; the list of names has none.
  private func size(of path: String, _ protection: ProtectionClass) -> Int {
    let bytes = disk.content(atPath: "\(Self.path)/\(path)") ?? []
    return bytes.count > 10 && bytes[10] == protection.rawValue ? bytes.count : 0
  }
}
