import Foundation
import SystemPackage
import TestSupport
import Testing
import Viewer

@Suite("Settings of the viewer")
struct SettingsTests {
    @Test("are kept for each relay; a damaged file counts as none")
    func kept() throws {
        let scratch = try Scratch()
        let file = ViewerSettingsFile(path: FilePath(scratch.folder.path + "/heliograph/view.json"))
        var settings = ViewerSettings()
        (settings.volume, settings.isMuted, settings.width) = (0.5, true, 800)
        try file.set(settings, of: "http://one:8420")
        #expect(file.settings(of: "http://one:8420") == settings)
        #expect(file.settings(of: "http://other:8420") == ViewerSettings())
        try Data("{".utf8).write(to: URL(fileURLWithPath: scratch.folder.path + "/heliograph/view.json"))
        #expect(file.settings(of: "http://one:8420") == ViewerSettings())
        try file.set(settings, of: "http://one:8420")
        #expect(file.settings(of: "http://one:8420") == settings)
    }
}
