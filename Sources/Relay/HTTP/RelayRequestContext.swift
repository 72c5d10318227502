import Hummingbird
import NIOCore

/// What a request's handler knows beside the request.
struct RelayRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection that it came on.
    let channel: any Channel
    /// Who makes it; known once ``RouteTable`` has let them in.
    var caller = Caller.stranger
    /// What the log is to say of it.
    let audit = CallAudit()

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
