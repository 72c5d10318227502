import Access
import Foundation
import TestSupport
import Testing

@Suite("SPAKE2")
struct SPAKE2Tests {
    /// A vector of RFC 9382, appendix B.
    struct Vector: Sendable, CustomTestStringConvertible {
        let a: String
        let b: String
        let secret: String
        let randoms: (a: String, b: String)
        let shares: (a: String, b: String)
        let codes: (a: String, b: String)

        var testDescription: String { "A='\(a)', B='\(b)'" }
        var identities: SPAKE2.Identities { SPAKE2.Identities(a: Array(a.utf8), b: Array(b.utf8)) }
    }

    private static func bytes(_ digits: String) -> [UInt8] { Hexadecimal.bytes(in: digits) ?? [] }

    @Test("gives the shares and codes of RFC 9382", arguments: vectors)
    func vector(_ vector: Vector) throws {
        let secret = SPAKE2.Secret(scalar: Self.bytes(vector.secret))
        func side(_ party: SPAKE2.Party, _ random: String) throws -> SPAKE2.Exchange {
            let random = Self.bytes(random)
            return try #require(SPAKE2.Exchange(as: party, secret, of: vector.identities, random: random))
        }
        let a = try side(.a, vector.randoms.a)
        let b = try side(.b, vector.randoms.b)
        #expect(Hexadecimal.text(of: a.share) == vector.shares.a)
        #expect(Hexadecimal.text(of: b.share) == vector.shares.b)
        let ofA = try #require(a.confirmations(with: b.share))
        let ofB = try #require(b.confirmations(with: a.share))
        #expect(Hexadecimal.text(of: ofA.own) == vector.codes.a)
        #expect(Hexadecimal.text(of: ofB.own) == vector.codes.b)
        #expect(ofA.confirm(ofB.own) && ofB.confirm(ofA.own))
        #expect(!ofA.confirm(ofA.own) && !ofB.confirm([]) && !ofB.confirm(ofA.own + [0]))
    }

    /// Returns whether B accepts A, and A accepts B.
    private static func run(
        _ secrets: (a: SPAKE2.Secret, b: SPAKE2.Secret),
        _ identities: (a: SPAKE2.Identities, b: SPAKE2.Identities)
    ) throws -> (Bool, Bool) {
        let a = try #require(SPAKE2.Exchange(as: .a, secrets.a, of: identities.a))
        let b = try #require(SPAKE2.Exchange(as: .b, secrets.b, of: identities.b))
        let ofA = try #require(a.confirmations(with: b.share))
        let ofB = try #require(b.confirmations(with: a.share))
        return (ofB.confirm(ofA.own), ofA.confirm(ofB.own))
    }

    @Test("random parties agree if they know the same secret and each other, and only then")
    func agree() throws {
        let parties = SPAKE2.Identities(a: [1], b: [2])
        for number in 0..<200 as Range<UInt64> {
            var generator = SeededGenerator(seed: number)
            func secret() throws -> SPAKE2.Secret {
                try #require(SPAKE2.Secret((0..<40).map { _ in UInt8.random(in: 0...255, using: &generator) }))
            }
            let one = try secret()
            #expect(try Self.run((one, one), (parties, parties)) == (true, true))
            #expect(try Self.run((one, secret()), (parties, parties)) == (false, false))
            let others = [
                SPAKE2.Identities(a: [1], b: [3]), SPAKE2.Identities(a: [2], b: [1]),
                SPAKE2.Identities(a: [1, 2], b: []),
            ]
            for other in others {
                #expect(try Self.run((one, one), (parties, other)) == (false, false))
            }
        }
    }

    @Test("refuses what is not a share: other lengths, points beside the curve, zero")
    func noShare() throws {
        let secret = try #require(SPAKE2.Secret([UInt8](repeating: 7, count: 40)))
        let b = try #require(SPAKE2.Exchange(as: .b, secret, of: SPAKE2.Identities(a: [], b: [])))
        let good = try #require(SPAKE2.Exchange(as: .a, secret, of: SPAKE2.Identities(a: [], b: []))).share
        var beside = good
        beside[64] ^= 1
        var compressed = Array(good.prefix(33))
        compressed[0] = 2
        let zero = [UInt8](repeating: 0, count: 65)
        let wrong: [[UInt8]] = [
            [], [0], zero, beside, compressed, Array(good.dropLast()), good + [0], [5] + good.dropFirst(),
        ]
        for share in wrong { #expect(b.confirmations(with: share) == nil, "\(share.count) bytes") }
    }

    @Test("100,000 hostile messages bring no party down, and convince none", .timeLimit(.minutes(10)))
    func hostile() throws {
        let secret = try #require(SPAKE2.Secret([UInt8](repeating: 7, count: 40)))
        let parties = SPAKE2.Identities(a: [1], b: [2])
        let good = try #require(SPAKE2.Exchange(as: .a, secret, of: parties)).share
        let b = try #require(SPAKE2.Exchange(as: .b, secret, of: parties))
        var generator = SeededGenerator(seed: 9)
        var (shares, codes) = (0, 0)
        for _ in 0..<100_000 {
            var message = good
            switch Int.random(in: 0..<4, using: &generator) {
            case 0:
                message = (0..<Int.random(in: 0..<140, using: &generator)).map { _ in
                    .random(in: 0...255, using: &generator)
                }
            case 1:
                message[Int.random(in: 0..<65, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 2: message = [4] + (0..<64).map { _ in .random(in: 0...255, using: &generator) }
            default: message = Array(message.prefix(Int.random(in: 0..<65, using: &generator)))
            }
            guard let confirmations = b.confirmations(with: message) else { continue }
            shares += 1
            if confirmations.confirm(Array(message.prefix(32))) { codes += 1 }
        }
        #expect(shares < 1000 && codes == 0)
    }

    static let vectors = [
        Vector(
            a: "server",
            b: "client",
            secret: "2ee57912099d31560b3a44b1184b9b4866e904c49d12ac5042c97dca461b1a5f",
            randoms: (
                "43dd0fd7215bdcb482879fca3220c6a968e66d70b1356cac18bb26c84a78d729",
                "dcb60106f276b02606d8ef0a328c02e4b629f84f89786af5befb0bc75b6e66be"
            ),
            shares: (
                "04a56fa807caaa53a4d28dbb9853b9815c61a411118a6fe516a8798434751470f9"
                    + "010153ac33d0d5f2047ffdb1a3e42c9b4e6be662766e1eeb4116988ede5f912c",
                "0406557e482bd03097ad0cbaa5df82115460d951e3451962f1eaf4367a420676d0"
                    + "9857ccbc522686c83d1852abfa8ed6e4a1155cf8f1543ceca528afb591a1e0b7"
            ),
            codes: (
                "58ad4aa88e0b60d5061eb6b5dd93e80d9c4f00d127c65b3b35b1b5281fee38f0",
                "d3e2e547f1ae04f2dbdbf0fc4b79f8ecff2dff314b5d32fe9fcef2fb26dc459b"
            )
        ),
        Vector(
            a: "",
            b: "client",
            secret: "0548d8729f730589e579b0475a582c1608138ddf7054b73b5381c7e883e2efae",
            randoms: (
                "403abbe3b1b4b9ba17e3032849759d723939a27a27b9d921c500edde18ed654b",
                "903023b6598908936ea7c929bd761af6039577a9c3f9581064187c3049d87065"
            ),
            shares: (
                "04a897b769e681c62ac1c2357319a3d363f610839c4477720d24cbe32f5fd85f44"
                    + "fb92ba966578c1b712be6962498834078262caa5b441ecfa9d4a9485720e918a",
                "04e0f816fd1c35e22065d5556215c097e799390d16661c386e0ecc84593974a61b"
                    + "881a8c82327687d0501862970c64565560cb5671f696048050ca66ca5f8cc7fc"
            ),
            codes: (
                "47d29e6666af1b7dd450d571233085d7a9866e4d49d2645e2df975489521232b",
                "3313c5cefc361d27fb16847a91c2a73b766ffa90a4839122a9b70a2f6bd1d6df"
            )
        ),
        Vector(
            a: "server",
            b: "",
            secret: "626e0cdc7b14c9db3e52a0b1b3a768c98e37852d5db30febe0497b14eae8c254",
            randoms: (
                "07adb3db6bc623d3399726bfdbfd3d15a58ea776ab8a308b00392621291f9633",
                "b6a4fc8dbb629d4ba51d6f91ed1532cf87adec98f25dd153a75accafafedec16"
            ),
            shares: (
                "04f88fb71c99bfffaea370966b7eb99cd4be0ff1a7d335caac4211c4afd855e2e1"
                    + "5a873b298503ad8ba1d9cbb9a392d2ba309b48bfd7879aefd0f2cea6009763b0",
                "040c269d6be017dccb15182ac6bfcd9e2a14de019dd587eaf4bdfd353f031101e7"
                    + "cca177f8eb362a6e83e7d5e729c0732e1b528879c086f39ba0f31a9661bd34db"
            ),
            codes: (
                "bc9f9bbe99f26d0b2260e6456e05a86196a3307ec6663a18bf6ac825736533b2",
                "c2370e1bf813b086dff0d834e74425a06e6390f48f5411900276dcccc5a297ec"
            )
        ),
        Vector(
            a: "",
            b: "",
            secret: "7bf46c454b4c1b25799527d896508afd5fc62ef4ec59db1efb49113063d70cca",
            randoms: (
                "8cef65df64bb2d0f83540c53632de911b5b24b3eab6cc74a97609fd659e95473",
                "d7a66f64074a84652d8d623a92e20c9675c61cb5b4f6a0063e4648a2fdc02d53"
            ),
            shares: (
                "04a65b367a3f613cf9f0654b1b28a1e3a8a40387956c8ba6063e8658563890f46c"
                    + "a1ef6a676598889fc28de2950ab8120b79a5ef1ea4c9f44bc98f585634b46d66",
                "04589f13218822710d98d8b2123a079041052d9941b9cf88c6617ddb2fcc049466"
                    + "2eea8ba6b64692dc318250030c6af045cb738bc81ba35b043c3dcb46adf6f58d"
            ),
            codes: (
                "dfb4db8d48ae5a675963ea5e6c19d98d4ea028d8e898dad96ea19a80ade95dca",
                "d0f0609d1613138d354f7e95f19fb556bf52d751947241e8c7118df5ef0ae175"
            )
        ),
    ]
}

@Suite("A PIN")
struct PairingPINTests {
    @Test("has 4 to 8 digits, which a person may separate")
    func digits() {
        #expect(PairingPIN("482 913")?.text == "482913" && PairingPIN("4829-13")?.text == "482913")
        for text in ["", "123", "123456789", "12a4", "١٢٣٤", "12.34"] { #expect(PairingPIN(text) == nil, "\(text)") }
    }

    @Test("is random, and its text does not show it by accident")
    func random() {
        for length in PairingPIN.lengths {
            let pins = (0..<200).map { _ in PairingPIN.random(length: length) }
            #expect(pins.allSatisfy { $0.text.utf8.count == length && PairingPIN($0.text) == $0 })
            #expect(Set(pins.map(\.text)).count > 150)
            #expect(Set(pins.flatMap(\.text)).count == 10)
            #expect("\(pins[0])" == "a PIN")
        }
    }

    @Test("makes an exchange of those who know it and see the same certificates")
    func exchanges() throws {
        let client = Fingerprint(ofCertificate: [1])
        let relay = Fingerprint(ofCertificate: [2])
        let stranger = Fingerprint(ofCertificate: [3])
        let pin = try #require(PairingPIN("0048"))
        func agree(_ other: String, _ client: Fingerprint, _ relay: Fingerprint) throws -> Bool {
            let own = try #require(
                pin.exchange(as: .a, client: Fingerprint(ofCertificate: [1]), relay: Fingerprint(ofCertificate: [2]))
            )
            let theirs = try #require(PairingPIN(other)?.exchange(as: .b, client: client, relay: relay))
            let ofOwn = try #require(own.confirmations(with: theirs.share))
            let ofTheirs = try #require(theirs.confirmations(with: own.share))
            #expect(ofOwn.confirm(ofTheirs.own) == ofTheirs.confirm(ofOwn.own))
            return ofTheirs.confirm(ofOwn.own)
        }
        #expect(try agree("0048", client, relay))
        for other in ["0049", "00480", "1048"] { #expect(try !agree(other, client, relay)) }
        #expect(
            try !agree("0048", stranger, relay) && !agree("0048", client, stranger) && !agree("0048", relay, client)
        )
    }
}
