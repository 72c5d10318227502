extension Routes {
    static let links = [linkSession.route, linkDevice.route, linkItem.route]

    package static let linkSession = link("linkSession", "/v1/sessions/{id}", for: .viewer, "a session")
    package static let linkDevice = link(
        "linkDevice",
        "/v1/devices/{device}",
        for: .viewer,
        "a device and its sessions"
    )
    package static let linkItem = link(
        "linkItem",
        "/v1/library/{item}",
        for: .look,
        "an item and the others of its recording",
        [noLibrary, noItem]
    )

    /// Returns the call that makes a link for what has this address.
    private static func link(
        _ name: String,
        _ address: String,
        for access: RouteAccess,
        _ thing: String,
        _ problems: [ProblemAnswer] = []
    ) -> Call<SignedLinkRequest, SignedLinkReport> {
        Call(
            name,
            .post,
            address + "/links",
            for: access,
            .access,
            "Makes an address under which anyone may look at \(thing) for a while, without a key.",
            """
            The link is for GET and HEAD, and for a session's WebSocket: what the caller's key may look at, and no more. It \
            ends with the key.
            """,
            status: 201,
            answer: "The link."
        ) {
            $0.ownProblems =
                [
                    ProblemAnswer([.noKeys], "The relay has no keys: calls need no link."),
                    ProblemAnswer([.forbiddenRole], "A link to act needs a key with the role controller."),
                ] + problems
        }
    }
}
