import Foundation
import Media
import TestSupport

/// The desktops on which contenders run, of one size: sway, and Xvfb for those that capture X11. A relay runs on the
/// first.
final class Stage {
    let size: PictureSize
    let sway: Desktop
    let xvfb: Desktop
    let relay: RelayProcess

    init(_ size: PictureSize) async throws {
        self.size = size
        sway = try Desktop(.sway, size: size.description)
        do {
            xvfb = try Desktop(.xvfb, size: size.description)
            do {
                try sway.pause()
                try xvfb.pause()
                _ = try sway.stage(tool: "portal-exec")
                relay = try await RelayProcess(in: sway, arguments: ["--log-level", "warning"], fallback: nil)
            } catch {
                xvfb.end()
                throw error
            }
        } catch {
            sway.end()
            throw error
        }
    }

    func end() {
        relay.terminate()
        xvfb.end()
        sway.end()
    }

    func desktop(of contender: Contender) -> Desktop { contender == .ffmpeg ? xvfb : sway }

    /// The processes that draw and deliver the screen, if the contender uses them.
    func compositor(of contender: Contender) -> [Int32] {
        let parts = contender == .ffmpeg ? ["xvfb"] : ["sway", "portal-wlr", "portal", "pipewire", "wireplumber"]
        return parts.compactMap { desktop(of: contender).process(ofPart: $0) }
    }

    /// Where the counter client of a desktop writes when it drew each picture.
    func stampsFile(of desktop: Desktop) -> URL { desktop.directory.appendingPathComponent("run/stamps") }

    /// When each value was drawn, monotonic ns.
    func stamps(of desktop: Desktop) throws -> [Int: Int64] {
        let lines = try String(contentsOf: stampsFile(of: desktop), encoding: .utf8).split(separator: "\n")
        return Dictionary(
            lines.compactMap { line in
                let words = line.split(separator: " ")
                guard words.count == 2, let value = Int(words[0]), let stamp = Int64(words[1]) else { return nil }
                return (value, stamp)
            },
            uniquingKeysWith: { _, later in later }
        )
    }
}
