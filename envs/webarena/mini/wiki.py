"""The encyclopedia (articles, a search), and the homepage that lists all sites, their accounts and the reset."""

from __future__ import annotations

from envs.webarena.mini.exchange import ACCOUNTS, Request, Response, State
from envs.webarena.mini.markup import document, field, form, items, link, table, tag


def site(state: State, request: Request) -> Response:
    """Answer a request to the encyclopedia."""
    match request.parts:
        case [] | ["search"]:
            wanted = request.query.get("query", "").lower().split()
            found = [
                n for n, text in state["articles"].items() if all(w in f"{n} {text}".lower() for w in wanted)
            ]
            return _page("Search", items(link(f"/wiki/{name.replace(' ', '_')}", name) for name in found))
        case ["wiki", name] if name.replace("_", " ") in state["articles"]:
            title = name.replace("_", " ")
            return _page(title, *(tag("p", part) for part in state["articles"][title].split("\n")))
    return Response(document("404", [link("/", "Wikipedia")], tag("p", "No such article")), 404)


def home(state: State, request: Request) -> Response:
    """Answer a request to the homepage."""
    if request.path == "/password.html":
        rows = [(name, *account) for name, account in ACCOUNTS.items()]
        return Response(
            document("Accounts", [link("/", "Homepage")], table(["Site", "Name", "Password"], rows))
        )
    if request.path == "/status":
        return Response("Ready for duty!", plain=True)
    links = [link(address, name) for name, address in request.addresses.items() if name != "homepage"]
    return Response(
        document("Homepage", [link("/password.html", "Accounts")], tag("h1", "Sites"), items(links))
    )


def _page(title: str, *body: object) -> Response:
    search = form("/search", "Search", field("Search Wikipedia", "query"), method="get")
    return Response(
        document(f"{title} - Wikipedia", [link("/", "Wikipedia"), search], tag("h1", title), *body)
    )
