import Foundation
import Sealing
import Testing

/// The published vectors of RFC 9180, A.7: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, export only.
struct HPKETests {
  struct Vector: Decodable, Sendable, CustomTestStringConvertible {
    struct Export: Decodable, Sendable { var context, value: String }

    var mode: Int
    var info, ephemeral, encapsulated, receiver, receiverPublic, psk, pskIdentifier: String
    var exports: [Export]

    var testDescription: String { "mode \(mode)" }

    func shared() throws -> HPKE.SharedKey? {
      guard mode == 1 else { return nil }
      return HPKE.SharedKey(try [UInt8](hex: psk).key(), identifier: [UInt8](hex: pskIdentifier))
    }
  }

  private struct File: Decodable { var vectors: [Vector] }

  static let vectors: [Vector] = {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    let path = folder.appending(path: "../../Fixtures/Vectors/hpke.json")
    return try! JSONDecoder().decode(File.self, from: Data(contentsOf: path)).vectors
  }()

  @Test(arguments: vectors) func `both sides derive what the RFC says`(_ vector: Vector) throws {
    let info = [UInt8](hex: vector.info)
    let sent = try HPKE.send(
      to: [UInt8](hex: vector.receiverPublic), ephemeral: [UInt8](hex: vector.ephemeral).key(), info: info,
      shared: try vector.shared())
    #expect(sent.encapsulated == [UInt8](hex: vector.encapsulated))
    let received = try HPKE.receive(
      sent.encapsulated, privateKey: [UInt8](hex: vector.receiver).key(),
      publicKey: [UInt8](hex: vector.receiverPublic), info: info, shared: try vector.shared())
    for export in vector.exports {
      let context = [UInt8](hex: export.context)
      #expect(try sent.export(context).revealed() == [UInt8](hex: export.value))
      #expect(try received.export(context).revealed() == [UInt8](hex: export.value))
    }
    #expect(vector.exports.count == 3 && Self.vectors.map(\.mode) == [0, 1])
  }
}
