import Foundation
import LifeProgram

@testable import DataProtection

/// Looks whether what must be secret can be read, with the keys that a locked device has.
enum Scan {
  /// What can be read and must not be.
  static func findings(at places: Life.Places) throws -> [String] {
    guard let record = try LifeRecord.read(places.record) else { return [] }
    var findings = try plainText(at: places.device)
    var options = ProtectedDevice.Options()
    options.custody = Life.custody(at: places)
    let device = try ProtectedDevice.openNow(at: .directory(places.device), options: options)
    guard let inspection = try device.inspectArchives() else { return findings }
    let store = inspection.store
    for slot in inspection.slots {
      guard let directory = try store.look(at: slot) else { continue }
      let identity = try store.claimedIdentity(of: slot, in: directory, try store.readLedger(in: directory).value)
      let reading = try SlotReading(store, identity: identity, slot: directory, isListed: false)
      for file in try directory.claims() {
        guard let (level, words) = try words(in: file, reading) else { continue }
        let told = words.intersection(record.secrets(above: level)).sorted()
        if !told.isEmpty { findings.append("\(file.text), which is \(level), has the secrets \(told)") }
      }
    }
    return findings
  }

  /// The level of a file and the words in it; nil for one that has no key now, or is cut short.
  ///
  /// Nothing else vouches for it: it can be one that a save has left which was cut short.
  private static func words(in file: SlotFile, _ reading: SlotReading) throws -> (Level, Set<Int>)? {
    do {
      return try allWords(in: file, reading)
    } catch let error as ProtectionError where error.code == .locked || error.code.isDamage {
      return nil
    }
  }

  private static func allWords(in file: SlotFile, _ reading: SlotReading) throws -> (Level, Set<Int>)? {
    guard let opened = try reading.openClaimed(file, as: nil) else { return nil }
    var words = numbers(in: try opened.readAll())
    for frame in opened.frames { words.formUnion(numbers(in: frame)) }
    return (Level(opened.protection), words)
  }

  /// The numbers of the words in some bytes.
  private static func numbers(in data: Data) -> Set<Int> {
    var numbers: Set<Int> = []
    var rest = data[...]
    let prefix = Data(Word.prefix.utf8)
    while let range = rest.range(of: prefix) {
      let digits = rest[range.upperBound...].prefix(9).prefix { 48...57 ~= $0 }
      // One that is cut by something else is found again where it is whole.
      if rest[digits.endIndex...].first == 0x78, let number = Int(String(decoding: digits, as: UTF8.self)) {
        numbers.insert(number)
      }
      rest = rest[range.upperBound...]
    }
    return numbers
  }

  /// The files below a directory that have words as they are.
  private static func plainText(at directory: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: directory).filter { name in
      FileManager.default.contents(atPath: "\(directory)/\(name)")?.range(of: Data(Word.prefix.utf8)) != nil
    }.map { "\($0) has words as they are" }
  }
}
