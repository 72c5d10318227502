// swift-tools-version: 6.2

import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// Tests that wait more than they compute are not optimised, because that takes minutes. What they test is.
let unoptimised = swiftSettings + [.unsafeFlags(["-Onone"])]

let cSettings: [CSetting] = [
    .treatAllWarnings(as: .error)
]

/// Programs that measure, soak and fuzz. Their scripts build them, and so does Scripts/test, to keep them sound. A
/// plain `swift build` does not.
let tools: [Target] =
    Context.environment["HELIOGRAPH_TOOLS"] == nil
    ? []
    : [
        .executableTarget(
            name: "LimitLoop",
            dependencies: ["CColour", "CCounterPattern"],
            path: "Benchmarks/LimitLoop",
            cSettings: cSettings,
            linkerSettings: [.linkedLibrary("x264"), .linkedLibrary("yuv")]
        ),
        .executableTarget(
            name: "PictureReader",
            dependencies: ["CCounterPattern"],
            path: "Benchmarks/PictureReader",
            cSettings: cSettings,
            linkerSettings: [.linkedLibrary("avcodec"), .linkedLibrary("avutil"), .linkedLibrary("m")]
        ),
        .target(name: "CCrowd", path: "Benchmarks/CCrowd", cSettings: cSettings),
        .executableTarget(
            name: "Bench",
            dependencies: [
                "CCrowd", "LimitLoop", "Media", "PictureReader", "TestSupport", "Wire",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Benchmarks/Bench",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "LibraryBench",
            dependencies: ["Library"],
            path: "Benchmarks/LibraryBench",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "PairingBench",
            dependencies: ["Access"],
            path: "Benchmarks/PairingBench",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "Soak",
            dependencies: [
                "Media", "TestSupport", "Wire",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Benchmarks/Soak",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "act-in-swift",
            dependencies: ["HeliographClient"],
            path: "Examples/act-in-swift",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "Fuzz",
            dependencies: ["Fuzzing"],
            path: "Tests/FuzzCommand",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "LiveFuzz",
            dependencies: [
                "LiveFuzzing",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/LiveFuzzCommand",
            swiftSettings: swiftSettings
        ),
    ]

let package = Package(
    name: "heliograph",
    products: [
        .executable(name: "capture-agent", targets: ["CaptureAgentCommand"]),
        .executable(name: "heliograph-relay", targets: ["RelayCommand"]),
        .executable(name: "heliograph", targets: ["HeliographCommand"]),
        .executable(name: "heliograph-view", targets: ["ViewerCommand"]),
        .library(name: "HeliographClient", targets: ["HeliographClient"]),
        .library(name: "HeliographDecode", targets: ["HeliographDecode"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.35.0"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-system.git", from: "1.5.0"),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.0", traits: []),
        .package(url: "https://github.com/jpsim/Yams.git", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.30.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.9.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess.git", from: "1.0.0", traits: []),
    ],
    targets: [
        // System libraries and shims
        .systemLibrary(
            name: "CPipeWireSystem",
            pkgConfig: "libpipewire-0.3",
            providers: [.apt(["libpipewire-0.3-dev"])]
        ),
        .systemLibrary(name: "CAVCodec", providers: [.apt(["libavcodec-dev"])]),
        .systemLibrary(name: "CAvahi", providers: [.apt(["libavahi-client-dev"])]),
        .systemLibrary(name: "CPNG", providers: [.apt(["libpng-dev"])]),
        .systemLibrary(name: "CSDL", providers: [.apt(["libsdl2-dev", "libsdl2-ttf-dev"])]),
        .systemLibrary(name: "CSystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(name: "CYUV", providers: [.apt(["libyuv-dev"])]),
        .systemLibrary(name: "CTurboJPEG", providers: [.apt(["libturbojpeg0-dev"])]),
        .systemLibrary(
            name: "CXCB",
            providers: [
                .apt([
                    "libxcb1-dev", "libxcb-damage0-dev", "libxcb-randr0-dev", "libxcb-res0-dev", "libxcb-shm0-dev",
                    "libxcb-xfixes0-dev", "libxcb-xinput-dev", "libxcb-xtest0-dev",
                ])
            ]
        ),
        .systemLibrary(name: "CXKBCommon", providers: [.apt(["libxkbcommon-dev"])]),
        .target(name: "COpus", cSettings: cSettings, linkerSettings: [.linkedLibrary("opus")]),
        .systemLibrary(name: "CSpeexDSP", providers: [.apt(["libspeexdsp-dev"])]),
        .target(name: "CPipeWire", dependencies: ["CPipeWireSystem"], cSettings: cSettings),
        .target(name: "CWayland", cSettings: cSettings, linkerSettings: [.linkedLibrary("wayland-client")]),
        .target(name: "CX264", cSettings: cSettings, linkerSettings: [.linkedLibrary("x264")]),
        .target(name: "CX265", cSettings: cSettings, linkerSettings: [.linkedLibrary("x265")]),
        // Headers only: loaded at run time.
        .target(name: "CLibAV", cSettings: cSettings),
        .target(name: "CColour", cSettings: cSettings),
        .target(name: "CPixels", cSettings: cSettings),
        .target(name: "CLinux", cSettings: cSettings),
        .target(name: "CInput", cSettings: cSettings),
        .target(name: "CCrypto", cSettings: cSettings, linkerSettings: [.linkedLibrary("crypto")]),
        .target(name: "CCounterPattern", cSettings: cSettings),

        // Values and pure policy
        .target(name: "Media", swiftSettings: swiftSettings),
        .target(name: "Packaging", dependencies: ["Media"], swiftSettings: swiftSettings),
        .target(
            name: "Library",
            dependencies: [
                "Files", "Media", "Packaging", "Program",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "LibraryAPI",
            dependencies: ["HeliographAPI", "Library"],
            swiftSettings: swiftSettings
        ),
        .target(name: "Pacing", dependencies: ["Media"], swiftSettings: swiftSettings),
        .target(name: "Program", dependencies: ["CLinux"], swiftSettings: swiftSettings),
        .target(
            name: "Files",
            dependencies: [.product(name: "SystemPackage", package: "swift-system")],
            swiftSettings: swiftSettings
        ),
        .target(name: "Wire", dependencies: ["Media", "Program"], swiftSettings: swiftSettings),
        .target(name: "Gamepads", dependencies: ["CInput", "Wire"], swiftSettings: swiftSettings),
        .target(name: "HeliographAPI", dependencies: ["Media", "Program", "Wire"], swiftSettings: swiftSettings),
        .target(
            name: "Access",
            dependencies: [
                "CCrypto", "Files", "Program",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: swiftSettings
        ),

        // Codecs and files that several programs use
        .target(name: "Sound", dependencies: ["COpus"], swiftSettings: swiftSettings),
        .target(name: "Images", dependencies: ["CPNG", "CYUV"], swiftSettings: swiftSettings),

        .target(name: "Discovery", dependencies: ["CAvahi", "Program"], swiftSettings: swiftSettings),

        // The two processes
        .target(
            name: "CaptureAgent",
            dependencies: [
                "CColour", "CCounterPattern", "CInput", "CLibAV", "CLinux", "CPNG", "CPipeWire", "CPixels",
                "CSpeexDSP", "CSystemd", "CTurboJPEG", "CWayland", "CX264", "CX265", "CXCB", "CXKBCommon", "CYUV",
                "Gamepads", "Images", "Media", "Pacing", "Program", "Sound", "Wire",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "Relay",
            dependencies: [
                "Access", "CCrypto", "CLinux", "Discovery", "Files", "HeliographAPI", "Library", "LibraryAPI", "Media",
                "Pacing", "Packaging", "Program", "Wire",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "Yams", package: "Yams"),
            ],
            resources: [.embedInCode("Page"), .embedInCode("HTTP/openapi.json")],
            swiftSettings: swiftSettings
        ),

        // What programs link
        .target(
            name: "HeliographClient",
            dependencies: [
                "Access", "Files", "HeliographAPI", "Media", "Packaging", "Program", "Wire",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: swiftSettings
        ),

        .target(
            name: "HeliographDecode",
            dependencies: ["Access", "CAVCodec", "CYUV", "HeliographClient", "Images", "Sound"],
            swiftSettings: swiftSettings
        ),

        // What the commands for people share
        .target(
            name: "CommandSupport",
            dependencies: [
                "Access", "HeliographAPI", "HeliographClient",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "Viewer",
            dependencies: [
                "CSDL", "CommandSupport", "Files", "HeliographAPI", "HeliographClient", "HeliographDecode", "Program",
                "Sound",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: swiftSettings
        ),

        // Thin mains
        .executableTarget(
            name: "CaptureAgentCommand",
            dependencies: [
                "CaptureAgent", "Media", "Program", "Wire",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "RelayCommand",
            dependencies: [
                "Access", "HeliographAPI", "Program", "Relay", "Wire",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "ViewerCommand",
            dependencies: [
                "CommandSupport", "HeliographAPI", "HeliographClient", "Program", "Viewer",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "HeliographCommand",
            dependencies: [
                "Access", "CInput", "CommandSupport", "Discovery", "Files", "Gamepads", "HeliographAPI",
                "HeliographClient", "Library",
                "LibraryAPI", "Media", "Packaging", "Program", "Wire",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: swiftSettings
        ),

        // Tests
        .target(
            name: "TestSupport",
            dependencies: ["CCounterPattern", "Media", "Wire"],
            path: "Tests/Support",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "Fuzzing",
            dependencies: [
                "Access", "CaptureAgent", "HeliographAPI", "Media", "Packaging", "Relay", "Wire",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
            ],
            path: "Tests/Fuzzing",
            swiftSettings: swiftSettings
        ),
        .testTarget(name: "FuzzTests", dependencies: ["Fuzzing", "TestSupport"], swiftSettings: swiftSettings),
        .target(
            name: "LiveFuzzing",
            dependencies: ["Fuzzing", "HeliographAPI", "Media", "Relay", "RelayTestSupport", "TestSupport", "Wire"],
            path: "Tests/LiveFuzzing",
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "LiveFuzzTests",
            dependencies: ["LiveFuzzing", "TestSupport"],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "PacingSimulation",
            dependencies: ["Media", "Pacing", "TestSupport"],
            path: "Tests/PacingSimulation",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "StreamOracle",
            dependencies: ["Media", "TestSupport"],
            path: "Tests/StreamOracle",
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "SystemTests",
            dependencies: [
                "CaptureAgent", "Media", "Program", "ReferenceCodecs", "StreamOracle", "TestSupport", "Wire",
            ],
            swiftSettings: unoptimised
        ),
        .testTarget(name: "ArchitectureTests", swiftSettings: swiftSettings),
        .testTarget(
            name: "FilesTests",
            dependencies: [
                "Files", "TestSupport",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "LibraryTests",
            dependencies: ["Library", "TestSupport", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "AccessTests",
            dependencies: ["Access", "Files", "TestSupport"],
            swiftSettings: swiftSettings
        ),
        .testTarget(name: "SoundTests", dependencies: ["Sound", "TestSupport"], swiftSettings: swiftSettings),
        .testTarget(
            name: "HeliographDecodeTests",
            dependencies: ["HeliographClient", "HeliographDecode", "Media", "TestSupport"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "ViewerTests",
            dependencies: [
                "CSDL", "HeliographClient", "TestSupport", "Viewer",
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(name: "DiscoveryTests", dependencies: ["Discovery", "TestSupport"], swiftSettings: swiftSettings),
        .testTarget(name: "MediaTests", dependencies: ["Media", "TestSupport"], swiftSettings: swiftSettings),
        .systemLibrary(
            name: "CDe265",
            path: "Tests/CDe265",
            pkgConfig: "libde265",
            providers: [.apt(["libde265-dev"])]
        ),
        .systemLibrary(
            name: "COpenH264",
            path: "Tests/COpenH264",
            pkgConfig: "openh264",
            providers: [.apt(["libopenh264-dev"])]
        ),
        .executableTarget(
            name: "ReferenceCodecs",
            dependencies: ["CDe265", "COpenH264"],
            path: "Tests/ReferenceCodecs",
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "StreamTests",
            dependencies: ["Media", "Packaging", "ReferenceCodecs", "StreamOracle", "TestSupport"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "PackagingTests",
            dependencies: ["Media", "Packaging", "TestSupport"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "PacingTests",
            dependencies: ["Media", "Pacing", "PacingSimulation", "TestSupport"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "CaptureAgentTests",
            dependencies: [
                "CaptureAgent", "CColour", "CInput", "CLibAV", "CPipeWire", "Gamepads", "Media", "Program",
                "TestSupport", "Wire",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "WireTests",
            dependencies: ["Media", "Program", "TestSupport", "Wire"],
            swiftSettings: swiftSettings
        ),
        .target(
            name: "RelayTestSupport",
            dependencies: [
                "Access", "HeliographAPI", "Media", "Packaging", "Program", "Relay", "TestSupport", "Wire",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            path: "Tests/RelaySupport",
            exclude: ["Contract/examples.json"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "HeliographClientTests",
            dependencies: [
                "Access", "HeliographAPI", "HeliographClient", "Media", "Relay", "RelayTestSupport", "TestSupport",
                "Wire",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: unoptimised
        ),
        .testTarget(
            name: "RelayTests",
            dependencies: [
                "Access", "HeliographAPI", "Library", "LibraryAPI", "Media", "Packaging", "Program", "Relay",
                "RelayTestSupport", "TestSupport", "Wire",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
            ],
            swiftSettings: unoptimised
        ),
    ] + tools
)
