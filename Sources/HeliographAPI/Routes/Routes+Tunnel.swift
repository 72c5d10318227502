extension Routes {
    static let tunnel = [getTunnel.route, setTunnel.route]

    package static let getTunnel = Call<NoArguments, TunnelState>(
        "getTunnel",
        .get,
        "/v1/tunnel",
        for: .operator,
        .access,
        "Says which tunnel the relay runs, and how it is.",
        answer: "The tunnel."
    )

    package static let setTunnel = Call<TunnelRequest, TunnelState>(
        "setTunnel",
        .put,
        "/v1/tunnel",
        for: .operator,
        .access,
        "Starts or ends a tunnel, until the relay ends. At its next start the configuration counts.",
        answer: "The tunnel, which may not be up yet."
    ) {
        $0.ownProblems = [
            ProblemAnswer([.unknownValue], "`tunnel` is none of the allowed texts."),
            ProblemAnswer([.noKeys], "The relay has no keys, which a tunnel needs."),
        ]
    }
}
