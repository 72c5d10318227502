import Foundation
import TestSupport

/// Where measurements were made, and with what.
struct Machine: Codable {
    var processor: String
    var cores: Int
    var kernel: String
    var system: String
    var date: String
    /// The checkout's commit, `+` when files differ from it.
    var commit: String
    /// Debian packages and their versions.
    var versions: [String: String]

    private static let packages = [
        "ffmpeg", "gstreamer1.0-pipewire", "gstreamer1.0-plugins-ugly", "libx264-164", "libx264-dev", "mutter", "nginx",
        "pipewire",
        "sway", "wf-recorder", "wireplumber", "xdg-desktop-portal-wlr", "xvfb",
    ]

    static func current() throws -> Machine {
        func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
        let processor = text("/proc/cpuinfo").split(separator: "\n").first { $0.hasPrefix("model name") }
        let system = text("/etc/os-release").split(separator: "\n").first { $0.hasPrefix("PRETTY_NAME=") }
        let repository = Programs.repository.path
        let commit = try output("git", ["-C", repository, "rev-parse", "--short", "HEAD"])
        let changes = try output("git", ["-C", repository, "status", "--porcelain", "--untracked-files=no"])
        let listed = try output("dpkg-query", ["--show", "--showformat", "${Package} ${Version}\n"] + packages)
        let versions = listed.split(separator: "\n").compactMap { line -> (String, String)? in
            let words = line.split(separator: " ")
            return words.count == 2 ? (String(words[0]), String(words[1])) : nil
        }
        return Machine(
            processor: processor.map { $0.drop { $0 != ":" }.dropFirst(2) }.map(String.init) ?? "unknown",
            cores: ProcessInfo.processInfo.activeProcessorCount,
            kernel: text("/proc/sys/kernel/osrelease").trimmingCharacters(in: .whitespacesAndNewlines),
            system: system.map { $0.dropFirst("PRETTY_NAME=".count).trimmingCharacters(in: ["\""]) } ?? "unknown",
            date: ISO8601DateFormatter().string(from: Date()),
            commit: commit + (changes.isEmpty ? "" : "+"),
            versions: Dictionary(versions, uniquingKeysWith: { first, _ in first })
        )
    }

    private static func output(_ program: String, _ arguments: [String]) throws -> String {
        try Programs.run(URL(fileURLWithPath: "/usr/bin/env"), [program] + arguments).output
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
