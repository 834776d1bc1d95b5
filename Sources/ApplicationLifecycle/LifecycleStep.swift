/// One thing that happens during a transition; the order of steps is the order of `Docs/Lifecycle.md`.
package enum LifecycleStep: Sendable, Hashable, CustomStringConvertible {
  /// From here on this state is the one reported.
  case enter(Lifecycle.State)

  /// The delegate sees the launch options; nothing has been restored.
  case willFinishLaunching

  /// The last snapshot is shown, until restoring has ended.
  case showSnapshot

  /// The preserved state is restored, if the delegate agrees.
  case restore

  /// The snapshot shown before restoring is taken away.
  case removeSnapshot

  /// The delegate learns that launching is over; the hierarchy is restored.
  case didFinishLaunching

  /// The window may be seen from here on.
  case showWindow

  /// The URL the program was launched for is opened.
  case openURL

  /// The event the program was launched for, in the background, is handled.
  case handleBackgroundEvent

  /// Notifications that were queued while suspended are delivered.
  case deliverNotifications

  /// Handles of protected files closed at `closeHandles` are opened anew.
  case openHandles

  /// The delegate learns that the program is active.
  case didBecomeActive

  /// Input is handled from here on, beginning with the kept input.
  case startInput

  /// Input is kept back from here on.
  case stopInput

  /// The delegate learns that the program will be inactive.
  case willResignActive

  /// Open handles of files of the class `complete` are closed.
  case closeHandles

  /// The delegate learns that the program is in the background: the last reliable moment.
  case didEnterBackground

  /// The state is preserved, if the delegate agrees.
  case preserve

  /// Controllers with sensitive content hide it.
  case hideSensitiveContent

  /// The delegate is asked for a snapshot, which is sealed.
  case takeSnapshot

  /// The window is no longer seen.
  case hideWindow

  /// The device locks.
  case lockDevice

  /// The delegate learns that the program will be in the foreground.
  case willEnterForeground

  /// Controllers show the sensitive content they hid.
  case revealSensitiveContent

  /// The delegate learns that the program will end.
  case willTerminate

  /// Every step, once; `enter` with every state.
  package static let all: [LifecycleStep] =
    Lifecycle.State.allCases.map(LifecycleStep.enter) + [
      .willFinishLaunching, .showSnapshot, .restore, .removeSnapshot, .didFinishLaunching, .showWindow,
      .openURL,
      .handleBackgroundEvent, .deliverNotifications, .openHandles, .didBecomeActive, .startInput, .stopInput,
      .willResignActive, .closeHandles, .didEnterBackground, .preserve, .hideSensitiveContent, .takeSnapshot,
      .hideWindow, .lockDevice, .willEnterForeground, .revealSensitiveContent, .willTerminate,
    ]

  /// The step's name as it is written in `Docs/Lifecycle.md`.
  package var description: String {
    switch self {
    case .enter(let state): "enter \(state)"
    case .willFinishLaunching: "willFinishLaunching"
    case .showSnapshot: "showSnapshot"
    case .restore: "restore"
    case .removeSnapshot: "removeSnapshot"
    case .didFinishLaunching: "didFinishLaunching"
    case .showWindow: "showWindow"
    case .openURL: "openURL"
    case .handleBackgroundEvent: "handleBackgroundEvent"
    case .deliverNotifications: "deliverNotifications"
    case .openHandles: "openHandles"
    case .didBecomeActive: "didBecomeActive"
    case .startInput: "startInput"
    case .stopInput: "stopInput"
    case .willResignActive: "willResignActive"
    case .closeHandles: "closeHandles"
    case .didEnterBackground: "didEnterBackground"
    case .preserve: "preserve"
    case .hideSensitiveContent: "hideSensitiveContent"
    case .takeSnapshot: "takeSnapshot"
    case .hideWindow: "hideWindow"
    case .lockDevice: "lockDevice"
    case .willEnterForeground: "willEnterForeground"
    case .revealSensitiveContent: "revealSensitiveContent"
    case .willTerminate: "willTerminate"
    }
  }
}
