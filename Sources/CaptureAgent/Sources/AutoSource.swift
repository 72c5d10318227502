import Wire

/// A source that picks what the desktop offers, again each time it is opened: Mutter if it is the compositor, otherwise
/// the portal.
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
