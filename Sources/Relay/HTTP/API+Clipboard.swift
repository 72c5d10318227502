import HTTPTypes
import HeliographAPI
import Hummingbird
import NIOCore
import Wire

extension API {
    func addClipboardRoutes(to routes: inout RouteTable) {
        routes.respond(to: Routes.getClipboard) { query, request, context in
            // It takes control of the device.
            try OriginGuard.requireChangesAllowed(request)
            let type = query.type ?? Self.acceptedType(request)
            let content = try await getClipboard(type.kind, takes: query.take, context)
            return Response(
                status: .ok,
                headers: [.contentType: type.contentType, .cacheControl: "no-store", .xContentTypeOptions: "nosniff"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: content.bytes))
            )
        }
        routes.add(Routes.setClipboard) { query, request, context in
            let type = try Self.contentType(request)
            let body = try await Self.body(of: request, upTo: type.kind.maximumByteCount)
            let content = ClipboardContent(type.kind, Array(body.readableBytesView))
            guard content.isOfItsKind else {
                throw Problem(
                    .badContent,
                    type == .text ? "the body is not UTF-8" : "the body is not a PNG image: its signature is missing"
                )
            }
            return try await setClipboard(content, takes: query.take, context)
        }
    }

    /// Returns the type that a call accepts, if its query names none.
    private static func acceptedType(_ request: Request) -> ClipboardType {
        request.headers[.accept].map(mediaType) == ClipboardType.png.mediaType ? .png : .text
    }

    /// Returns the type of a call's body.
    private static func contentType(_ request: Request) throws(Problem) -> ClipboardType {
        let field = request.headers[.contentType] ?? ""
        guard let type = ClipboardType.allCases.first(where: { $0.mediaType == mediaType(field) }) else {
            throw Problem(.badContent, "Content-Type is \"\(field)\"; allowed: text/plain (in UTF-8) or image/png")
        }
        return type
    }

    /// Returns a media type without its parameters.
    private static func mediaType(_ field: String) -> String {
        let type = field.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false).first ?? ""
        return type.filter { $0 != " " }.lowercased()
    }

    @MediaLoop
    private func getClipboard(_ kind: ClipboardContent.Kind, takes: Bool, _ context: RelayRequestContext)
        async throws(Problem)
        -> ClipboardContent
    {
        let (outcome, _) = try await clipboard(.get(kind), kind, takes: takes, context)
        guard case .content(let content) = outcome, content.kind == kind else {
            throw Problem(.inputFailed, "the agent answered something else")
        }
        context.audit.note("bytes", content.bytes.count)
        return content
    }

    @MediaLoop
    private func setClipboard(_ content: ClipboardContent, takes: Bool, _ context: RelayRequestContext)
        async throws(Problem)
        -> ClipboardSetReport
    {
        context.audit.note("bytes", content.bytes.count)
        let (outcome, device) = try await clipboard(.set(content), content.kind, takes: takes, context)
        guard case .done = outcome else { throw Problem(.inputFailed, "the agent answered something else") }
        var report = ClipboardSetReport()
        report.device = device
        report.type = ClipboardType(content.kind)
        report.bytes = content.bytes.count
        return report
    }

    /// Has the agent that shows the device's screen use its clipboard.
    ///
    /// - Returns: The agent's answer, unless it refuses, and the device.
    @MediaLoop
    private func clipboard(
        _ request: ClipboardOrder.Request,
        _ kind: ClipboardContent.Kind,
        takes: Bool,
        _ context: RelayRequestContext
    ) async throws(Problem) -> (ClipboardReport.Outcome, device: String) {
        let broadcast = try broadcast(context.parameters.get("device"))
        let device = broadcast.device.name
        context.audit.note("device", device)
        context.audit.note("type", ClipboardType(kind).rawValue)
        let role = actingRole(of: broadcast)
        let agent = broadcast.agent(role)
        guard agent.link != nil else {
            throw Problem(.noSource, "no agent of device \(device) is linked: start the broadcast first")
        }
        guard let input = agent.inputs, input.clipboard == true else {
            let problem = agent.inputs?.problem
            throw .noInput(problem ?? "the agent cannot use a clipboard on its desktop", agent.inputs)
        }
        let caller = InputControl.Caller(context.caller)
        try claim(broadcast, by: caller, takes: takes, context)
        defer { broadcast.control.end(of: caller) }
        switch await broadcast.clipboard.perform(request, by: role) {
        case .answered(.refused(let refusal, let detail)): throw Problem(refusal, detail, input)
        case .answered(let outcome): return (outcome, device)
        case .lost: throw Problem(.inputFailed, "the agent was lost before it answered")
        case .timeout:
            throw Problem(
                .inputTimeout,
                "the agent did not answer within \(ClipboardOrders.answerTime.seconds) s"
            )
        }
    }
}

extension Problem {
    /// Creates the problem of a clipboard order that an agent has refused.
    ///
    /// - Parameter input: What the agent says that it can do.
    fileprivate init(_ refusal: ClipboardReport.Refusal, _ detail: String, _ input: InputCapabilities) {
        /// Returns the agent's own reason, or `text` if it gives none.
        func reason(_ text: String) -> String { detail.isEmpty ? text : detail }
        switch refusal {
        case .noBackend: self = .noInput(reason("the agent cannot use a clipboard on its desktop"), input)
        case .busy: self.init(.tooManyOrders, reason("too many calls wait for the clipboard"))
        case .empty: self.init(.emptyClipboard, reason("the clipboard has no content of that type"))
        case .tooLarge: self.init(.inputFailed, reason("the clipboard's content is too large"))
        case .malformed: self.init(.inputFailed, reason("the clipboard's content is not what its program says"))
        case .timeout: self.init(.inputTimeout, reason("the program that has the content does not hand it over"))
        case .failed: self.init(.inputFailed, reason("the desktop did not take or give the content"))
        }
    }
}
