import Foundation

/// What a program may find at its next start, as it wrote down before and after each save, on another disk.
public struct LifeRecord: Codable, Sendable {
  /// The states that may be there: one that was acknowledged, and all that were tried since.
  public var allowed: [LifeState]
  /// Notes that are gone, with the level that they had.
  public var graves: [Grave] = []
  /// The last number of a word.
  public var count = 0
  /// Whether a run that could read nothing may have saved something since the last save that could read all: a locked launch waits for
  /// the unlock then.
  public var waits = false
  /// How many saves were acknowledged.
  public var acknowledged = 0

  /// A note that is gone.
  public struct Grave: Codable, Sendable {
    /// What it was called.
    public var name: String
    /// The level that it had last.
    public var level: Level
    /// Its words.
    public var words: [Int]
  }

  /// That of a program that never ran.
  public init(level: Level) { allowed = [LifeState(level: level)] }

  /// Reads one; nil when there is none.
  public static func read(_ path: String) throws -> LifeRecord? {
    guard let data = FileManager.default.contents(atPath: path), !data.isEmpty else { return nil }
    return try JSONDecoder().decode(Self.self, from: data)
  }

  /// Writes it, whole or not at all.
  public func write(_ path: String) throws {
    try JSONEncoder().encode(self).write(to: URL(filePath: path), options: .atomic)
  }

  /// The words that may be in no bytes which the keys of a level open: those of notes that have a stronger class in every state that
  /// may be there.
  public func secrets(above level: Level) -> Set<Int> {
    var secrets: Set<Int> = [0]
    for grave in graves
    where grave.level > level && allowed.allSatisfy({ $0.notes[grave.name] == nil }) { secrets.formUnion(grave.words) }
    for name in allowed.first?.order ?? [] {
      let all = allowed.flatMap { [$0, $0.seen] }.map { state in
        state.notes[name].map { (state.level(of: name), $0) }
      }
      guard all.allSatisfy({ $0.map { $0.0 > level } ?? false }) else { continue }
      secrets.formUnion(LifeRecord.number(ofName: name))
      for case let (_, note)? in all { secrets.formUnion(note.former + [note.text].filter { $0 > 0 }) }
    }
    return secrets
  }

  /// The number in a note's name; none for one that is there at every launch.
  static func number(ofName name: String) -> [Int] { Word.number(in: name).map { [$0] } ?? [] }
}
