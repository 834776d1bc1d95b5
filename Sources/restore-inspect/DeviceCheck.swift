import DataProtection
import RestorationArchive
import StateRestoration

/// A check under way: every file that was read so far, and the faults beyond the files.
struct DeviceCheck {
  /// A fault of something, although each of its files may be whole.
  struct Problem {
    let directory: String
    /// Its purpose, or the beginning of its files' names; `nil` for the whole store.
    let slot: String?
    let error: ProtectionError
  }

  /// The directory of the archives.
  static let archivesDirectory = "archives"
  /// The directory of the protected files.
  static let filesDirectory = "files"

  private(set) var files: [VerifiedFile] = []
  private(set) var problems: [Problem] = []
  /// Whether nothing was found that somebody has preserved.
  private(set) var isEmpty = true

  /// Adds a file that was looked at by other means.
  mutating func add(_ file: VerifiedFile) { files.append(file) }

  /// Adds what kept a directory from being looked at.
  mutating func add(_ error: ProtectionError, in directory: String, slot: String? = nil) {
    isEmpty = false
    problems.append(Problem(directory: directory, slot: slot, error: error))
  }

  /// Reads a store, all of it or some slots.
  ///
  /// - Parameters:
  ///   - directory: The store's directory, below the device's.
  ///   - scope: The slots whose names are known, and whether others are left out.
  ///   - open: Opens the store; `nil` when there is none.
  mutating func check(
    _ directory: String, _ scope: VerifyScope?, open: () throws(ProtectionError) -> StoreInspection?
  ) {
    do throws(ProtectionError) {
      guard let store = try open() else { return }
      var names: [SlotName: String] = [:]
      var known: [SlotName] = []
      for slot in scope?.slots ?? [] {
        known.append(try store.slot(of: slot))
        names[known[known.count - 1]] = slot.slot
      }
      // Those with a name come first.
      let all = Set(store.slots)
      known.removeAll { !all.contains($0) }
      let others = scope?.isNarrow == true ? [] : store.slots.filter { names[$0] == nil }
      for other in others where scope != nil {
        guard let slot = (try? store.summary(of: other))?.slot else { continue }
        names[other] = [slot.application, slot.shownScene, slot.slot].filter { !$0.isEmpty }.joined(separator: "/")
      }
      for slot in known + others {
        do throws(ProtectionError) {
          add(try store.examine(slot), in: directory, name: names[slot], of: slot)
        } catch  where error.code == .io {
          // The next one may be on a better part of the disk.
          add(error, in: directory, slot: names[slot] ?? slot.text)
        }
      }
      if store.hasList || store.listProblem != nil {
        let parent = directory.split(separator: "/").dropLast().joined(separator: "/")
        add(
          VerifiedFile(
            directory: parent, name: "slots", kind: .slots, outcome: store.listProblem.map { .problem($0) } ?? .whole))
      }
    } catch {
      add(error, in: directory)
    }
  }

  private mutating func add(
    _ findings: StoreInspection.Findings, in directory: String, name: String?, of slot: SlotName
  ) {
    guard !findings.material.isEmpty || Self.problem(findings, name) != nil else { return }
    isEmpty = false
    files += findings.material.map { VerifiedFile($0, in: "\(directory)/\(slot.text)", slot: name) }
    if findings.hasChanged {
      add(
        ProtectionError(.busy, "A program saved here while it was read; check again to be sure."), in: directory,
        slot: name ?? slot.text)
    }
    if let problem = Self.problem(findings, name) { add(problem, in: directory, slot: name ?? slot.text) }
  }

  /// The faults of the newest generation that its files' own lines don't say.
  private static func problem(_ findings: StoreInspection.Findings, _ name: String?) -> ProtectionError? {
    do throws(ProtectionError) {
      let newest = try findings.newest.get()
      let dropped = newest.parts.reduce(0) { $0 + ($1.archive?.tailDropped ?? 0) }
      if dropped > 0 {
        return ProtectionError(.corrupt, "\(dropped) bytes behind the last change are no change.")
      }
      return try problem(in: newest, name)
    } catch {
      let isTold = findings.material.contains { $0.kind != .setAside && $0.problem != nil }
      return isTold || error.code == .notFound ? nil : error
    }
  }

  /// The faults of the archive inside; programs may keep other things too, under names of their own.
  private static func problem(
    in newest: OpenedGeneration, _ name: String?
  ) throws(ProtectionError) -> ProtectionError? {
    do throws(ArchiveError) {
      guard let (path, problem) = try InspectedArchive.firstProblem(in: RestorationArchive.PartedReader(newest)) else {
        return nil
      }
      return ProtectionError(.corrupt, "The node \(path) can't be read.", cause: problem)
    } catch  where error.code == .notAnArchive && !(name.map(VerifyScope.holdsArchive) ?? false) {
      return nil
    } catch {
      throw ProtectionError(inArchive: error)
    }
  }
}
