/// What an archive says about itself, readable from every coder: versions, time of saving, idiom.
public typealias RestorationContext = RestorationArchive.Context
