import Foundation
import StateRestoration
import Testing

/// A record in memory: what an object handed over, encoded and decoded by another coder than the engine's.
struct MemoryRecord: StateRecord {
  private var values: [(key: String, data: Data)] = []

  init(_ entries: [RestorationArchive.Entry] = []) throws {
    for entry in entries { try set(entry.value, forKey: entry.key) }
  }

  mutating func set(_ value: some Encodable, forKey key: String) throws {
    values.removeAll { $0.key == key }
    values.append((key, try JSONEncoder().encode([value])))
  }

  var keys: [String] { values.map(\.key) }

  func contains(_ key: String) -> Bool { values.contains { $0.key == key } }

  var keyLimit: Int { values.count }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: String) throws(ArchiveError) -> T? {
    guard let value = values.first(where: { $0.key == key }) else { return nil }
    do {
      return try JSONDecoder().decode([T].self, from: value.data)[0]
    } catch {
      throw ArchiveError(.decodingFailed, key, cause: error)
    }
  }
}

extension RestorationArchive.Context {
  static let test = RestorationArchive.Context(
    applicationVersion: "2.1", schemaVersion: 3, systemVersion: "Linux 6",
    timeSaved: Date(timeIntervalSinceReferenceDate: 1000), interfaceIdiom: .terminal, versionTag: "wide")
}

/// Captures an object and makes a decoder of what it handed over.
@MainActor func stored(
  _ object: any RestorableObject, version: StateVersion? = nil,
  resolve: @escaping RestorationDecoder.Resolver = { _ in nil }
) throws -> RestorationDecoder {
  let capture = try #require(TrackedObject(object).capture(context: .test))
  return RestorationDecoder(
    .init(try MemoryRecord(capture.entries), at: ["object"], version: version ?? capture.attributes.version),
    context: .test, resolve: resolve)
}

/// Captures one object and gives its state to another.
@MainActor func transfer(from old: any RestorableObject, to new: any RestorableObject) throws {
  try TrackedObject(new).apply(stored(old))
}

/// A decoder of values given one by one.
@MainActor func decoder(
  _ values: [String: any Encodable & Sendable] = [:], version: StateVersion? = nil,
  resolve: RestorationDecoder.Resolver? = { _ in nil }
) throws -> RestorationDecoder {
  let entries = values.sorted { $0.key < $1.key }.map { RestorationArchive.Entry(key: $0.key, value: $0.value) }
  return RestorationDecoder(
    .init(try MemoryRecord(entries), at: ["object"], version: version), context: .test, resolve: resolve)
}
