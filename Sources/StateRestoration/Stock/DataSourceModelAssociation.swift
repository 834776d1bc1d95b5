public import FoundationShim

/// Tells a list which model object stands at an index path, and where a model object stands now.
///
/// The list preserves identifiers instead of rows, so that selection and scrolling follow their elements wherever they
/// moved between two launches. Index paths have two indexes, section and item, both from zero. One object may serve several
/// lists: each asks with itself.
@MainActor public protocol DataSourceModelAssociation: AnyObject {
  /// The identifier of the element at an index path of a list; nil if it has none, and then the index path is preserved.
  ///
  /// Identifiers must be the same in every launch: a database key, not an address or a row.
  func modelIdentifier(forElementAt indexPath: IndexPath, in list: ListController) -> ModelIdentifier?

  /// Where the element with an identifier stands in a list now; nil if it is not there.
  ///
  /// The list asks for elements of a page that has not come, too: answer nil, and it asks again with the next page.
  func indexPath(forElementWithModelIdentifier identifier: ModelIdentifier, in list: ListController) -> IndexPath?
}
