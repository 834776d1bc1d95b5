// swift-tools-version: 6.2.3

import PackageDescription

/// Language mode 6, the upcoming features, strict memory safety.
let language: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("ImmutableWeakCaptures"),
  .strictMemorySafety(),
]

/// Warnings are errors for those who work on the package: the gate sets this variable.
///
/// In a program that depends on the package a newer compiler's warning would stop the build, and SwiftPM's next build system
/// refuses this setting beside its own `-suppress-warnings`.
let strictness: [SwiftSetting] =
  Context.environment["RESTORATION_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)]

/// The settings of every Swift target.
let settings = language + strictness

/// The modules that are optimised where `RESTORATION_GATE` is set.
///
/// The gate sets it for its tests, which run these modules with every fault at every call. All checks of a debug build
/// stay. Nobody who depends on the package by URL can set the variable: the package manager refuses unsafe flags there.
let optimised =
  Context.environment["RESTORATION_GATE"] == nil
  ? [] : ["FileSystem", "FaultyFileSystem", "Sealing", "DataProtection", "RestorationArchive"]

/// A library's target under `Sources`.
func module(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  let flags = ["-O", "-wmo", "-num-threads", "2", "-assert-config", "Debug"]
  return .target(
    name: name, dependencies: dependencies,
    swiftSettings: optimised.contains(name) ? settings + [.unsafeFlags(flags)] : settings)
}

/// A test target under `Tests` with the common settings, whose tests don't all start at once and don't wait for ever.
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(name: name, dependencies: dependencies + ["CTestProcess", "Patience"], swiftSettings: settings)
}

/// The small programs of Docs/Examples, which the tests run and kill.
let examples = ["todo", "two-windows", "locked-diary", "declarative", "guide"]

let package = Package(
  name: "swift-state-restoration",
  products: [
    .library(name: "StateRestoration", targets: ["StateRestoration"]),
    .library(name: "RestorationArchive", targets: ["RestorationArchive"]),
    .library(name: "DataProtection", targets: ["DataProtection"]),
    .library(name: "ApplicationLifecycle", targets: ["ApplicationLifecycle"]),
    .library(name: "StateRestorationTesting", targets: ["StateRestorationTesting"]),
    .library(name: "DesktopSession", targets: ["DesktopSession"]),
    .executable(name: "restore-demo", targets: ["restore-demo"]),
    .executable(name: "restore-inspect", targets: ["restore-inspect"]),
    .executable(name: "restore-bench", targets: ["restore-bench"]),
  ],
  targets: [
    .systemLibrary(
      name: "CLibcrypto",
      pkgConfig: "libcrypto",
      providers: [.apt(["libssl-dev"]), .yum(["openssl-devel"]), .brew(["openssl@3"])]),
    .systemLibrary(name: "CSystem"),

    module("FoundationShim", []),
    module("FileSystem", ["CSystem"]),
    module("FaultyFileSystem", ["FileSystem"]),
    module("SimulatedTime", []),
    module("Sealing", ["CLibcrypto", "CSystem"]),
    module("DataProtection", ["FileSystem", "Sealing", "FoundationShim"]),
    module("RestorationArchive", ["FoundationShim"]),
    module("ApplicationLifecycle", ["FoundationShim"]),
    module(
      "StateRestoration", ["RestorationArchive", "ApplicationLifecycle", "DataProtection", "FoundationShim"]),
    module(
      "StateRestorationTesting",
      [
        "StateRestoration", "RestorationArchive", "ApplicationLifecycle", "DataProtection", "FileSystem",
        "FaultyFileSystem", "SimulatedTime", "FoundationShim",
      ]),

    // libsystemd is opened when a program runs, so that nothing here needs it to build: Docs/Decisions/0015.
    .systemLibrary(name: "CDesktop"),
    module("DesktopSession", ["StateRestoration", "CDesktop"]),

    .executableTarget(
      name: "restore-demo", dependencies: ["StateRestoration", "DesktopSession"], swiftSettings: settings),
    .executableTarget(
      name: "restore-inspect",
      dependencies: ["StateRestoration", "RestorationArchive", "DataProtection", "FileSystem", "FoundationShim"],
      swiftSettings: settings),
    .executableTarget(
      name: "restore-bench",
      dependencies: [
        "StateRestoration", "RestorationArchive", "DataProtection", "FileSystem", "FaultyFileSystem", "Sealing",
        "CAllocationCounter",
      ],
      path: "Benchmarks/restore-bench", swiftSettings: settings),
    .target(name: "CAllocationCounter", path: "Benchmarks/CAllocationCounter"),

    tests("FileSystemTests", ["FileSystem", "CSystem"]),
    tests("FaultyFileSystemTests", ["FaultyFileSystem", "FileSystem"]),
    tests("SimulatedTimeTests", ["SimulatedTime"]),
    tests("SealingTests", ["Sealing", "CSystem", "OwnThread", "ProcessMemory", "TestTraits"]),
    tests(
      "DataProtectionTests",
      [
        "DataProtection", "FileSystem", "FaultyFileSystem", "Sealing", "SimulatedTime", "OwnThread", "ProcessMemory",
        "SeededRandom", "TestTraits",
      ]),
    .target(name: "CTestProcess", path: "Tests/Support/CTestProcess"),
    .target(
      name: "TestTraits", dependencies: ["CTestProcess"], path: "Tests/Support/TestTraits", swiftSettings: settings),
    .target(name: "Patience", path: "Tests/Support/Patience", swiftSettings: settings),
    .target(name: "OwnThread", path: "Tests/Support/OwnThread", swiftSettings: settings),
    .target(name: "ProcessMemory", path: "Tests/Support/ProcessMemory", swiftSettings: settings),
    .target(name: "SavedFiles", path: "Tests/Support/SavedFiles", swiftSettings: settings),
    .target(name: "SeededRandom", path: "Tests/Support/SeededRandom", swiftSettings: settings),
    tests(
      "RestorationArchiveTests",
      ["RestorationArchive", "CAllocationCounter", "HandmadeArchive", "SeededRandom", "TestTraits"]),
    .target(name: "HandmadeArchive", path: "Tests/Support/HandmadeArchive", swiftSettings: settings),
    tests("ApplicationLifecycleTests", ["ApplicationLifecycle", "SimulatedTime", "TestTraits"]),
    tests(
      "StateRestorationTests",
      [
        "StateRestoration", "RestorationArchive", "ApplicationLifecycle", "DataProtection", "FileSystem",
        "FaultyFileSystem", "Sealing", "SimulatedTime", "StateRestorationTesting", "HandmadeArchive", "OwnThread",
        "SeededRandom", "TestTraits", "main-thread-calls",
      ]),
    tests(
      "StateRestorationTestingTests",
      [
        "StateRestorationTesting", "StateRestoration", "RestorationArchive", "ApplicationLifecycle", "DataProtection",
        "FileSystem", "FaultyFileSystem", "SimulatedTime",
      ]),
    tests(
      "RestoreInspectTests",
      [
        "restore-inspect", "StateRestorationTesting", "StateRestoration", "RestorationArchive", "DataProtection",
        "FileSystem", "FaultyFileSystem", "SimulatedTime", "OwnThread", "SeededRandom",
      ]),
    .target(
      name: "RestorationOracle",
      dependencies: [
        "StateRestoration", "RestorationArchive", "DataProtection", "StateRestorationTesting", "SimulatedTime",
        "SeededRandom", "FaultyFileSystem", "FileSystem",
      ],
      path: "Tests/Oracle/RestorationOracle", swiftSettings: settings),
    .executableTarget(
      name: "restoration-oracle", dependencies: ["RestorationOracle"], path: "Tests/Oracle/restoration-oracle",
      swiftSettings: settings),
    .testTarget(
      name: "RestorationOracleTests", dependencies: ["RestorationOracle", "CTestProcess"],
      path: "Tests/Oracle/RestorationOracleTests", swiftSettings: settings),
    .testTarget(
      name: "EndToEndTests",
      dependencies: [
        "restore-demo", "life-writer", "StateRestoration", "RestorationArchive", "DataProtection", "OwnThread",
        "SeededRandom", "CTestProcess", "TestTraits", "Patience",
      ],
      exclude: ["Desktop"], swiftSettings: settings),
    tests(
      "DocumentationTests",
      [
        "StateRestoration", "RestorationArchive", "StateRestorationTesting", "DesktopSession", "OwnThread",
        "SavedFiles",
      ]
        + examples.map { .byName(name: $0) }),
  ]
)

// As a user would build them: with the compiler's settings, and with the public face only.
package.targets += examples.map {
  .executableTarget(name: $0, dependencies: ["StateRestoration"], path: "Docs/Examples/\($0)", packageAccess: false)
}

// Programs that begin in every way, and keep their main thread: Tests/StartUp. They are built as a user would build them.
package.targets.append(
  .target(
    name: "StartUpProgram", dependencies: ["StateRestoration"], path: "Tests/StartUp/StartUpProgram",
    packageAccess: false))
let startUps = ["start-up", "start-up-async", "start-up-5", "start-up-6"]
package.targets += startUps.map {
  .executableTarget(
    name: $0, dependencies: ["StateRestoration", "StartUpProgram"], path: "Tests/StartUp/\($0)", packageAccess: false,
    swiftSettings: [.swiftLanguageMode($0 == "start-up-5" ? .v5 : .v6)])
}
package.targets.append(
  .testTarget(
    name: "StartUpTests",
    dependencies: ["OwnThread", "SavedFiles", "CTestProcess", "TestTraits"] + startUps.map { .byName(name: $0) },
    path: "Tests/StartUp/StartUpTests", exclude: ["Desktop"], swiftSettings: settings))

// A program with notes of several classes of protection, which is killed and whose disk loses its power: Tests/Lives. It lives by the
// public face only; who looks at the bytes that it leaves does not.
package.targets += [
  .target(
    name: "LifeProgram", dependencies: ["StateRestoration"], path: "Tests/Lives/LifeProgram", packageAccess: false,
    swiftSettings: settings),
  .executableTarget(
    name: "life-writer", dependencies: ["LifeProgram", "DataProtection", "SeededRandom"],
    path: "Tests/Lives/life-writer", swiftSettings: settings),
]

// A program that counts what is called on its main thread: the counting functions stand in front of those of the libraries.
package.targets += [
  .target(name: "CCallCounts", dependencies: ["CLibcrypto"], path: "Tests/Support/CCallCounts"),
  .executableTarget(
    name: "main-thread-calls", dependencies: ["StateRestoration", "CCallCounts"],
    path: "Tests/MainThread/main-thread-calls", packageAccess: false),
]

// The fuzz targets have no `main`: they link only with `--sanitize fuzzer`, so they exist only when asked for, and then
// with nothing but what they need, so that building them is quick: see Tests/Fuzz/run.
if Context.environment["RESTORATION_FUZZ"] != nil {
  let modules = [
    "CLibcrypto", "CSystem", "FoundationShim", "FileSystem", "FaultyFileSystem", "Sealing", "DataProtection",
    "RestorationArchive", "ApplicationLifecycle", "StateRestoration",
  ]
  let store: [Target.Dependency] = ["FuzzSupport", "DataProtection", "Sealing", "FileSystem", "FaultyFileSystem"]
  let fuzzers: [(String, [Target.Dependency])] = [
    ("FuzzCoder", ["RestorationArchive"]),
    ("FuzzArchive", ["RestorationArchive"]),
    ("FuzzSealedFile", store),
    ("FuzzKeybag", store),
    ("FuzzLedger", store),
    ("FuzzFrames", store),
    ("FuzzMarker", store),
    ("FuzzPending", ["FuzzSupport", "DataProtection", "RestorationArchive", "StateRestoration"]),
  ]
  package.products = []
  package.targets = package.targets.filter { modules.contains($0.name) }
  for target in package.targets where target.name == "RestorationArchive" {
    target.swiftSettings = (target.swiftSettings ?? []) + [.define("SMALL_TABLES")]
  }
  package.targets.append(
    .target(
      name: "FuzzSupport", dependencies: ["DataProtection", "Sealing", "FileSystem", "FaultyFileSystem"],
      path: "Tests/Fuzz/FuzzSupport", swiftSettings: settings))
  package.targets += fuzzers.map { name, dependencies in
    .executableTarget(
      name: name, dependencies: dependencies, path: "Tests/Fuzz/\(name)", swiftSettings: settings)
  }
}

// The tests of a desktop need a message bus, a keyring and the like, which `.ci/desktop` installs: they exist only when
// asked for.
if Context.environment["RESTORATION_DESKTOP"] != nil {
  for target in package.targets where ["EndToEndTests", "StartUpTests"].contains(target.name) { target.exclude = [] }
  package.targets.append(
    .testTarget(
      name: "DesktopSessionTests", dependencies: ["DesktopSession", "StateRestoration"],
      exclude: [
        "Support/bus-proxy.py", "Support/desktop-mock.py", "Support/elogind-session.py", "Support/elogind.sh",
        "Support/private-bus.conf",
      ], swiftSettings: settings))
}

// The program whose disk loses its power, and the modules that it needs: see Tests/PowerCuts/run.
if Context.environment["RESTORATION_POWER_CUTS"] != nil {
  let modules = [
    "CLibcrypto", "CSystem", "FoundationShim", "FileSystem", "FaultyFileSystem", "Sealing", "DataProtection",
    "SeededRandom", "RestorationArchive", "ApplicationLifecycle", "StateRestoration", "LifeProgram", "life-writer",
  ]
  package.products = []
  package.targets = package.targets.filter { modules.contains($0.name) }
  package.targets.append(
    .executableTarget(
      name: "power-cut-writer", dependencies: ["DataProtection", "FileSystem", "FaultyFileSystem", "SeededRandom"],
      path: "Tests/PowerCuts/power-cut-writer", swiftSettings: settings))
}
