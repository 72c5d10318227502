import Hummingbird
import NIOCore

/// What a request's handler knows beside the request.
struct RelayRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection that it came on.
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
