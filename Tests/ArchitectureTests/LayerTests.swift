import Foundation
import Testing

/// The layers of docs/design/architecture.md, as the modules that each may import.
@Suite("Layers")
struct LayerTests {
    /// Modules that every layer may use.
    private static let common: Set<String> = ["Swift", "Synchronization"]

    private static let allowed: [String: Set<String>] = [
        "Media": [],
        "Packaging": ["Media"],
        "Pacing": ["Media"],
        "Wire": ["FoundationEssentials", "Media", "Program"],
        "Program": ["CLinux", "Glibc"],
        "Files": ["Glibc", "SystemPackage"],
        "Gamepads": ["CInput", "Wire"],
        "Images": ["CPNG", "CYUV"],
        "Sound": ["COpus"],
        "HeliographAPI": ["FoundationEssentials", "Media", "Program", "Wire"],
        "Library": [
            "Files", "FoundationEssentials", "GRDB", "Glibc", "Media", "Packaging", "Program", "Synchronization",
            "SystemPackage",
        ],
        "LibraryAPI": ["FoundationEssentials", "HeliographAPI", "Library"],
        "Access": ["CCrypto", "Files", "FoundationEssentials", "Glibc", "Program", "SystemPackage"],
        "Discovery": ["CAvahi", "Program", "Synchronization"],
        "CaptureAgent": [
            "CColour", "CCounterPattern", "CInput", "CLibAV", "CLinux", "CPNG", "CPipeWire", "CPixels",
            "CSpeexDSP", "CSystemd", "CTurboJPEG", "CWayland", "CX264", "CX265", "CXCB", "CXKBCommon", "CYUV",
            "FoundationEssentials",
            "Gamepads", "Glibc", "Images", "Logging", "Media", "Pacing", "Program", "Sound", "Wire",
        ],
        "CaptureAgentCommand": [
            "ArgumentParser", "CaptureAgent", "FoundationEssentials", "Glibc", "Logging", "Media", "Program", "Wire",
        ],
        "Relay": [
            "Access", "AsyncHTTPClient", "CCrypto", "CLinux", "Discovery", "Files", "FoundationEssentials", "Glibc",
            "HTTPTypes", "HeliographAPI",
            "Hummingbird", "HummingbirdCore",
            "Library", "LibraryAPI",
            "Logging", "Media",
            "NIOCore",
            "NIOHTTP1", "NIOHTTP2", "NIOHTTPTypes", "NIOHTTPTypesHTTP1", "NIOPosix", "NIOSSL", "NIOTLS", "NIOWebSocket",
            "Packaging",
            "Pacing", "Program",
            "ServiceLifecycle",
            "Subprocess", "SystemPackage", "Wire", "Yams",
        ],
        "RelayCommand": [
            "Access", "ArgumentParser", "FoundationEssentials", "Glibc", "HeliographAPI", "Logging", "NIOCore",
            "Program", "Relay", "ServiceLifecycle",
            "UnixSignals",
            "Wire",
        ],
        "HeliographClient": [
            "Access", "AsyncHTTPClient", "Files", "FoundationEssentials", "HeliographAPI", "Media", "NIOCore",
            "NIOHTTP1", "Packaging", "NIOPosix", "NIOSSL", "NIOWebSocket", "Program", "SystemPackage", "Wire",
        ],
        "HeliographDecode": ["Access", "CAVCodec", "CYUV", "Glibc", "HeliographClient", "Images", "Sound"],
        "CommandSupport": [
            "Access", "ArgumentParser", "FoundationEssentials", "Glibc", "HeliographAPI", "HeliographClient", "NIOCore",
        ],
        "Viewer": [
            "CSDL", "CommandSupport", "Files", "FoundationEssentials", "Glibc", "HeliographAPI", "HeliographClient",
            "HeliographDecode", "NIOCore", "NIOPosix", "Program", "Sound", "SystemPackage",
        ],
        "ViewerCommand": [
            "ArgumentParser", "CommandSupport", "FoundationEssentials", "Glibc", "HeliographAPI", "HeliographClient",
            "Program", "UnixSignals", "Viewer",
        ],
        "HeliographCommand": [
            "Access", "ArgumentParser", "CInput", "CommandSupport", "Discovery", "Files", "FoundationEssentials",
            "Gamepads", "Glibc",
            "HTTPTypes", "HeliographAPI", "HeliographClient", "Hummingbird", "Library", "LibraryAPI", "Logging",
            "Media", "NIOCore",
            "NIOPosix", "Packaging", "Program", "Subprocess", "SystemPackage", "UnixSignals", "Wire",
        ],
    ]

    private static let sources = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources")

    /// Returns the module names that the Swift files below `directory` import, with the files.
    private static func imports(below directory: URL) throws -> [(module: String, file: String)] {
        let files =
            FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL }
            ?? []
        return try files.filter { $0.pathExtension == "swift" }.flatMap { file in
            try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { line in
                // `package import func Glibc.getpid` names the module before the dot.
                let words = line.split(separator: " ")
                guard let place = words.firstIndex(of: "import"), place <= 1, !line.hasPrefix(" "),
                    place == 0
                        || ["package", "public", "internal", "private", "fileprivate", "@preconcurrency"].contains(
                            words[0]
                        )
                else { return nil }
                return (String(words.last!.split(separator: ".")[0]), file.lastPathComponent)
            }
        }
    }

    @Test("every module has a place in the list")
    func complete() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.sources.path)
        // Folders that start with C and another capital are system libraries and shims without Swift.
        let modules = folders.filter { $0.first != "C" || $0.dropFirst().first?.isLowercase == true }
        #expect(Set(modules) == Set(Self.allowed.keys))
    }

    @Test("modules import what their layer allows and nothing else", arguments: allowed.keys.sorted())
    func imports(module: String) throws {
        let found = try Self.imports(below: Self.sources.appendingPathComponent(module))
        #expect(!found.isEmpty || module == "Media")
        let allowed = try #require(Self.allowed[module]).union(Self.common)
        for (name, file) in found {
            #expect(allowed.contains(name), "\(module)/\(file) imports \(name)")
        }
    }
}
