import FoundationEssentials
import RestorationArchive
import Testing

@testable import StateRestoration

/// What a report, an error or the log says of a failure never quotes the state that it is about.
@MainActor @Suite struct RedactionTests {
  nonisolated enum Colour: String, Codable { case secretGreen }
  nonisolated enum Shade: String, Codable { case grey }
  nonisolated struct Thrown: Error { let text = "secret thrown" }
  nonisolated enum Refusal: Error { case tooOld }
  nonisolated struct Old: Codable, Sendable, Equatable { var words = ["secret words": Colour.secretGreen] }
  nonisolated struct Number: Codable, Sendable, Equatable { var words = ["secret words": 1] }

  final class Recorded: RestorableController, StatefulObject {
    let restoration = RestorationIdentity("editor", class: "editor")
    var restorableState = Old()
  }

  /// Whose state has lost the case that is stored.
  final class Lost: RestorableController, StatefulObject {
    nonisolated struct State: Codable, Sendable { var words: [String: Shade] = [:] }
    let restoration = RestorationIdentity("editor", class: "editor")
    var restorableState = State()
  }

  /// Whose state has numbers where texts are stored, below a key of a dictionary.
  final class Numbered: RestorableController, StatefulObject {
    let restoration = RestorationIdentity("editor", class: "editor")
    var restorableState = Number()
  }

  /// Whose migration throws what it has read.
  final class Quoting: RestorableController, StatefulObject {
    nonisolated struct State: VersionedState {
      static var stateVersion: StateVersion { 2 }
      static var migrations: StateMigrations<State> {
        StateMigrations(from: 1) { (_: Old) throws -> State in throw Thrown() }
      }
    }
    let restoration = RestorationIdentity("editor", class: "editor")
    var restorableState = State()
  }

  /// Whose migration throws a case without a payload.
  final class Refusing: RestorableController, StatefulObject {
    nonisolated struct State: VersionedState {
      static var stateVersion: StateVersion { 2 }
      static var migrations: StateMigrations<State> {
        StateMigrations(from: 1) { (_: Old) throws -> State in throw Refusal.tooOld }
      }
    }
    let restoration = RestorationIdentity("editor", class: "editor")
    var restorableState = State()
  }

  /// What the report and the log say of an object that can't have what was stored for it.
  private func told(of object: any RestorableController) async throws -> String {
    let bench = Bench()
    let log = MemoryLog()
    bench.configuration.log = log.log
    try await bench.preserve(Screen("root", children: [Recorded()]))
    let report = try await bench.launch().restore(into: Screen("root", children: [object]))
    #expect(report[["root", "editor"]]?.isRestored == false)
    return "\(report)\n\(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))\n"
      + log.lines.joined(separator: "\n")
  }

  @Test func `a raw value that fits no case is not quoted, nor a key of a dictionary`() async throws {
    for object: any RestorableController in [Lost(), Numbered()] {
      let told = try await told(of: object)
      #expect(!told.contains("secret"))
      #expect(told.contains(object is Lost ? "dataCorrupted at" : "typeMismatch: no Int at"))
      #expect(told.contains("words.…"))
    }
  }

  @Test func `an error of a migration is told by its type, or its case if that holds nothing`() async throws {
    let quoting = try await told(of: Quoting())
    #expect(!quoting.contains("secret"))
    #expect(quoting.contains("an error of type Thrown"))
    #expect(try await told(of: Refusing()).contains("Refusal.tooOld"))
  }

  /// A delegate whose state can't be read as what it was.
  private final class Changed: RestorationCoordinatorDelegate {
    func shouldSaveApplicationState(with coder: RestorationEncoder) -> Bool { true }
    func shouldRestoreApplicationState(with coder: RestorationDecoder) -> Bool { true }
    func willEncodeRestorableState(with coder: RestorationEncoder) {
      coder.encode(Colour.secretGreen, forKey: "colour")
    }
    func didDecodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {
      _ = try coder.decode(Shade.self, forKey: "colour")
    }
  }

  @Test func `the program's own state is not quoted when it can't be read`() async throws {
    let bench = Bench()
    let log = MemoryLog()
    bench.configuration.log = log.log
    let delegate = Changed()
    func launch() -> RestorationCoordinator {
      RestorationCoordinator(store: bench.store, delegate: delegate, configuration: bench.configuration)
    }
    _ = try await launch().preserve(Screen("root"))
    let report = try await launch().restore(into: Screen("root"))
    #expect(report.remarks.contains { if case .applicationStateFailed = $0 { true } else { false } })
    let encoded = String(decoding: try JSONEncoder().encode(report), as: UTF8.self)
    #expect(!"\(report)\(encoded)\(log.lines)".contains("secret"))
  }

  nonisolated enum Talking: Error, CustomStringConvertible {
    case refused
    var description: String { "secret from elsewhere" }
  }

  @Test func `a case that has words of its own is told by its type`() {
    let error = RestorationError(.invalidState, "refused", cause: Talking.refused)
    #expect("\(error)" == "invalidState: refused: an error of type Talking")
  }

  @Test func `a value that can't be encoded is not quoted`() {
    let value = EncodingError.invalidValue(
      "secret", .init(codingPath: [Number.CodingKeysOfTest.words], debugDescription: "secret"))
    let error = ArchiveError(.encodingFailed, "a value could not be encoded", cause: value)
    #expect("\(error)" == "encodingFailed: a value could not be encoded: invalidValue: a String at words")
  }
}

extension RedactionTests.Number {
  /// A key that a program's source declares.
  enum CodingKeysOfTest: String, CodingKey { case words }
}
