/// The mark by which backup programs leave a directory out (the Cache Directory Tagging Specification).
///
/// GNU tar's `--exclude-caches`, borg, restic and their like honour it.
enum CacheDirectoryTag {
  /// The file's name.
  static let name = "CACHEDIR.TAG"
  /// What it must begin with, and a line for people.
  static let content =
    """
    Signature: 8a477f597d28d172789f06886806bc55
    # State that its program can do without. Backup programs leave this directory out.
    # See https://bford.info/cachedir/

    """
}
