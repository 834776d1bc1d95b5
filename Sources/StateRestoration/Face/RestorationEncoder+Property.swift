public import Observation

extension RestorationEncoder {
  /// What every ``Restored`` property is, whatever the type of its value: the subject of its own observation.
  ///
  /// Not generic, because the observation machinery is many times slower for a generic subject.
  @MainActor public class Property: Observable {
    /// The key under which the value is preserved.
    package let key: String

    /// Whether there ever was one in this process.
    static private(set) var isUsed = false

    private let registrar = ObservationRegistrar()
    private var flags: [ChangeFlag] = []

    init(key: String) {
      precondition(
        !ReservedKey.isReserved(key), "@Restored(\"\(key)\"): keys that begin with “$” are reserved.")
      self.key = key
      Self.isUsed = true
    }

    /// The subject of observation; never read for its value.
    var revision: Void { () }

    final func noteAccess() {
      registrar.access(self, keyPath: \.revision)
    }

    final func change(_ body: () -> Void) {
      registrar.withMutation(of: self, keyPath: \.revision, body)
      for flag in flags { flag.raise() }
    }

    final func add(_ flag: ChangeFlag) {
      flags.removeAll { $0.isRetired }
      flags.append(flag)
    }

    /// Remembers the value; the result gives it back.
    func snapshot() -> @MainActor () -> Void {
      fatalError("\(Self.self) doesn't remember its value.")
    }

    /// The value as it is, to be encoded elsewhere.
    func capture() -> RestorationArchive.Entry {
      fatalError("\(Self.self) doesn't capture its value.")
    }

    /// Decodes the stored value and answers with its assignment; nil if nothing is stored.
    func prepare(with coder: RestorationDecoder) throws(RestorationError) -> (@MainActor () -> Void)? {
      fatalError("\(Self.self) doesn't decode its value.")
    }
  }
}
