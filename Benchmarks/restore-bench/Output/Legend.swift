/// The meaning of the names in the table, for readers who do not know this program.
enum Legend {
  /// The meaning of a metric's name.
  static let metrics: [(name: String, text: String)] = [
    ("encode", "encode one object of many, in one archive"), ("decode", "decode one object of many"),
    ("size", "bytes of an object in the archive"), ("encodeSmall", "encode one object alone"),
    ("decodeSmall", "decode one object alone"), ("restoreOneCold", "open an archive and read one object"),
    ("restoreOneOpen", "read one object of an open archive"), ("preserveOne", "save one change, synced"),
    ("preserveNone", "save when nothing has changed"), ("preserveAll", "save everything, synced"),
    ("restoreAll", "restore the whole hierarchy"), ("captureAll", "copy every object's state, on the main actor"),
    ("captureOne", "copy one changed object's state, on the main actor"),
    ("askAll", "ask all objects whose changes can't be noticed, with as many others beside them; on the main actor"),
    ("seal", "encrypt an object's bytes"), ("open", "decrypt an object's bytes"),
    ("openChunk", "decrypt one chunk of an archive"), ("durableWrite", "write a file and sync it, by itself"),
    ("journalAppend", "append a sealed frame of 400 bytes, synced"), ("unlock", "check a passcode"),
    ("launch", "start a process that opens the device and restores"),
  ]

  /// What ours is compared with.
  static let others: [(key: String, name: String, text: String)] = [
    ("json", "JSON", "Foundation's coder; on a disk an unencrypted file"),
    ("json.reused", "JSON-reused", "the same, with one coder for all"), ("plist", "plist", "binary property list"),
    ("one-class", "one-class", "the same objects, all of one class of protection"),
    ("weaker-alone", "weaker-alone", "the same program; only the objects of the weaker class were preserved, unlocked"),
    ("sqlite", "SQLite", "unencrypted, full sync"), ("raw", "bare-calls", "the system calls alone, without content"),
    ("raw.memcpy", "memcpy", "copying the bytes"), ("raw.copy", "bare-copy", "copying each state into a box"),
    ("tracking", "observation", "Swift's observation alone"), ("reused", "ours-reused", "ours, with one coder for all"),
    ("floor.codable", "empty-coder", "a Codable coder that writes and reads nothing"),
    ("floor.handwritten", "by-hand", "written for this one type, without Codable"),
  ]

  /// The name of a comparison.
  static func name(_ key: String) -> String { others.first { $0.key == key }?.name ?? key }

  /// The lines below the table, for the names that are in it.
  static func lines(_ report: Report) -> [String] {
    let measured = Set(report.results.map(\.metric))
    let compared = Set(report.results.flatMap { $0.baselines.keys })
    var lines = [
      "",
      "The time is for one object where it says /node, and for the whole task elsewhere. Below 1×: faster than ours.",
    ]
    lines += metrics.filter { measured.contains($0.name) }.map { row($0.name, $0.text) }
    lines += others.filter { compared.contains($0.key) }.map { row($0.name, $0.text) }
    return lines
  }

  private static func row(_ name: String, _ text: String) -> String {
    "  \(name)" + String(repeating: " ", count: max(1, 16 - name.count)) + text
  }
}
