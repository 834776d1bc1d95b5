import StateRestoration
import StateRestorationTesting

/// Makes a mistake that stops the program; in a process of its own.
@MainActor enum Trap {
  static func make(_ mistake: Mistake) async throws {
    let bench = Bench()
    switch mistake {
    case .keyTwice: _ = try await bench.preserve(Twice("root"))
    case .markedTwice: _ = try await bench.preserve(MarkedTwice())
    case .encoderTooLate:
      let keeper = Keeper()
      _ = try await bench.preserve(keeper)
      keeper.coder?.encode(1, forKey: "late")
    case .unbalanced: bench.launch().completeStateRestoration()
    case .tagTwice:
      _ = bench.launch {
        $0.register(Screen.self, as: "screen")
        $0.register(Panel.self, as: "screen")
      }
    case .badChain: _ = try await bench.preserve(StoredValue("root", ShortChain()))
    case .cycle:
      let (outer, inner) = (Screen("outer"), Screen("inner"))
      outer.restorationChildren = [inner]
      inner.restorationChildren = [outer]
      _ = try await bench.preserve(outer)
    case .reservedKey: _ = try await bench.preserve(Reserved("root"))
    case .versionTwice: _ = try await bench.preserve(VersionedTwice())
    case .viewWithClass:
      let root = Screen("root")
      root.restorationViews = [ViewWithClass()]
      _ = try await bench.preserve(root)
    default: break
    }
  }

  final class Twice: Panel {
    override func encodeRestorableState(with coder: RestorationEncoder) {
      super.encodeRestorableState(with: coder)
      coder.encode(1, forKey: "value")
    }
  }

  final class Reserved: Panel {
    override func encodeRestorableState(with coder: RestorationEncoder) { coder.encode(1, forKey: "$value") }
  }

  final class MarkedTwice: RestorableController {
    let restoration: RestorationIdentity = "root"
    @Restored("query") var query = ""
    @Restored("query") var other = ""
  }

  final class VersionedTwice: RestorableController, StatefulObject {
    let restoration = RestorationIdentity("root", version: 3)
    var restorableState = Newer()
  }

  final class ViewWithClass: RestorableView, StatefulObject {
    let restoration = RestorationIdentity("view", class: "view")
    var restorableState = 0
  }

  final class Keeper: RestorableController, CodingObject {
    let restoration: RestorationIdentity = "root"
    var coder: RestorationEncoder?
    func encodeRestorableState(with coder: RestorationEncoder) { self.coder = coder }
    func decodeRestorableState(with coder: RestorationDecoder) throws(RestorationError) {}
  }

  nonisolated struct ShortChain: VersionedState {
    static var stateVersion: StateVersion { 4 }
    static var migrations: StateMigrations<ShortChain> { StateMigrations(from: 1) { (_: Int) in ShortChain() } }
  }
}
