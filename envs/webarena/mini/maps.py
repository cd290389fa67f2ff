"""The map: a search by name, a page a place, directions between two places."""

from __future__ import annotations

from typing import Any

from envs.webarena.mini.exchange import Request, Response, State
from envs.webarena.mini.markup import choice, document, field, form, items, link, tag

ENGINES = [("foot", "Foot (OSRM)"), ("car", "Car (OSRM)")]


def site(state: State, request: Request) -> Response:
    """Answer a request to the map."""
    match request.parts:
        case []:
            return _page(request, "OpenStreetMap", tag("p", "Search for a place, or ask for directions."))
        case ["search"]:
            wanted = request.query.get("query", "")
            found = [p for p in state["places"].values() if fits(p, wanted)]
            shown = items(link(f"/place/{p['id']}", f"{p['name']}, {p['address']}") for p in found)
            return _page(request, "Search Results", shown if found else tag("p", "No results found"))
        case ["place", number] if number in state["places"]:
            place = state["places"][number]
            return _page(request, place["name"], tag("p", f"{place['name']}, {place['address']}"))
        case ["directions"]:
            return _page(request, "Directions", tag("p", directions(state, request)))
    return Response(document("404", [link("/", "Map")], tag("p", "Not found")), 404)


def fits(place: dict[str, Any], wanted: str) -> bool:
    """Whether all words that are asked for stand in a place's name, address or kind."""
    known = f"{place['name']} {place['address']} {place['kind']}".lower()
    return bool(wanted.strip()) and all(word in known for word in wanted.lower().replace(",", " ").split())


def directions(state: State, request: Request) -> str:
    """Distance and time of a way that the map knows."""
    ends = [
        next((p["name"] for p in state["places"].values() if fits(p, request.query.get(key, ""))), None)
        for key in ("from", "to")
    ]
    for way in state["ways"]:
        if (
            None not in ends
            and set(ends) == set(way["ends"])
            and way["engine"] == request.query.get("engine")
        ):
            return f"{ends[0]} to {ends[1]}. Distance: {way['distance']}. Time: {way['time']}."
    return "Couldn't find a route between those two places."


def _page(request: Request, title: str, *body: object) -> Response:
    search = form("/search", "Go", field("Search", "query", request.query.get("query", "")), method="get")
    ways = form(
        "/directions",
        "Get Directions",
        field("From", "from", request.query.get("from", "")),
        field("To", "to", request.query.get("to", "")),
        choice("Engine", "engine", ENGINES, request.query.get("engine", "car")),
        method="get",
    )
    navigation = [link("/", "OpenStreetMap"), search, ways]
    return Response(document(title, navigation, tag("div", tag("h2", title), *body, id="sidebar_content")))
