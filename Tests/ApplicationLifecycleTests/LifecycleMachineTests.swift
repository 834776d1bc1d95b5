import ApplicationLifecycle
import Testing

@Suite struct LifecycleMachineTests {
  @Test func `the page has a row for every pair of states`() throws {
    for from in Lifecycle.State.allCases {
      for to in Lifecycle.State.allCases {
        #expect(try LifecycleTables.pairs().contains([from, to]), "\(from) → \(to)")
      }
    }
  }

  @Test(arguments: Lifecycle.State.allCases, Lifecycle.State.allCases)
  func `every pair in every manner does what the page says`(from: Lifecycle.State, to: Lifecycle.State) throws {
    let table = try LifecycleTables.transitions()
    for manner in LifecycleTransition.Manner.allCases {
      for exitsOnSuspend in [false, true] {
        var machine = LifecycleMachine(state: from, exitsOnSuspend: exitsOnSuspend)
        let transition = LifecycleTransition(from: from, to: to, manner: manner)
        let hasBackground = !exitsOnSuspend || [from, to].allSatisfy { $0 != .background && $0 != .suspended }
        if let steps = table[transition], hasBackground {
          #expect(try machine.move(to: to, manner: manner) == steps)
          #expect(machine.state == to)
        } else {
          let error = try #require(throws: Lifecycle.RequestError.self) { try machine.move(to: to, manner: manner) }
          #expect(error.code == .illegalTransition)
          #expect(error.from == from && error.to == to)
          #expect(error.message.contains(from.rawValue) && error.message.contains(to.rawValue))
          #expect(machine.state == from, "a refused transition changes nothing")
        }
      }
    }
  }

  @Test(arguments: LifecycleRequest.allCases, Lifecycle.State.allCases)
  func `every request in every state takes the page's route`(
    request: LifecycleRequest, state: Lifecycle.State
  ) throws {
    for exitsOnSuspend in [false, true] {
      let table = try LifecycleTables.routes(exitsOnSuspend ? "requests with exitsOnSuspend" : "requests")
      guard let expected = try #require(table[request])[state] else {
        #expect(exitsOnSuspend && (state == .background || state == .suspended))
        continue
      }
      let machine = LifecycleMachine(state: state, exitsOnSuspend: exitsOnSuspend)
      if let expected {
        #expect(try machine.route(for: request) == expected)
      } else {
        let error = try #require(throws: Lifecycle.RequestError.self) { try machine.route(for: request) }
        #expect(error.code == .illegalTransition && error.from == state && error.to != nil)
        #expect(error.message.contains(state.rawValue))
      }
    }
  }

  @Test(arguments: LifecycleRequest.allCases, Lifecycle.State.allCases)
  func `every route is made of legal transitions that join`(
    request: LifecycleRequest, state: Lifecycle.State
  ) throws {
    for exitsOnSuspend in [false, true] where !(exitsOnSuspend && (state == .background || state == .suspended)) {
      var machine = LifecycleMachine(state: state, exitsOnSuspend: exitsOnSuspend)
      guard let route = try? machine.route(for: request) else { continue }
      for transition in route {
        #expect(machine.state == transition.from)
        _ = try machine.move(to: transition.to, manner: transition.manner)
      }
    }
  }

  @Test func `a program launched into the background never passes through inactive`() throws {
    let route = try LifecycleMachine().route(for: .launchInBackground)
    #expect(route == [LifecycleTransition(from: .notRunning, to: .background)])
  }

  @Test func `the walk that a machine reports enters exactly the states of its transitions`() throws {
    for (transition, steps) in try LifecycleTables.transitions() {
      let entered = steps.compactMap { step in if case .enter(let state) = step { state } else { nil } }
      #expect(entered == [transition.to], "\(transition)")
    }
  }
}
