/// Takes copies of one object's state, by key, while the object's coder method runs.
///
/// Values are copied now, on the main actor, and encoded later, elsewhere. Use an encoder only within the method that it
/// is passed to. Using it later, or using a key twice, is a mistake in the program and stops it.
@MainActor public final class RestorationEncoder {
  /// Where the object is, from the root; empty for the whole program's own state, and nil once the object has left the
  /// hierarchy.
  public var path: RestorationPath? { fixedPath ?? node?.currentPath }

  /// The facts recorded with the archive: versions, time, idiom.
  public let context: RestorationArchive.Context

  private(set) var entries: [RestorationArchive.Entry] = []
  private(set) var references: [CapturedReference] = []
  /// The keys of both: compared without touching the values.
  private var keys: [String] = []
  private(set) var isLeftAsStored = false
  /// The delegate that has no state of the whole program: it leaves the method out that encodes it.
  var delegateWithoutState: ObjectIdentifier?
  private var isValid = true
  private let owner: Any.Type
  private let fixedPath: RestorationPath?
  /// Says where the object is when somebody asks, which few do.
  private weak let node: LiveNode?
  private let properties: [RestorationEncoder.Property]

  /// Makes an encoder for one object's hook; `owner` names the object in messages.
  package convenience init(path: RestorationPath? = nil, context: RestorationArchive.Context, owner: Any.Type) {
    self.init(path: path, context: context, owner: owner, properties: [])
  }

  init(
    path: RestorationPath?, node: LiveNode? = nil, context: RestorationArchive.Context, owner: Any.Type,
    properties: [RestorationEncoder.Property]
  ) {
    fixedPath = path
    self.node = node
    self.context = context
    self.owner = owner
    self.properties = properties
    entries.reserveCapacity(8)
    keys.reserveCapacity(8)
  }

  /// Copies a value under a key; an optional's nil is stored as such.
  ///
  /// Keys belong to the class that uses them: a subclass that takes one of its superclass traps, and so does a key
  /// that begins with `$`.
  public func encode<Value: Encodable & Sendable>(_ value: Value, forKey key: String) {
    claim(key)
    entries.append(RestorationArchive.Entry(key: key, value: value))
  }

  /// Records which object is meant; after restoring, the key leads to the restored object, or to nil.
  ///
  /// An object that is in the tree or registered as shared is recorded by its place. Any other controller is
  /// preserved "by hand": it needs an identifier and a restoration class, and comes back as one object however
  /// many references lead to it.
  public func encodeReference(to object: (any RestorableObject)?, forKey key: String) {
    claim(key)
    references.append(CapturedReference(key: key, targets: .one(object)))
  }

  /// Records which objects are meant, in order.
  public func encodeReferences(to objects: [any RestorableObject], forKey key: String) {
    claim(key)
    references.append(CapturedReference(key: key, targets: .many(objects)))
  }

  /// Copies a value of a scope.
  func encodeScopeValue(_ value: some Encodable & Sendable, forKey key: String, _ version: StateVersion) {
    entries.append(RestorationArchive.Entry(key: key, value: value))
    if version != 1 { entries.append(RestorationArchive.Entry(key: ReservedKey.version, value: version.rawValue)) }
  }

  /// Has the object keep the record that it was given: it has not changed since.
  func leaveAsStored() { isLeftAsStored = true }

  /// Ends the encoder's life and hands over what it collected.
  package func finish() -> (entries: [RestorationArchive.Entry], references: [CapturedReference]) {
    isValid = false
    return (entries, references)
  }

  private func claim(_ key: String) {
    precondition(
      isValid,
      "The encoder of \(name) was used after encodeRestorableState(with:) returned; encode within the method.")
    precondition(
      !ReservedKey.isReserved(key), "\(name) encodes under “\(key)”; keys that begin with “$” are reserved.")
    // Few keys, compared in place: cheaper than a set for the usual dozen.
    precondition(
      !keys.contains(key) && !properties.contains { $0.key == key },
      "\(name) encodes “\(key)” twice; a subclass needs keys that its superclass doesn't use.")
    keys.append(key)
  }

  private var name: String {
    path.map { "\(owner) at \($0)" } ?? "\(owner)"
  }
}
