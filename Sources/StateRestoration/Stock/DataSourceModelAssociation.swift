public import FoundationShim

/// Tells a list which model object stands at an index path, and where a model object stands now.
///
/// The list preserves identifiers instead of rows, so that selection and scrolling follow their elements wherever they
/// moved between two launches. Index paths have two indexes, section and item, both from zero.
@MainActor public protocol DataSourceModelAssociation: AnyObject {
  /// The identifier of the element at an index path; nil if it has none, and then the index path itself is preserved.
  ///
  /// Identifiers must be the same in every launch: a database key, not an address or a row.
  func modelIdentifier(forElementAt indexPath: IndexPath) -> ModelIdentifier?

  /// Where the element with an identifier stands now; nil if it is gone.
  func indexPath(forElementWithModelIdentifier identifier: ModelIdentifier) -> IndexPath?
}
