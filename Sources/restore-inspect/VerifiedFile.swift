import DataProtection

/// One file that was checked, and what became of it.
struct VerifiedFile: Sendable {
  /// What a file is for.
  enum Kind: String, Sendable {
    /// A whole generation: an archive, or the content of a protected file.
    case generation
    /// A generation saved while locked, not yet taken over.
    case pending
    /// Damaged material kept aside.
    case setAside
    /// The mark of a restoring, at rest when that is over.
    case marker
    /// The list of a slot's generations.
    case ledger
    /// The list of slots.
    case slots
    /// A generation that no ledger names: unfinished, or about to be removed.
    case unlisted
    /// The sealed class keys.
    case keybag
    /// Of another slot than those that are checked, unfinished, or no file of ours.
    case other
  }

  /// What became of reading it.
  enum Outcome: Sendable, Hashable {
    /// It was read and is whole.
    case whole
    /// There is nothing to check in it.
    case notRead
    /// It can't be used.
    case problem(ProtectionError.Code)
  }

  /// The directory that it lies in, below the device's; empty for that itself.
  let directory: String
  let name: String
  let kind: Kind
  let outcome: Outcome
  var slot: String?
  var generation: String?
  var byteCount: Int?
  var isCurrent = false
  /// Which part of its generation it is; nil for a file that is none.
  var place: PartPlace?
  /// The class that protects it, where that is known.
  var protection: ProtectionClass?

  /// How the tool ends because of it; a set-aside file is damage of the past.
  var code: InspectExitCode {
    if case .problem(let code) = outcome, kind != .setAside { InspectExitCode(code) } else { .success }
  }

  /// The path that tells it from all others: below the archives' directory, or below the device's.
  private var shownName: String {
    let archives = DeviceCheck.archivesDirectory + "/"
    if directory.hasPrefix(archives) { return "\(directory.dropFirst(archives.count))/\(name)" }
    return directory.isEmpty ? name : "\(directory)/\(name)"
  }

  /// One line: the outcome, the name, and what it is.
  func line(_ style: InspectStyle) -> String {
    let text =
      switch outcome {
      case .whole: style.good("whole")
      case .notRead: style.notice("not read")
      case .problem(let code): style.bad(code.description)
      }
    var facts = [isCurrent ? "\(label), current" : label]
    if let slot { facts[0] = "\(slot): \(facts[0])" }
    if let generation { facts.append("number \(generation)") }
    if let place, place != .root {
      facts.append("part \(place.rawValue)")
      if let protection { facts.append("\(protection)") }
    }
    if let byteCount { facts.append(readable(bytes: byteCount)) }
    return "\(text)  \(style.name(shownName))  \(style.detail(facts.joined(separator: ", ")))"
  }

  private var label: String {
    switch kind {
    case .pending: "saved while locked"
    case .setAside: "refused or damaged, set aside"
    case .slots: "list of slots"
    case .unlisted: "in no ledger: unfinished, or about to be removed"
    case .marker: "mark of a restoring, which may be over"
    case .other: "out of the scope, unfinished, or no file of ours"
    case .generation where directory.hasPrefix(DeviceCheck.filesDirectory): "protected file"
    case .generation, .ledger, .keybag: kind.rawValue
    }
  }

  /// The same as a value.
  var json: JSONValue {
    let text =
      switch outcome {
      case .whole: "whole"
      case .notRead: "notRead"
      case .problem(let code): code.description
      }
    return .object([
      "directory": .string(directory), "name": .string(name), "kind": .string(kind.rawValue), "outcome": .string(text),
      "slot": .optional(slot),
      "generation": .optional(generation), "bytes": byteCount.map(JSONValue.count) ?? .null,
      "isCurrent": .bool(isCurrent), "part": place.map { .count(Int($0.rawValue)) } ?? .null,
      "class": .optional(protection.map { "\($0)" }),
    ])
  }
}

extension VerifiedFile {
  /// What a store found out about one of its files.
  ///
  /// - Parameter slot: What it is kept as, where that is known.
  init(_ material: ArchiveMaterial, in directory: String, slot: String?) {
    let kind: Kind =
      switch material.kind {
      case .generation: .generation
      case .pending: .pending
      case .setAside: .setAside
      case .ledger: .ledger
      case .unlisted: .unlisted
      case .marker: .marker
      }
    // Bytes behind the changes that are none: a launch says so, too.
    let problem = material.problem ?? (material.tailDropped > 0 ? .corrupt : nil)
    self.init(
      directory: directory, name: material.name, kind: kind,
      outcome: kind == .unlisted ? .notRead : problem.map { .problem($0) } ?? .whole, slot: slot,
      generation: material.generation?.description, byteCount: material.byteCount, isCurrent: material.isCurrent,
      place: material.place, protection: material.protection)
  }
}
