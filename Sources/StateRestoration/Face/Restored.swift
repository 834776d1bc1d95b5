/// A property that is preserved under a key; marking it is all there is to do.
///
/// ```swift
/// final class SearchController: RestorableController {
///   let restoration: RestorationIdentity = "search"
///   @Restored("query") var query = ""
/// }
///
/// // The macro would make a computed property of it, which no wrapper can be.
/// @Observable final class PlayerController: RestorableController {
///   let restoration: RestorationIdentity = "player"
///   @ObservationIgnored @Restored("volume") var volume = 1.0
/// }
/// ```
///
/// Marked properties are found in the whole class hierarchy. The same key in a class and its superclass is a
/// programmer's mistake and traps when the object is first seen. The type is Codable; a value of somebody else's type is a
/// computed property over a marked one, see <doc:StateOfYourOwnClasses>. Assigning is noticed at once: the next automatic
/// save has it. The property is observable by itself. Where `@ObservationIgnored` is forgotten, the compiler says “property
/// wrapper cannot be applied to a computed property”, and of the macro's code “invalid redeclaration of synthesized property”.
@propertyWrapper @MainActor
public final class Restored<Value: Codable & Sendable>: RestorationEncoder.Property {
  private var value: Value
  private let formerKeys: [String]

  /// Preserves the property under a key.
  ///
  /// - Parameters:
  ///   - wrappedValue: The value until another is restored or assigned.
  ///   - key: The key: stable, and unique in the class hierarchy.
  ///   - formerly: Keys of earlier versions, tried in order when nothing is stored under `key`.
  public init(wrappedValue: Value, _ key: String, formerly: String...) {
    value = wrappedValue
    formerKeys = formerly
    super.init(key: key)
  }

  /// The value.
  public var wrappedValue: Value {
    get {
      noteAccess()
      return value
    }
    set {
      change { value = newValue }
    }
    _modify {
      defer { change {} }
      yield &value
    }
  }

  override func capture() -> RestorationArchive.Entry {
    RestorationArchive.Entry(key: key, value: value)
  }

  override func snapshot() -> @MainActor () -> Void {
    let former = value
    return { self.change { self.value = former } }
  }

  override func prepare(with coder: RestorationDecoder) throws(RestorationError) -> (@MainActor () -> Void)? {
    for key in [key] + formerKeys {
      guard let restored = try coder.read(Value.self, forKey: key, at: value) else { continue }
      return { self.change { self.value = restored } }
    }
    return nil
  }
}
