import Program
import Wire

/// A source that picks what the desktop offers, again each time it is opened.
struct AutoSource: FrameSource {
    let kind = "auto"
    let mutter: MutterSource
    let portal: PortalSource
    let screenshot: ScreenshotSource

    func run(into sink: any FrameSink, demand: SourceDemand, stop: Event) throws(SourceError) {
        let picked = picked
        sink.sourceChanged(SourceStatus(state: .opening, kind: picked.kind))
        try picked.run(into: sink, demand: demand, stop: stop)
    }

    /// Mutter asks nobody. A portal asks a person, who may be absent. Screenshots take more of the machine than either.
    private var picked: any FrameSource {
        if MutterScreenCast.isAvailable() { return mutter }
        // Only a portal shares windows.
        guard portal.content == .monitor else { return portal }
        guard EnvironmentVariable.isSet("WAYLAND_DISPLAY") else {
            return EnvironmentVariable.isSet("DISPLAY") ? screenshot : portal
        }
        guard (try? ScreencopyBackend.isAvailable()) == true else { return portal }
        let sharesMonitors = (try? ScreenCastPortal.sharedContents().contains(.monitor)) ?? false
        return sharesMonitors && isAnswered ? portal : screenshot
    }

    /// Whether the portal's dialog needs no answer, or a person can give one.
    private var isAnswered: Bool {
        if portal.tokenFile.read() != nil { return true }
        return (try? WaylandSeat.isDeserted()) == false
    }
}
