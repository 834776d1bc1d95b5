package import DataProtection
import FileSystem
import Foundation
import RestorationArchive
import StateRestoration

/// A device opened for looking: nothing is changed, but for the counter of wrong passcodes.
package struct InspectedDevice: Sendable {
  /// The opened device.
  package let device: ProtectedDevice

  /// The directory it lies in.
  package let path: String

  private let disk: ReadOnlyFileSystem

  /// The disk, which refuses changes.
  var fileSystem: any FileSystem { disk }

  /// Opens the device in a directory.
  @concurrent
  package static func open(
    _ path: String, environment: DeviceEnvironment
  ) async throws(InspectFailure) -> InspectedDevice {
    let disk = ReadOnlyFileSystem(environment.fileSystem)
    var environment = environment
    environment.fileSystem = disk
    let device: ProtectedDevice
    do throws(ProtectionError) {
      device = try await ProtectedDevice.open(at: .directory(path), environment: environment)
    } catch {
      // Making something anew was refused: there was nothing.
      let wasRefused = disk.refusals.contains { $0 == .makeDirectory || $0 == .rename }
      let isAbsent = (error.cause as? FileSystemError)?.code == .noSuchFile
      if error.code == .io, wasRefused || isAbsent {
        throw InspectFailure(.notFound, "There is no device in \(InspectStyle.safe(path)).")
      }
      throw InspectFailure(error)
    }
    guard device.isMade else {
      throw InspectFailure(.notFound, "There is no device in \(InspectStyle.safe(path)).")
    }
    return InspectedDevice(device: device, path: path, disk: disk)
  }

  /// Unlocks with a passcode; a wrong one is counted.
  package func unlock(_ passcode: consuming ProtectedDevice.Passcode) async throws(InspectFailure) {
    disk.countAttempts(true)
    defer { disk.countAttempts(false) }
    do throws(ProtectionError) { try await device.unlock(passcode: passcode) } catch { throw InspectFailure(error) }
  }

  /// The store of a slot, whatever class its generations have.
  func store(_ slot: ArchiveSlot) throws(ProtectionError) -> ArchiveStore {
    let store = try device.archives(for: slot)
    store.keepState()
    return store
  }

  /// Reads the newest generation of a slot, or the one before it.
  @concurrent
  package func archive(
    _ slot: ArchiveSlot, predecessor: Bool = false
  ) async throws(InspectFailure) -> InspectedArchive {
    do throws(ProtectionError) {
      let store = try store(slot)
      if predecessor { return try Self.read(store.openPredecessorParts()) }
      let newest = try store.openNewestParts()
      do throws(ProtectionError) {
        return try Self.read(newest)
      } catch  where error.code == .corrupt && newest.standing == .current {
        // A program that restores reads the whole state, and takes the one before it then.
        guard let older = try? Self.read(store.openPredecessorParts(), insteadOf: error.code) else { throw error }
        return older
      }
    } catch {
      if (error.cause as? ArchiveError)?.code == .notAnArchive, !VerifyScope.holdsArchive(slot.slot) {
        throw InspectFailure(.notFound, "The slot “\(InspectStyle.safe(slot.slot))” is whole, but holds no archive.")
      }
      if error.code == .notFound {
        if predecessor {
          throw InspectFailure(.notFound, "There is only one generation, nothing to compare it with.")
        }
        let others = await names().filter { VerifyScope.holdsArchive($0.slot) }
        throw InspectFailure(
          .notFound,
          "Nothing is preserved for application “\(InspectStyle.safe(slot.application))”, "
            + "scene “\(InspectStyle.safe(slot.shownScene))”, slot “\(InspectStyle.safe(slot.slot))”."
            + (others.isEmpty ? "" : " There is: \(Self.texts(others))."))
      }
      throw InspectFailure(error)
    }
  }

  /// The generations of a slot beside the newest: the one before, and those that are set aside, the newest first.
  ///
  /// Those that can't be read are left out.
  @concurrent
  package func others(_ slot: ArchiveSlot) async -> [(name: String, archive: InspectedArchive)] {
    guard let store = try? store(slot) else { return [] }
    var found: [(String, InspectedArchive)] = []
    if let before = try? Self.read(store.openPredecessorParts()) { found.append(("the one before", before)) }
    for record in ((try? store.setAsideRecords()) ?? []).reversed() {
      let number = Generation(rawValue: record.generation)
      if let aside = try? Self.read(store.openSetAsideParts(number)) { found.append(("set aside", aside)) }
    }
    return found
  }

  /// Reads an opened generation; a fault of the archive inside comes out as an error of the file.
  ///
  /// - Parameter reason: What is wrong with the newest one, if this one is read in its place.
  static func read(
    _ opened: OpenedGeneration, insteadOf reason: ProtectionError.Code? = nil
  ) throws(ProtectionError) -> InspectedArchive {
    do throws(ArchiveError) {
      return try InspectedArchive(
        RestorationArchive.PartedReader(opened), classes: opened.classes,
        generation: opened.generation, standing: reason.map { .olderGeneration(because: $0) } ?? opened.standing,
        droppedBytes: opened.parts.reduce(0) { $0 + ($1.archive?.tailDropped ?? 0) })
    } catch {
      throw ProtectionError(inArchive: error)
    }
  }
}

extension ProtectionError {
  /// The fault of a file's content.
  init(inArchive error: ArchiveError) {
    if let cause = error.cause as? ProtectionError {
      self = cause
    } else {
      self.init(error.code == .unsupportedVersion ? .unsupportedVersion : .corrupt, error.message, cause: error)
    }
  }
}
