import type { ComponentChildren } from "preact";
import { withoutHidden } from "../../core/kernel/hidden-characters.ts";
import type { ConsoleVisit, PortalVisit, SignedInVisit, Visit } from "../session/visit.ts";
import { ActButton, Form } from "./form.tsx";

/** The main pages of a face, in the order of its menu, each with what it needs, and where else its pages are. */
const portalMenu = [
  ["", "Overview", "overview"],
  ["/catalog", "Catalog", "catalog.read"],
  ["/orders", "Orders", "orders.read"],
  ["/esims", "eSIMs", "esims.read"],
  ["/activations", "Activations", "activations.read"],
  ["/passports", "Passports", "passports.read"],
  ["/wallet", "Wallet", "wallet.read"],
  ["/developers", "Developers", "developers.read"],
  ["/team", "Team", "team"],
] as const;

const consoleMenu = [
  ["", "Today", "today"],
  ["/partners", "Partners", "partners.read"],
  ["/orders", "Orders", "orders.read"],
  ["/esims", "eSIMs", "esims.read"],
  ["/activations", "Activations", "activations.read"],
  ["/passports", "Passports", "passports.read"],
  ["/catalog", "Catalog", "catalog.read", "/prices", "/fx"],
  ["/stock", "Stock", "stock.read"],
  ["/suppliers", "Suppliers", "suppliers.read", "/carriers"],
  ["/money", "Money", "money.read"],
  ["/platform", "Platform", "platform.read", "/deliveries", "/users"],
] as const;

/** Who is inside a face; null: nobody is signed in yet, or a factor is missing. */
export type Inside = PortalVisit | ConsoleVisit | null;

interface Item {
  path: string;
  words: string;
  others: readonly string[];
}

function menuOf(inside: NonNullable<Inside>): Item[] {
  const shown =
    inside.face === "portal"
      ? portalMenu.filter(([, , permission]) => inside.may(permission))
      : consoleMenu.filter(([, , permission]) => inside.may(permission));
  return shown.map(([path, words, , ...others]) => ({ path, words, others }));
}

/** A whole page. */
export function Page({
  visit,
  inside,
  title,
  version,
  children,
}: {
  visit: Visit;
  inside: Inside;
  title: string;
  /** Marks the assets of this build. */
  version: string;
  children: ComponentChildren;
}) {
  const assets = `${visit.base}/assets`;
  const isSandbox = inside?.face === "portal" && inside.owner.environment === "sandbox";
  return (
    <html lang="en" class={isSandbox ? "sandbox" : undefined}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${withoutHidden(title)} – ${visit.face === "portal" ? "Portal" : "Console"}`}</title>
        <link rel="icon" href={`${assets}/icon.svg?${version}`} />
        <link rel="stylesheet" href={`${assets}/style.css?${version}`} />
        <script type="module" src={`${assets}/app.js?${version}`} />
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        {inside === null ? <Outside visit={visit} /> : <Inside inside={inside} />}
        <main id="main" tabIndex={-1}>
          {visit.notice !== null && (
            <p class="alert good" role="status">
              {visit.notice}
            </p>
          )}
          {children}
        </main>
      </body>
    </html>
  );
}

function Outside({ visit }: { visit: Visit }) {
  return (
    <header class="top">
      <strong>{visit.face === "portal" ? "Partner portal" : "Console"}</strong>
      {"session" in visit && <ActButton visit={visit} to="/sign-out" label="Sign out" />}
    </header>
  );
}

function Inside({ inside }: { inside: NonNullable<Inside> }) {
  const path = inside.request.url.split("?", 1)[0] ?? "";
  const isUnder = (target: string) => path === target || path.startsWith(`${target}/`);
  const isHere = ({ path: own, others }: Item) =>
    own === "" ? path.replace(/\/$/, "") === inside.base : [own, ...others].some((one) => isUnder(inside.base + one));
  return (
    <>
      <header class="top">
        <strong>
          <a href={inside.base}>{inside.face === "portal" ? withoutHidden(inside.partner.name) : "Console"}</a>
        </strong>
        <Form visit={inside} to="/find" class="find">
          <label class="visually-hidden" for="find">
            Find
          </label>
          <input id="find" type="search" name="what" placeholder="Name, number, ICCID…" />
          <button type="submit" class="plain">
            Find
          </button>
        </Form>
        {inside.face === "portal" && <EnvironmentSwitch visit={inside} />}
        <Who visit={inside} />
      </header>
      <nav class="menu" aria-label="Main">
        <ul>
          {menuOf(inside).map((item) => (
            <li>
              <a href={`${inside.base}${item.path}`} aria-current={isHere(item) ? "page" : undefined}>
                {item.words}
              </a>
            </li>
          ))}
        </ul>
      </nav>
    </>
  );
}

function EnvironmentSwitch({ visit }: { visit: PortalVisit }) {
  const { environment } = visit.owner;
  const other = environment === "sandbox" ? "production" : "sandbox";
  if (visit.viewing) {
    return (
      <div class="environment">
        <span>Looking at this partner as staff, reading only</span>
        <ActButton visit={visit} to="/view-as/end" label="End" />
      </div>
    );
  }
  return (
    <div class="environment">
      <span class={`badge ${environment}`}>{environment}</span>
      {visit.partner.production && (
        <ActButton visit={visit} to="/environment" label={`Switch to ${other}`} hidden={{ environment: other }} />
      )}
    </div>
  );
}

function Who({ visit }: { visit: SignedInVisit }) {
  return (
    <div class="who">
      <a href={`${visit.base}/account`}>{withoutHidden(visit.user.name)}</a>
      <ActButton visit={visit} to="/sign-out" label="Sign out" />
    </div>
  );
}
