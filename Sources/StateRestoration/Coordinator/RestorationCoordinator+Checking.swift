public import FoundationEssentials

extension RestorationCoordinator {
  /// Reads old archives with today's classes and runs the migrations of all their values, without an app and without restoring.
  ///
  /// What ``Restored`` properties and coder methods would read is not looked at, as that takes an object: restore a
  /// `GoldenArchive`, from the testing product, for those.
  ///
  /// Keep one archive per released version, each in a file of its own, and check them in CI. To get one, write the `archive`
  /// of `GoldenArchive.record(_:after:)`, from the testing product, to a file. Nodes of classes that nobody names are
  /// read, not decoded: ``ArchiveCheck/uncheckedPaths`` lists them.
  ///
  /// - Parameters:
  ///   - archives: The bytes of whole archives by name, not sealed.
  ///   - registry: The classes of today's program, and its shared objects.
  ///   - hierarchy: What a launch builds; the objects in it name the classes of controllers without a tag, and of views, at
  ///     their paths. Nothing is given to them.
  ///   - schemaVersion: Today's schema version of the program; newer archives are a failure.
  public static func check(
    archives: [String: Data], registry: RestorationRegistry, hierarchy: (any RestorableController)? = nil,
    schemaVersion: StateVersion = 1
  ) -> [ArchiveCheck] {
    let known = KnownClasses(registry, hierarchy)
    return archives.sorted { $0.key < $1.key }.map { name, data in check(name, data, known, schemaVersion) }
  }

  /// Reads all archives of a folder; see ``check(archives:registry:hierarchy:schemaVersion:)-([String:Data],_,_,_)``.
  ///
  /// Every file of the folder is taken for an archive: keep nothing else in it. A file that can't be read, or is no archive,
  /// is a failure in the result.
  ///
  /// - Throws: `unreadable` when the folder can't be listed, with the file system's error as the cause.
  public static func check(
    archives folder: URL, registry: RestorationRegistry, hierarchy: (any RestorableController)? = nil,
    schemaVersion: StateVersion = 1
  ) throws(RestorationError) -> [ArchiveCheck] {
    let known = KnownClasses(registry, hierarchy)
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    } catch {
      throw RestorationError(.unreadable, "The folder of archives can't be listed: look at its path.", cause: error)
    }
    return names.map { name in
      do {
        let file = folder.appending(path: name).resolvingSymlinksInPath()
        // A pipe would keep it waiting for ever, and a device never ends.
        guard try FileManager.default.attributesOfItem(atPath: file.path)[.type] as? FileAttributeType == .typeRegular
        else { return ArchiveCheck(name: name, failure: "it is no regular file") }
        return check(name, try Data(contentsOf: file), known, schemaVersion)
      } catch {
        return ArchiveCheck(name: name, failure: "the file can't be read: \(error)")
      }
    }
  }

  private static func check(
    _ name: String, _ data: Data, _ known: KnownClasses, _ schemaVersion: StateVersion
  ) -> ArchiveCheck {
    let plan: RestorePlan
    do {
      plan = try RestorePlan(reader: RestorationArchive.Reader(base: .init(data)))
    } catch {
      return ArchiveCheck(name: name, failure: error.description)
    }
    guard plan.context.schemaVersion <= schemaVersion else {
      return ArchiveCheck(
        name: name, nodeCount: plan.nodes.indices.count,
        failure: "schema version \(plan.context.schemaVersion) is newer than \(schemaVersion)")
    }
    var result = ArchiveCheck(name: name, nodeCount: plan.nodes.indices.count)
    var unregistered: Set<String> = []
    for index in plan.nodes.indices {
      let node = plan.nodes[index]
      let path = plan.paths[index]
      if let damage = plan.details(of: index).damage {
        result.problems.append(.init(path: path, result: .notRestored(.damaged(damage))))
        continue
      }
      let tag = plan.tag(of: index)
      let type = known.type(tag, at: path)
      if let tag, type == nil { unregistered.insert(tag.rawValue) }
      guard node.byteCount > 0 else { continue }
      guard let type else {
        result.uncheckedPaths.append(path)
        continue
      }
      let decoder = RestorationDecoder(
        record: plan.record(of: index), path: path, context: plan.context, storedVersion: node.version)
      do throws(RestorationError) {
        if try RestorationRegistry.verify(decoder, as: type) {
          result.checkedCount += 1
        } else {
          result.uncheckedPaths.append(path)
        }
      } catch {
        result.checkedCount += 1
        let reason = error.reason(stored: node.version, known: type.stateVersion)
        result.problems.append(.init(path: path, result: .notRestored(reason)))
      }
      decoder.finish()
    }
    result.unregisteredClasses = unregistered.sorted().map { RestorationClass(rawValue: $0) }
    return result
  }
}

extension RestorationError {
  /// The same failure as a report words it.
  func reason(stored: StateVersion, known: StateVersion) -> NotRestoredReason {
    switch code {
    case .newerVersion: .newerVersion(stored: stored, known: known)
    case .noMigration, .migrationFailed: .migrationFailed(description)
    default: .decodingFailed(description)
    }
  }
}
