import HeliographAPI
import Hummingbird

extension API {
    func addTunnelRoutes(to routes: inout RouteTable) {
        routes.add(Routes.getTunnel) { _, _, _ in tunnelState }
        routes.add(Routes.setTunnel) { asked, _, context in
            context.audit.note("tunnel", asked.tunnel)
            guard let choice = TunnelChoice(asked.tunnel) else {
                throw Problem(.unknownValue, "tunnel may be \(TunnelChoice.words)", field: "tunnel")
            }
            guard choice == .none || access.keyCount ?? 0 > 0 else {
                throw Problem(
                    .noKeys,
                    "a tunnel needs keys, because anyone on the internet can call it: make one first"
                )
            }
            tunnels.turn(to: choice)
            return tunnelState
        }
    }

    private var tunnelState: TunnelState {
        var state = TunnelState()
        let tunnel = tunnels.current
        state.tunnel = (tunnel?.choice ?? .none).text
        state.status = tunnel.map { TunnelReport($0.status) }
        return state
    }
}

extension TunnelReport {
    init(_ status: Tunnel.Status) {
        self.init()
        (state, address, problem) = (status.state.rawValue, status.address, status.problem)
    }
}
