import Access
import HTTPTypes
import HeliographAPI
import NIOCore

extension Problem {
    /// The challenge of RFC 6750, section 3.
    private static let challenge = "Bearer realm=\"heliograph\""

    static let missingKey = unauthorized(
        .missingKey,
        "this relay wants a key: Authorization: Bearer …, or for heliograph --key-file or HELIOGRAPH_KEY. Its operator makes one with `heliograph keys make`"
    )

    static let wrongKey = unauthorized(
        .wrongKey,
        "the relay does not know this key; it may have been revoked",
        isWrong: true
    )

    static let expiredKey = unauthorized(
        .wrongKey,
        "this key has expired: have the relay's operator make another one",
        isWrong: true
    )

    static let notPaired = unauthorized(
        .notPaired,
        "the relay does not know this client's certificate; it may have been revoked or have expired. Pair again with `heliograph pair`, or show a key"
    )

    static let pairingRequired = unauthorized(
        .pairingRequired,
        "this relay admits only clients that have paired: have its operator run `heliograph pair --arm`, and pair with `heliograph pair`"
    )

    static let badLink = unauthorized(
        .badLink,
        "this signed link has ended, or the key that it was made with is gone: ask for another one",
        isWrong: true
    )

    /// - Parameter isWrong: Whether the caller has shown something that is not good.
    private static func unauthorized(_ code: Code, _ detail: String, isWrong: Bool = false) -> Problem {
        var problem = Problem(code, detail)
        problem.headers[.wwwAuthenticate] = isWrong ? "\(challenge), error=\"invalid_token\"" : challenge
        return problem
    }

    static var forbiddenLink: Problem {
        Problem(.forbiddenLink, "this signed link is for looking at something else: use it as the relay gave it")
    }

    static func forbiddenRole(_ role: Role?, needs needed: Role) -> Problem {
        Problem(
            .forbiddenRole,
            "this call is for keys of role \(needed.rawValue); yours is of role \(role?.rawValue ?? "none")"
        )
    }

    /// - Parameter rights: Those of the caller.
    static func forbiddenLibrary(_ right: LibraryRight, has rights: Set<LibraryRight>) -> Problem {
        Problem(
            .forbiddenLibrary,
            "your key lacks the library right \(right.rawValue); it has \(rights.text). Use a key that has the right, or make one with `heliograph keys make NAME --library \(rights.union([right]).text)`"
        )
    }

    /// - Parameter devices: Those of the caller's key.
    static func forbiddenDevice(_ device: String, of devices: [String]) -> Problem {
        Problem(
            .forbiddenDevice,
            "your key is not for device '\(device)'; it is for \(devices.joined(separator: ", ")). Use a key for this device, or make one with `heliograph keys make NAME --device DEVICE`"
        )
    }

    /// Creates the problem of a call about all devices.
    ///
    /// - Parameter devices: Those of the caller's key.
    static func notOfAllDevices(_ devices: [String]) -> Problem {
        Problem(
            .forbiddenDevice,
            "this call is about all devices, and your key is only for \(devices.joined(separator: ", ")). Use a key that was made without --device"
        )
    }

    static func tooManyFailures(wait: TimeAmount) -> Problem {
        let seconds = max(1, Int(wait.seconds.rounded(.up)))
        var problem = Problem(.tooManyFailures, "too many wrong keys from this address: wait \(seconds) s")
        problem.headers[.retryAfter] = String(seconds)
        return problem
    }
}
