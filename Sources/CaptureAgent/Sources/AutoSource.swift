import Wire

/// Picks the source that the desktop offers, anew whenever it is opened: Mutter itself where it is the compositor, else the portal.
struct AutoSource: FrameSource {
    let kind = "auto"
    let mutter: MutterSource
    let portal: PortalSource

    func run(into sink: any FrameSink, demand: SourceDemand, stop: Event) throws(SourceError) {
        let picked: any FrameSource = MutterScreenCast.isAvailable() ? mutter : portal
        sink.sourceChanged(SourceStatus(state: .opening, kind: picked.kind))
        try picked.run(into: sink, demand: demand, stop: stop)
    }
}
