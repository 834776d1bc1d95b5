import FoundationEssentials
import StateRestoration
import Testing

/// What an object's coder methods can hand over and read back (R3.1, R3.3, R3.4).
@MainActor struct RestorationCoderTests {
  /// Runs one encoding and decodes what came of it.
  private func coded(
    resolve: RestorationDecoder.Resolver? = { _ in nil }, _ encode: (RestorationEncoder) -> Void
  ) throws -> RestorationDecoder {
    let encoder = RestorationEncoder(path: ["object"], context: .test, owner: Self.self)
    encode(encoder)
    let (entries, references) = encoder.finish()
    var record = try MemoryRecord(entries)
    for reference in references {
      switch reference.targets {
      case .one(let object): try record.set(object.map { _ in RestorationPath(["one"]) }, forKey: reference.key)
      case .many(let objects):
        let places = objects.indices.map { RestorationPath([RestorationIdentifier("\($0)")]) }
        try record.set(places, forKey: reference.key)
      }
    }
    return RestorationDecoder(.init(record, at: ["object"], version: 1), context: .test, resolve: resolve)
  }

  @Test func `every coder tells the versions, the time, the idiom and the version tag`() throws {
    let encoder = RestorationEncoder(context: .test, owner: Self.self)
    let coder = try decoder()
    for context in [encoder.context, coder.context] {
      #expect(context.applicationVersion == "2.1")
      #expect(context.schemaVersion == 3)
      #expect(context.systemVersion == "Linux 6")
      #expect(context.timeSaved.timeIntervalSinceReferenceDate == 1000)
      #expect(context.interfaceIdiom == .terminal)
      #expect(context.versionTag == "wide")
    }
  }

  @Test func `a factory learns which model object the state belongs to`() throws {
    let coder = RestorationDecoder(.init(EmptyRecord(), at: [], model: "note-7"), context: .test)
    #expect(coder.modelIdentifier == "note-7")
  }

  @Test func `nil is only ever nothing stored`() throws {
    let coder = try coded { $0.encode("text", forKey: "text") }
    #expect(try coder.decodeIfPresent(String.self, forKey: "absent") == nil)
    let error = #expect(throws: RestorationError.self) { try coder.decodeIfPresent(Int.self, forKey: "text") }
    #expect(error?.code == .unreadable)
    #expect(error?.key == "text")
    #expect(error?.path == ["object"])
  }

  @Test func `decoding what was not stored says so`() throws {
    let error = #expect(throws: RestorationError.self) { try decoder().decode(Int.self, forKey: "absent") }
    #expect(error?.code == .keyNotFound)
    #expect(error.map { "\($0)" }?.contains("object, key “absent”") == true)
  }

  @Test func `an optional's nil is stored as such`() throws {
    let coder = try coded { $0.encode(Int?.none, forKey: "limit") }
    #expect(coder.contains("limit"))
    #expect(try coder.decode(Int?.self, forKey: "limit") == nil)
  }

  @Test func `keys that nobody reads are known`() throws {
    let coder = try coded {
      $0.encode(1, forKey: "read")
      $0.encode(2, forKey: "unread")
    }
    _ = try coder.decode(Int.self, forKey: "read")
    #expect(coder.unreadKeys == ["unread"])
  }

  @Test func `a key encoded twice traps and names both the key and the owner`() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await MainActor.run {
        let encoder = RestorationEncoder(path: ["a", "b"], context: .test, owner: Int.self)
        encoder.encode(1, forKey: "title")
        encoder.encode(2, forKey: "title")
      }
    }
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.contains("Int at a/b encodes “title” twice"))
  }

  @Test func `a reserved key traps`() async {
    await #expect(processExitsWith: .failure) {
      await MainActor.run {
        RestorationEncoder(context: .test, owner: Int.self).encode(1, forKey: "$roles")
      }
    }
  }

  @Test func `a coder's key that a marked property has traps`() async {
    await #expect(processExitsWith: .failure) {
      await MainActor.run {
        final class Both: RestorableController, CodingObject {
          let restoration: RestorationIdentity = "both"
          @Restored("title") var title = ""
          func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(1, forKey: "title") }
          func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {}
        }
        let object = Both()
        _ = TrackedObject(object).capture(context: .test)
      }
    }
  }

  // MARK: References

  final class Note: RestorableController {
    let restoration: RestorationIdentity = "note"
  }

  @Test func `a reference comes back as the restored object`() throws {
    let (old, new) = (Note(), Note())
    let coder = try coded { reference in
      reference == ["one"] ? new : nil
    } _: {
      $0.encodeReference(to: old, forKey: "note")
    }
    #expect(try coder.reference(to: Note.self, forKey: "note") === new)
    #expect(coder.unresolvedKeys.isEmpty)
  }

  @Test func `a reference whose object was not restored is nil, and known`() throws {
    let coder = try coded { $0.encodeReference(to: Note(), forKey: "note") }
    #expect(try coder.reference(to: Note.self, forKey: "note") == nil)
    #expect(coder.unresolvedKeys == ["note"])
  }

  @Test func `a reference to nothing is nil, and nothing is amiss`() throws {
    let coder = try coded { $0.encodeReference(to: nil, forKey: "note") }
    #expect(try coder.reference(to: Note.self, forKey: "note") == nil)
    #expect(try coder.reference(to: Note.self, forKey: "absent") == nil)
    #expect(coder.unresolvedKeys.isEmpty)
  }

  @Test func `a reference to an object of another class says so`() throws {
    let other = ThreeWaysTests.Editor()
    let coder = try coded { _ in
      other
    } _: {
      $0.encodeReference(to: Note(), forKey: "note")
    }
    let error = #expect(throws: RestorationError.self) { try coder.reference(to: Note.self, forKey: "note") }
    #expect(error?.code == .referenceOfAnotherClass)
  }

  @Test func `a list of references keeps its order and leaves out what was not restored`() throws {
    let notes = [Note(), Note(), Note()]
    let coder = try coded { reference in
      switch reference {
      case ["0"]: notes[0]
      case ["2"]: notes[2]
      default: nil
      }
    } _: {
      $0.encodeReferences(to: notes, forKey: "notes")
    }
    let restored: [Note] = try coder.references(forKey: "notes")
    #expect(restored.map { ObjectIdentifier($0) } == [notes[0], notes[2]].map { ObjectIdentifier($0) })
    #expect(coder.unresolvedKeys == ["notes"])
  }

  @Test func `a factory can read values but no references`() throws {
    let coder = try coded(resolve: nil) {
      $0.encode("text", forKey: "text")
      $0.encodeReference(to: Note(), forKey: "note")
    }
    #expect(try coder.decode(String.self, forKey: "text") == "text")
    let error = #expect(throws: RestorationError.self) { try coder.reference(to: Note.self, forKey: "note") }
    #expect(error?.code == .referencesNotReady)
  }
}
