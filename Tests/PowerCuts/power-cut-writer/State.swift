import DataProtection
import Foundation

/// What a slot holds, by what the writer has put there.
struct State: Codable, Equatable, CustomStringConvertible {
  /// A part beside the first.
  struct Part: Codable, Equatable {
    var base: String
    /// What was appended to it.
    var frames: [String] = []
  }

  /// The newest generation's content, or that of its first part; nil when there is none.
  var base: String?
  /// What was appended to it.
  var frames: [String] = []
  /// The second part, under another class; nil when there is none.
  var second: Part?
  /// What was saved while locked, and is in no generation.
  var pending: [String] = []

  var description: String {
    let other = second.map { ["and \($0.base)"] + $0.frames } ?? []
    let parts = [base ?? "nothing"] + frames + other + pending.map { "pending \($0)" }
    return "[\(parts.joined(separator: ", "))]"
  }

  /// Reads a slot; what can't be read is an error.
  static func read(_ store: ArchiveStore) throws -> (State, ArchiveStanding) {
    var state = State()
    var standing = ArchiveStanding.current
    let pending = try store.openPending()
    if let problem = pending.problems.values.first { throw problem }
    state.pending = try pending.archives.map { try Content($0.content).name }
    do {
      let opened = try store.openNewestParts()
      standing = opened.standing
      for part in opened.parts {
        guard let archive = part.archive else { throw ProtectionError.unreadable(part) }
        // A part that falls back is an older generation, as far as it goes.
        if case .fellBack(_, because: let code) = part.state { standing = .olderGeneration(because: code) }
        let (base, frames) = (try Content(archive.readAll()).name, try archive.frames.map { try Content($0).name })
        if part.place == .root {
          (state.base, state.frames) = (base, frames)
        } else {
          state.second = Part(base: base, frames: frames)
        }
      }
    } catch let error as ProtectionError where error.code == .notFound {
      // Nothing was saved, or it was deleted.
    }
    return (state, standing)
  }
}

/// What is saved: a number and some length of filling.
struct Content {
  var number: Int
  var length: Int

  struct Wrong: Error {}

  init(number: Int, length: Int) {
    self.number = number
    self.length = length
  }

  /// Reads it, to the last byte.
  init(_ data: Data) throws {
    guard let number = Int(String(decoding: data.prefix { $0 != 0x2E }, as: UTF8.self)) else { throw Wrong() }
    self.init(number: number, length: data.count - "\(number).".utf8.count)
    guard self.data == data else { throw Wrong() }
  }

  var data: Data { Data("\(number).".utf8) + Data(repeating: UInt8(truncatingIfNeeded: number), count: length) }

  /// As the file of the allowed states has it.
  var name: String { "\(number)+\(length)" }
}

/// The file of the states that may be found.
struct AllowedStates {
  let path: String

  func read() throws -> [State] { try JSONDecoder().decode([State].self, from: Data(contentsOf: URL(filePath: path))) }

  func write(_ states: [State]) throws {
    try JSONEncoder().encode(states).write(to: URL(filePath: path), options: .atomic)
  }
}

extension ProtectionError {
  /// A part that can't be read, though nobody has locked the device.
  static func unreadable(_ part: OpenedPart) -> ProtectionError {
    let code = if case .damaged(let code) = part.state { code } else { Code.locked }
    return ProtectionError(code, "Part \(part.place.rawValue) can't be read.")
  }
}
