import Hummingbird
import NIOCore
import Program
import Wire

extension API {
    func addMonitoringRoutes(to routes: inout RouteTable) {
        routes.add(.get, "/metrics", for: .viewer, query: nil) { _, _ in
            Answer.text(await metrics().text, type: "text/plain; version=0.0.4; charset=utf-8")
        }
        routes.add(.get, "/livez", for: .anyone, query: nil) { _, _ in
            Answer.json(["status": "ok", "release": .string(Release.current)])
        }
        routes.add(.get, "/readyz", for: .anyone, query: nil) { _, _ in
            Answer.json(try await readiness())
        }
        routes.add(.post, "/drain", for: .operator) { request, _ in
            let timeout = try await Self.arguments(request) { reader -> TimeAmount?? in
                let seconds = reader.number("timeout", in: 0...86_400)
                reader.finish()
                return .some(seconds.map { TimeAmount(seconds: $0) })
            }
            return Answer.json(await drain(timeout: timeout), status: .accepted)
        }
    }

    @MediaLoop
    private func metrics() -> RelayMetrics { RelayMetrics(of: switchboard, access: access, tls: tls) }

    @MediaLoop
    private func readiness() throws(Problem) -> JSONValue { try Readiness(of: switchboard).report() }

    @MediaLoop
    private func drain(timeout: TimeAmount?) -> JSONValue {
        let drain = switchboard.letViewersFinish(timeout: timeout)
        return [
            "draining": true,
            "viewers": .integer(switchboard.viewerCount),
            "endsAt": JSONValue(drain.deadline.map(BroadcastReport.wallClock(of:))),
        ]
    }
}

extension API {
    /// What the program carries in itself.
    private static let contract = String(decoding: PackageResources.openapi_json, as: UTF8.self)

    func addContractRoute(to routes: inout RouteTable) {
        routes.add(.get, "/openapi.json", for: .anyone, query: nil) { _, _ in
            Answer.text(Self.contract, type: "application/json")
        }
    }
}
