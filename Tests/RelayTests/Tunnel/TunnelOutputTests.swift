import Relay
import Testing

@Suite("The log of cloudflared")
struct TunnelOutputTests {
    @Test(
        "names the address, and says when the tunnel stands",
        arguments: [
            (
                "2026-11-27T10:00:00Z INF |  https://calm-otter-42.trycloudflare.com                         |",
                .address("https://calm-otter-42.trycloudflare.com")
            ),
            ("https://a.trycloudflare.com", .address("https://a.trycloudflare.com")),
            ("see https://a.trycloudflare.com/path?x=1", .address("https://a.trycloudflare.com")),
            (
                "INF Registered tunnel connection connIndex=0 connection=1b ip=198.41.200.33 location=ams01 protocol=quic",
                .connection(0, stands: true)
            ),
            ("WRN Lost connection with the edge connIndex=12", .connection(12, stands: false)),
            ("INF Unregistered tunnel connection connIndex=1 event=0 ip=198.41.192.7", .connection(1, stands: false)),
            (#"ERR Connection terminated error="timeout" connIndex=3"#, .connection(3, stands: false)),
            (
                #"INF Updated to new configuration config="{\"ingress\":[{\"hostname\":\"screens.example.com\",\"service\":"#,
                .address("https://screens.example.com")
            ),
            (
                #"INF Updated to new configuration {"ingress":[{"hostname":"screens.example.com"}]}"#,
                .address("https://screens.example.com")
            ),
        ] as [(String, TunnelOutput)]
    )
    func words(line: String, word: TunnelOutput) {
        #expect(TunnelOutput(line) == word)
    }

    @Test(
        "says nothing else",
        arguments: [
            "", "https://", "https://.", "INF Requesting new quick Tunnel on trycloudflare.com...",
            #"failed to request quick Tunnel: Post "https://api.trycloudflare.com/tunnel": dial tcp: lookup failed"#,
            "https://developers.cloudflare.com/cloudflare-one/", "http://a.trycloudflare.com",
            "https://a.trycloudflare.com.example.com", "https://evil.com#.trycloudflare.com",
            "https://\u{1F600}.trycloudflare.com", "INF Updated to new configuration config=\"{}\"",
            "Updated to new configuration \\\"hostname\\\":\\\"", "\u{0}\u{1B}[31m", "Unregistered tunnel connection",
            "Registered tunnel connection connIndex=x",
            "Registered tunnel connection connIndex=99999999999999999999", "connIndex=1",
            "https://" + String(repeating: "a", count: 300) + ".trycloudflare.com",
        ]
    )
    func nothing(line: String) {
        #expect(TunnelOutput(line) == nil)
    }
}
