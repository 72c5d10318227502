extension Routes {
    static let links = [linkSession.route, linkDevice.route, linkItem.route]

    private static let limits = """
        The link is for GET and HEAD: what the caller's key may look at, and no more. It ends with the key.
        """
    private static let noKeys = ProblemAnswer([.noKeys], "The relay has no keys: calls need no link.")

    package static let linkSession = Call<SignedLinkRequest, SignedLinkReport>(
        "linkSession",
        .post,
        "/v1/sessions/{id}/links",
        for: .viewer,
        .access,
        "Makes an address under which anyone may look at a session for a while, without a key.",
        limits,
        status: 201,
        answer: "The link."
    ) { $0.ownProblems = [noKeys] }

    package static let linkDevice = Call<SignedLinkRequest, SignedLinkReport>(
        "linkDevice",
        .post,
        "/v1/devices/{device}/links",
        for: .viewer,
        .access,
        "Makes an address under which anyone may look at a device and its sessions for a while, without a key.",
        limits,
        status: 201,
        answer: "The link."
    ) { $0.ownProblems = [noKeys] }

    package static let linkItem = Call<SignedLinkRequest, SignedLinkReport>(
        "linkItem",
        .post,
        "/v1/library/{item}/links",
        for: .look,
        .access,
        "Makes an address under which anyone may look at an item, and the others of its recording, without a key.",
        limits,
        status: 201,
        answer: "The link."
    ) { $0.ownProblems = [noKeys, noLibrary, noItem] }
}
