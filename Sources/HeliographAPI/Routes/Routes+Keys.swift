extension Routes {
    static let keys = [listKeys.route, makeKey.route, revokeKey.route]

    static let noKeyFile = ProblemAnswer(
        [.keysUnavailable],
        "The relay has no key file, or cannot read or write it."
    )

    package static let listKeys = Call<NoArguments, KeyList>(
        "listKeys",
        .get,
        "/v1/keys",
        for: .operator,
        .access,
        "Lists the keys that the relay knows.",
        answer: "The keys."
    )

    package static let makeKey = Call<KeyRequest, MadeKey>(
        "makeKey",
        .post,
        "/v1/keys",
        for: .operator,
        .access,
        "Makes a key. Only this answer shows it.",
        "The first key turns access control on, and only the relay's own user on this machine can make it. A caller can give no right in the library that it lacks.",
        status: 201,
        answer: "The key."
    ) {
        $0.ownProblems = [
            ProblemAnswer([.keyNameTaken, .tooManyKeys], "There is a key of this name, or there are 1000 keys."),
            ProblemAnswer(
                [.forbiddenLibrary, .forbiddenCaller],
                "The caller lacks one of the rights, or makes the first key and is not the relay's own user."
            ), noKeyFile,
        ]
    }

    package static let revokeKey = Call<NoArguments, KeyReport>(
        "revokeKey",
        .delete,
        "/v1/keys/{key}",
        for: .operator,
        .access,
        "Revokes a key: its calls are refused at once, and its connections end.",
        arguments: .query,
        answer: "What it was."
    ) { $0.ownProblems = [ProblemAnswer([.unknownKey], "There is no key of this name."), noKeyFile] }
}
