import Hummingbird

extension API {
    /// What the program carries in itself.
    private static let contract = String(decoding: PackageResources.openapi_json, as: UTF8.self)

    func addContractRoute(to routes: inout RouteTable) {
        routes.add(.get, "/openapi.json", for: .anyone, query: nil) { _, _ in
            Answer.text(Self.contract, type: "application/json")
        }
    }
}
