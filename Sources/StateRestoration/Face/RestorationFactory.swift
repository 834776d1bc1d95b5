/// A class that remakes its own instances: a "restoration class".
///
/// Register it under its tag with `RestorationRegistry.register(_:as:)`. Its answer is final:
/// nil means that the subtree is not to be restored, and nobody else is asked.
@MainActor public protocol RestorationFactory: RestorableController {
  /// Makes the controller that was at a path, or declines.
  ///
  /// Called before any object decodes. The coder may be read for what the initialiser needs; references to
  /// other objects can't be resolved yet.
  static func makeForRestoration(
    at path: RestorationPath, coder: RestorationDecoder
  ) -> (any RestorableController)?
}
