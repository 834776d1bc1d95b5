// swift-tools-version: 6.3

import PackageDescription

// A package of its own, so that nobody who uses the framework needs GTK.
let package = Package(
  name: "gtk-notes",
  dependencies: [.package(name: "swift-state-restoration", path: "../../..")],
  targets: [
    .systemLibrary(name: "CGtk", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])]),
    .executableTarget(
      name: "gtk-notes",
      dependencies: [
        "CGtk",
        .product(name: "StateRestoration", package: "swift-state-restoration"),
        .product(name: "DesktopSession", package: "swift-state-restoration"),
      ],
      swiftSettings: [
        .swiftLanguageMode(.v6), .defaultIsolation(MainActor.self), .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
      ]),
  ]
)
