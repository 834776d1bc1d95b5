/// The archive of a tree of preserved state: its contents, reading it, writing it.
///
/// Values and functions of values only: nothing here knows files, clocks, keys or actors. The bytes are specified in
/// `Docs/ArchiveFormat.md`.
public enum RestorationArchive {}
