import HeliographAPI
import NIOCore
import Program

extension API {
    func addMonitoringRoutes(to routes: inout RouteTable) {
        routes.respond(to: Routes.getMetrics) { _, _, _ in
            Answer.bytes(ByteBuffer(string: await metrics().text), type: "text/plain; version=0.0.4; charset=utf-8")
        }
        routes.add(Routes.getLiveness) { _, _, _ in
            var report = Liveness()
            report.release = Release.current
            return report
        }
        routes.add(Routes.getReadiness) { _, _, _ in try await Readiness(of: switchboard).report() }
        routes.add(Routes.drain) { arguments, _, _ in
            await drain(timeout: arguments.timeout.map { TimeAmount(seconds: $0) })
        }
    }

    @MediaLoop
    private func metrics() -> RelayMetrics { RelayMetrics(of: switchboard, access: access, tls: tls) }

    @MediaLoop
    private func drain(timeout: TimeAmount?) -> Draining {
        let drain = switchboard.letViewersFinish(timeout: timeout)
        var report = Draining()
        report.viewers = switchboard.viewerCount
        report.endsAt = drain.deadline?.wallClockText
        return report
    }
}

extension API {
    /// The API's description, which is compiled into the program. All answers share its bytes.
    private static let contract = ByteBuffer(bytes: PackageResources.openapi_json)

    func addContractRoute(to routes: inout RouteTable) {
        routes.respond(to: Routes.getContract) { _, _, _ in Answer.bytes(Self.contract, type: "application/json") }
    }
}
