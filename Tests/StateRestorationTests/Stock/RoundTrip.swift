import Foundation
import StateRestoration

/// Takes one object's coder state to another object, through bytes, without an archive.
@MainActor enum RoundTrip {
  /// A record of JSON values: enough to carry what a stock controller encodes.
  struct Record: StateRecord {
    var values: [String: Data]

    var keys: [String] { values.keys.sorted() }

    func contains(_ key: String) -> Bool { values[key] != nil }

    var keyLimit: Int { values.count }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: String) throws(ArchiveError) -> T? {
      guard let value = values[key] else { return nil }
      do {
        return try JSONDecoder().decode([T].self, from: value)[0]
      } catch {
        throw ArchiveError(.decodingFailed, "\(error)")
      }
    }
  }

  static let context = RestorationArchive.Context(timeSaved: Date(timeIntervalSince1970: 0))

  /// What an object encodes.
  static func encode(_ object: any CodingObject) throws -> Record {
    let coder = RestorationEncoder(context: context, owner: type(of: object))
    object.encodeRestorableState(with: coder)
    var values: [String: Data] = [:]
    func data(_ value: some Encodable) throws -> Data { try JSONEncoder().encode([value]) }
    for entry in coder.finish().entries { values[entry.key] = try data(entry.value) }
    return Record(values: values)
  }

  /// Gives an object what another one encoded, and ends its restoring.
  static func decode(_ record: Record, into object: any CodingObject) throws {
    let coder = RestorationDecoder(.init(record, at: ["test"]), context: context)
    try object.decodeRestorableState(with: coder)
    coder.finish()
    (object as? any FinishingObject)?.applicationFinishedRestoringState()
  }
}

/// A controller with nothing but a name.
@MainActor final class LeafController: RestorableController {
  let restoration: RestorationIdentity

  init(_ identifier: RestorationIdentifier, protection: ProtectionClass? = nil) {
    restoration = RestorationIdentity(identifier, protection: protection)
  }
}

/// A preserved child as a container gets it back.
@MainActor func child(
  _ identifier: RestorationIdentifier, _ controller: (any RestorableController)?, role: RestoredChild.Role? = nil,
  carriedOver: Bool = false, isLocked: Bool = false
) -> RestoredChild {
  RestoredChild(
    path: RestorationPath(["root", identifier]), role: role, controller: controller, wasCarriedOver: carriedOver,
    isLocked: isLocked)
}
