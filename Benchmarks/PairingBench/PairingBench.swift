import Access

/// Measures pairing as clients and relays do it, without a network.
enum PairingBench {
    private static let client = Fingerprint(ofCertificate: [1])
    private static let relay = Fingerprint(ofCertificate: [2])
    /// The most that Welch's t may be. Beyond 4.5, the usual limit of dudect, two kinds of calls differ in their time.
    private static let mostT = 4.5
    /// How many clients of each kind there are.
    private static let clientCount = 50

    /// Pairs random PINs, each once right and once with another digit. Returns whether all went as they must.
    static func agree(_ count: Int) -> Bool {
        var faults = 0
        for number in 0..<count {
            let pin = PairingPIN.random(length: PairingPIN.lengths.lowerBound &+ number % PairingPIN.lengths.count)
            guard let a = pin.exchange(as: .a, client: client, relay: relay),
                let b = pin.exchange(as: .b, client: client, relay: relay),
                let other = otherPIN(pin, at: number % pin.text.count)?.exchange(as: .a, client: client, relay: relay),
                let ofA = a.confirmations(with: b.share), let ofB = b.confirmations(with: a.share),
                let ofOther = other.confirmations(with: b.share), let ofB2 = b.confirmations(with: other.share),
                ofB.confirm(ofA.own), ofA.confirm(ofB.own), !ofB2.confirm(ofOther.own), !ofOther.confirm(ofB2.own)
            else {
                faults &+= 1
                continue
            }
        }
        print("\(count) random PINs: \(count &- faults) agree with themselves, and not with a PIN of one other digit")
        return faults == 0
    }

    /// Compares the times of a relay's answer to clients whose PIN is right, wrong in its first digit, and wrong in its
    /// last one, in turn. Returns whether none differs.
    static func time(_ rounds: Int) -> Bool {
        guard let pin = PairingPIN("482913"), let b = pin.exchange(as: .b, client: client, relay: relay) else {
            return false
        }
        let pins = [pin] + [0, 5].compactMap { otherPIN(pin, at: $0) }
        // Many clients of each kind, because the time may depend on a share, which is not secret.
        let kinds = pins.map { pin in
            (0..<clientCount).compactMap { _ -> (share: [UInt8], code: [UInt8])? in
                guard let exchange = pin.exchange(as: .a, client: client, relay: relay),
                    let code = exchange.confirmations(with: b.share)?.own
                else { return nil }
                return (exchange.share, code)
            }
        }
        guard kinds.map(\.count) == [clientCount, clientCount, clientCount] else { return false }
        var times = [[Double]](repeating: [], count: 3)
        let clock = ContinuousClock()
        for round in 0..<rounds {
            for turn in 0..<3 {
                // Each kind comes first as often as last.
                let kind = (turn &+ round) % 3
                let caller = kinds[kind][round % clientCount]
                let start = clock.now
                let isRight = b.confirmations(with: caller.share)?.confirm(caller.code) ?? false
                times[kind].append((clock.now - start) / .microseconds(1))
                guard isRight == (kind == 0) else { return false }
            }
        }
        let samples = times.map(Sample.init(of:))
        var isEven = true
        for (name, wrong) in zip(["first", "last"], samples.dropFirst()) {
            let t = samples[0].t(to: wrong)
            print(
                "\(rounds) rounds: the right PIN \(Self.text(samples[0].mean)) us, a wrong \(name) digit "
                    + "\(Self.text(wrong.mean)) us, t \(Self.text(t)); goal: at most \(mostT)"
            )
            if abs(t) > mostT { isEven = false }
        }
        return isEven
    }

    private static func text(_ figure: Double) -> String { "\((figure * 100).rounded() / 100)" }

    /// Returns the PIN with the next digit at a place.
    private static func otherPIN(_ pin: PairingPIN, at place: Int) -> PairingPIN? {
        var digits = Array(pin.text.utf8)
        digits[place] = digits[place] == UInt8(ascii: "9") ? UInt8(ascii: "0") : digits[place] &+ 1
        return PairingPIN(String(decoding: digits, as: UTF8.self))
    }
}

/// The times of one kind of calls, without the slowest tenth, which other programs have interrupted.
private struct Sample {
    let mean: Double
    private let variance: Double
    private let count: Double

    init(of times: [Double]) {
        let kept = times.sorted().prefix(max(2, times.count &* 9 / 10))
        count = Double(kept.count)
        let mean = kept.reduce(0, +) / count
        variance = kept.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / (count - 1)
        self.mean = mean
    }

    /// Returns Welch's t between both.
    func t(to other: Sample) -> Double {
        (mean - other.mean) / (variance / count + other.variance / other.count).squareRoot()
    }
}
