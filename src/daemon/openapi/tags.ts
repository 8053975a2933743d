/** The chapters of the API reference, in reading order. */
export const tags = [
  { name: "Token", description: "Exchange a credential for an access token; keys and metadata to check it by." },
  { name: "Products", description: "Browse the catalog of data plans and SIM products." },
  { name: "Catalog", description: "Export the catalog for e-commerce platforms." },
  { name: "Orders", description: "Place orders, follow them and fetch what was delivered." },
  { name: "Wallet", description: "The prepaid balance that orders are charged to." },
  { name: "Activations", description: "Submit, move and cancel activations of physical SIMs." },
  { name: "Identity pool", description: "Passport records that activations draw from." },
  { name: "eSIMs", description: "Status and data usage of an eSIM." },
  { name: "Webhooks", description: "Endpoints that receive signed notifications." },
  { name: "Travellers", description: "What a traveller opens without a token: QR codes and install pages." },
  { name: "Callbacks", description: "What carriers and suppliers send us." },
  { name: "Operations", description: "Health and readiness." },
];
