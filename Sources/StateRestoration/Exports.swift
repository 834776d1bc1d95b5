// One import for users, and for the files of this module: the face shows types of these three modules.
@_exported public import ApplicationLifecycle
@_exported public import DataProtection
@_exported public import RestorationArchive
