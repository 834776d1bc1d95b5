import DataProtection
import FoundationEssentials
import SimulatedTime
import Testing

/// The table of `ProtectionClass` and of the specification, cell by cell.
@Suite struct ClassTableTests {
  enum Moment: CaseIterable, Sendable {
    case noPasscode, unlocked, grace, locked, lockedBeforeFirstUnlock, rebooted, unlockedAgain
  }

  enum Operation: CaseIterable, Sendable {
    case create, open, read, truncate, readOldHandle, writeOldHandle, reopenCreatedNow, writeCreatedNow
    case changeFromNone, changeToNone, list, attributes, rename, delete
  }

  struct Cell: CustomTestStringConvertible, Sendable {
    let protection: ProtectionClass
    let moment: Moment
    let operation: Operation
    var testDescription: String { "\(protection) \(moment) \(operation)" }
  }

  static let cells = ProtectionClass.allCases.flatMap { protection in
    Moment.allCases.flatMap { moment in
      Operation.allCases.map { Cell(protection: protection, moment: moment, operation: $0) }
    }
  }

  /// Whether the table allows it; `nil` for what can't be asked.
  static func isAllowed(_ cell: Cell) -> Bool? {
    let isLocked = [.locked, .lockedBeforeFirstUnlock, .rebooted].contains(cell.moment)
    let isBeforeFirstUnlock = [.lockedBeforeFirstUnlock, .rebooted].contains(cell.moment)
    let canOpen: Bool
    let canCreate: Bool
    switch cell.protection {
    case .complete: (canOpen, canCreate) = (!isLocked, !isLocked)
    case .completeUnlessOpen: (canOpen, canCreate) = (!isLocked, true)
    case .completeUntilFirstUserAuthentication: (canOpen, canCreate) = (!isBeforeFirstUnlock, !isBeforeFirstUnlock)
    case .none: (canOpen, canCreate) = (true, true)
    }
    switch cell.operation {
    case .create: return canCreate
    case .open, .read, .truncate, .changeToNone: return canOpen
    case .reopenCreatedNow: return canCreate ? canOpen : nil
    case .writeCreatedNow: return canCreate ? true : nil
    case .changeFromNone: return canCreate
    case .readOldHandle, .writeOldHandle:
      // A handle that was open before the moment; before the first unlock of a process there can be none.
      if cell.moment == .lockedBeforeFirstUnlock { return nil }
      switch cell.protection {
      case .complete: return [.noPasscode, .unlocked, .grace].contains(cell.moment)
      // A reboot ends them, and the unlock after a mere lock doesn't matter to those that outlive it.
      case .completeUnlessOpen, .completeUntilFirstUserAuthentication: return cell.moment != .rebooted
      case .none: return true
      }
    case .list, .attributes, .rename, .delete: return true
    }
  }

  @Test(arguments: cells) func `the table says what is allowed`(_ cell: Cell) async throws {
    guard let isAllowed = Self.isAllowed(cell) else { return }
    let world = TestWorld()
    var device = try await world.open()
    if cell.moment != .noPasscode { try await device.setPasscode(ProtectedDevice.Passcode("1234")) }
    var files = try device.files(in: "table")
    try files.create("old", contents: Data("old".utf8), protection: cell.protection).close()
    try files.create("plain", contents: Data("plain".utf8), protection: ProtectionClass.none).close()
    let handle = try files.open("old")

    switch cell.moment {
    case .noPasscode, .unlocked: break
    case .grace: device.lock()
    case .locked:
      device.lock()
      try await world.finishLock(device)
    case .lockedBeforeFirstUnlock:
      device = try await world.open()
      files = try device.files(in: "table")
    case .rebooted: device.reboot()
    case .unlockedAgain:
      device.lock()
      try await world.finishLock(device)
      try await device.unlock(passcode: ProtectedDevice.Passcode("1234"))
    }

    let before = try files.list()
    let outcome = await code { try perform(cell, files, handle) }
    if isAllowed {
      #expect(outcome == nil)
    } else {
      #expect(outcome == .locked)
      // Creating had succeeded where only reopening is refused.
      if cell.operation != .reopenCreatedNow { #expect(try files.list() == before) }
    }
    // Whatever was refused, the data is there after the unlock.
    guard outcome != nil else { return }
    if device.lockState != .unlocked { try await device.unlock(passcode: ProtectedDevice.Passcode("1234")) }
    #expect(try files.read("old") == Data("old".utf8))
  }

  func perform(_ cell: Cell, _ files: ProtectedFiles, _ handle: ProtectedFiles.Handle) throws {
    let new = Data("new".utf8)
    switch cell.operation {
    case .create: try files.create("new", contents: new, protection: cell.protection)
    case .open: try files.open("old").close()
    case .read: #expect(try files.read("old") == Data("old".utf8))
    case .truncate: try files.write(Data(), to: "old")
    case .readOldHandle: #expect(try handle.readAll() == Data("old".utf8))
    case .writeOldHandle:
      try handle.write(new)
      #expect(try handle.readAll() == new)
    case .reopenCreatedNow:
      try files.create("new", contents: new, protection: cell.protection).close()
      #expect(try files.read("new") == new)
    case .writeCreatedNow:
      let created = try files.create("new", contents: Data(), protection: cell.protection)
      try created.write(new)
      #expect(try created.read(0..<2) == new.prefix(2))
    case .changeFromNone:
      try files.setProtection(cell.protection, of: "plain")
      #expect(try files.attributes(of: "plain").protection == cell.protection)
    case .changeToNone:
      try files.setProtection(.none, of: "old")
      #expect(try files.read("old") == Data("old".utf8))
    case .list: #expect(try files.list().map(\.name) == ["old", "plain"])
    case .attributes:
      let attributes = try files.attributes(of: "old")
      #expect(attributes.protection == cell.protection)
      #expect(attributes.byteCount == 3)
    case .rename:
      try files.rename("old", to: "renamed")
      #expect(try files.list().map(\.name) == ["plain", "renamed"])
    case .delete:
      try files.delete("old")
      #expect(try files.list().map(\.name) == ["plain"])
    }
  }
}
