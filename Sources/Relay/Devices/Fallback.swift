package import HeliographAPI
import Wire

/// What a device's standby captures.
package enum Fallback: Sendable, Equatable {
    /// There is no standby.
    case nothing
    case source(SourceRequest)
}

extension DeviceConfiguration {
    /// What a standby is to capture beside a broadcast of `source`, nil where there is to be none.
    ///
    /// Without a word of the configuration: screenshots beside a desktop's screencast, of the same monitor and with the same pointer, and
    /// beside a node where the device has a command for them: what else there is to photograph need not be what the node shows.
    package func fallback(for source: SourceRequest) -> SourceRequest? {
        switch (fallback, source.kind) {
        case (.nothing, _): return nil
        case (.source(let fallback), _): return fallback
        case (nil, .node) where screenshotCommand != nil: return SourceRequest(kind: .screenshot)
        case (nil, .node), (nil, .screenshot), (nil, .testPattern): return nil
        case (nil, .auto), (nil, .portal), (nil, .mutter):
            var screenshot = SourceRequest(kind: .screenshot)
            screenshot.cursor = source.cursor
            screenshot.output = source.output
            return screenshot
        }
    }
}
