extension Routes {
    static let pairing = [
        getPairing.route, armPairing.route, disarmPairing.route, sharePairing.route, provePairing.route,
    ]

    package static let getPairing = Call<NoArguments, PairingReport>(
        "getPairing",
        .get,
        "/v1/pairing",
        for: .operator,
        .access,
        "Says what has become of the last PIN.",
        answer: "Its state."
    )

    package static let armPairing = Call<PairingRequest, ArmedPairing>(
        "armPairing",
        .post,
        "/v1/pairing",
        for: .operator,
        .access,
        "Makes a PIN, by which one client may pair within two minutes. The PIN before ends.",
        "The relay must use TLS and have keys. A caller can give no right in the library that it lacks. The client gets in only while the caller's key is good, and its time ends with that of the key.",
        status: 201,
        answer: "The PIN."
    ) {
        $0.ownProblems = [
            ProblemAnswer([.forbiddenLibrary], "The caller lacks one of the rights."),
            ProblemAnswer([.noCertificate], "The relay does not use TLS."),
            ProblemAnswer([.noKeys], "The relay has no keys."),
        ]
    }

    package static let disarmPairing = Call<NoArguments, PairingReport>(
        "disarmPairing",
        .delete,
        "/v1/pairing",
        for: .operator,
        .access,
        "Ends the PIN.",
        arguments: .query,
        answer: "What has become of it."
    )

    package static let sharePairing = Call<PairingShare, PairingAnswer>(
        "sharePairing",
        .post,
        "/v1/pairing/share",
        for: .anyone,
        .access,
        "Begins to pair: SPAKE2 (RFC 9382), between the client's certificate and the relay's.",
        "The client shows its certificate by TLS, over a direct connection. It takes part as A, with the SHA-256 of its certificate as its identity; the relay is B, with that of its own. The secret is what scrypt (N 16384, r 8, p 1, 40 bytes) makes of the PIN's digits, with the salt `heliograph pairing` and both SHA-256. One client at a time may pair, and has 20 s to prove that it knows the PIN.",
        answer: "The relay's share."
    ) { $0.ownProblems = [notArmed, noCertificate, ProblemAnswer([.badShare], "It is not a point of P-256.")] }

    package static let provePairing = Call<PairingProof, PairedClient>(
        "provePairing",
        .post,
        "/v1/pairing/proof",
        for: .anyone,
        .access,
        "Proves that the client knows the PIN. A wrong proof burns the PIN.",
        "From then on the relay admits the client by its certificate. A client that has paired before gets new rights.",
        answer: "The relay's proof, and what the client may do."
    ) {
        $0.ownProblems = [
            notArmed, noCertificate,
            ProblemAnswer([.wrongPIN], "The client does not know the PIN, which is burnt now."),
            ProblemAnswer([.badShare], "The client has sent no share, or more than 20 s ago."),
            ProblemAnswer([.tooManyKeys], "There are 1000 keys and clients."), noKeyFile,
        ]
    }

    private static let notArmed = ProblemAnswer(
        [.pairingNotArmed, .pairingBusy],
        "No PIN is armed, or another client is in the middle of pairing."
    )
    private static let noCertificate = ProblemAnswer(
        [.noCertificate],
        "The client shows no certificate, or the connection is not a direct one by TLS."
    )
}
