/// Follows who owns a name on a bus, so that only the owner's signals are believed and a restarted service is noticed.
final class NameWatch {
  let name: String
  /// The owner's unique name; nil while nobody has the name.
  private(set) var owner: String?
  private var changed: (String?) -> Void = { _ in }

  init(_ name: String) { self.name = name }

  /// Begins to follow; the closure gets every new owner, and nil when there is none.
  ///
  /// - Parameter failed: Gets what kept the owner from being found.
  func begin(
    on connection: BusConnection, timeout: Duration, startsService: Bool,
    changed: @escaping (String?) -> Void, failed: @escaping (BusError) -> Void
  ) {
    owner = nil
    self.changed = changed
    let rule =
      "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
      + "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(name)'"
    do throws(BusError) {
      try connection.subscribe(rule) { [weak self] message in
        guard let self, message.sender == "org.freedesktop.DBus", (try? message.string()) == name,
          (try? message.string()) != nil, let owner = try? message.string()
        else { return }
        become(owner.isEmpty ? nil : owner)
      }
    } catch {
      return failed(error)
    }
    let ask = { [weak self, weak connection] in
      guard let self, let connection else { return }
      connection.send(.bus("GetNameOwner", [.string(name)]), timeout: timeout) { [weak self] result in
        guard let self else { return }
        do throws(BusError) { become(try result.get().string()) } catch {
          if owner == nil { failed(error) }
        }
      }
    }
    guard startsService else { return ask() }
    connection.send(.bus("StartServiceByName", [.string(name), .uint32(0)]), timeout: timeout) { result in
      if case .failure(let error) = result, !error.isAbsentService { return failed(error) }
      ask()
    }
  }

  /// The connection is gone, and with it everything known.
  func forget() { owner = nil }

  private func become(_ newOwner: String?) {
    guard owner != newOwner else { return }
    owner = newOwner
    changed(newOwner)
  }
}
