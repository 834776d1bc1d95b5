import RestorationArchive

/// How findings and messages call objects.
extension LiveTree {
  func name(_ object: any RestorableObject) -> String { "\(type(of: object))" }

  /// What two owners of one identifier are called: by class and model, and by their places among the siblings where that is
  /// the same for both.
  ///
  /// - Parameter places: The places of the siblings, asked for only then.
  func names(
    kept: (any RestorableObject)?, refused: any RestorableObject, places: @autoclosure () -> [ObjectIdentifier: Int]
  ) -> (kept: String, refused: String) {
    guard let kept else { return ("an object", fullName(refused)) }
    guard kept !== refused else { return (fullName(kept), "the same object, listed again,") }
    let (first, second) = (fullName(kept), fullName(refused))
    guard first == second else { return (first, second) }
    let places = places()
    func place(of object: any RestorableObject) -> String {
      places[ObjectIdentifier(object)].map { " (sibling \($0 + 1))" } ?? ""
    }
    return (first + place(of: kept), second + place(of: refused))
  }

  /// The class, and the model that the object shows if it says so.
  private func fullName(_ object: any RestorableObject) -> String {
    guard let model = (object as? any RestorableController)?.restoration.model else { return name(object) }
    return "\(name(object)) of “\(model)”"
  }
}
