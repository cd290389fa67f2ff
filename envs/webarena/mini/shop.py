"""The shop: products, reviews, cart, orders, contact form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from envs.webarena.mini.exchange import Request, Response, State, go, log_in
from envs.webarena.mini.markup import (
    Markup,
    choice,
    document,
    field,
    form,
    hidden,
    items,
    join,
    link,
    table,
    tag,
)

LOGIN = "/customer/account/login"
STARS = [(str(n), f"{n} star{'s' if n > 1 else ''}") for n in range(1, 6)]


def site(state: State, request: Request) -> Response:
    """Answer a request to the shop."""
    if request.path == LOGIN:
        if request.method == "POST":
            return log_in("shopping", request, "email", "password", "/")
        return _page(
            request,
            "Customer Login",
            form(LOGIN, "Sign In", field("Email", "email"), field("Password", "password", kind="password")),
        )
    answer = _post(state, request) if request.method == "POST" else _get(state, request)
    return answer or Response(_shell(request, "404 Not Found", tag("p", "This page does not exist.")), 404)


def _get(state: State, request: Request) -> Response | None:
    parts = request.parts
    if not parts or request.path == "/catalogsearch/result":
        wanted = request.query.get("q", "").lower()
        found = [
            p for p in state["products"].values() if all(word in p["name"].lower() for word in wanted.split())
        ]
        title = f"Search results for: '{wanted}'" if wanted else "One Stop Market"
        rows = [(link(f"/{p['slug']}.html", p["name"]), f"${p['price']}") for p in found]
        return _page(request, title, table(["Product", "Price"], rows))
    if parts[0].endswith(".html"):
        product = _by_slug(state, parts[0])
        return _page(request, product["name"], _product(state, product)) if product else None
    if request.path == "/checkout/cart":
        lines = [(p["name"], quantity, f"${p['price']}") for p, quantity in _lines(state)]
        return _page(
            request, "Shopping Cart", table(["Item", "Qty", "Price"], lines), class_="cart-container"
        )
    if request.path == "/wishlist":
        return _page(request, "My Wish List", items(state["products"][n]["name"] for n in state["wishes"]))
    if request.path == "/sales/order/history":
        orders: list[Sequence[object]] = [
            (
                link(f"/sales/order/view/order_id/{int(number)}", number),
                o["date"],
                f"${o['total']}",
                o["status"],
            )
            for number, o in state["orders"].items()
            if o["customer"] == "Emma Lopez"
        ]
        return _page(request, "My Orders", table(["Order #", "Date", "Order Total", "Status"], orders))
    if parts[:3] == ["sales", "order", "view"]:
        number = parts[-1].zfill(9)
        order = state["orders"].get(number)
        return _page(request, f"Order # {number}", _order(state, order)) if order else None
    if request.path == "/contact":
        note = field("What’s on your mind?", "comment", kind="textarea", title="What’s on your mind?")
        return _page(
            request, "Contact Us", form("/contact", "Submit", field("Name", "name", "Emma Lopez"), note)
        )
    return None


def _post(state: State, request: Request) -> Response | None:
    if not request.user:
        return go(LOGIN)
    match request.path:
        case "/checkout/cart/add":
            state["cart"][request.form["product"]] = state["cart"].get(request.form["product"], 0) + 1
            return go("/checkout/cart")
        case "/wishlist/add":
            state["wishes"].append(request.form["product"])
            return go("/wishlist")
        case "/review/product/post":
            state["reviews"].append(
                {
                    "product": request.form["product"],
                    "by": request.form.get("nickname", ""),
                    "stars": int(request.form.get("stars", 5)),
                    "text": request.form.get("text", ""),
                    "status": "Pending",
                }
            )
            return go(f"/{state['products'][request.form['product']]['slug']}.html")
        case "/contact":
            state["messages"].append(request.form.get("comment", ""))
            return _page(request, "Contact Us", tag("p", "Thanks for contacting us."))
    return None


def _product(state: State, product: dict[str, Any]) -> Markup:
    number = product["id"]
    reviews = [
        tag("article", tag("h3", r["by"]), tag("p", f"{r['stars']} stars. {r['text']}"))
        for r in state["reviews"]
        if r["product"] == number
    ]
    return join(
        [
            tag("p", f"Price: ${product['price']}"),
            tag("p", f"SKU: {product['sku']}"),
            form("/checkout/cart/add", "Add to Cart", hidden("product", number)),
            form("/wishlist/add", "Add to Wish List", hidden("product", number)),
            tag("h2", "Customer Reviews"),
            *reviews,
            tag("h2", "Write a review"),
            form(
                "/review/product/post",
                "Submit Review",
                hidden("product", number),
                field("Nickname", "nickname"),
                choice("Rating", "stars", STARS, "5"),
                field("Review", "text", kind="textarea"),
            ),
        ]
    )


def _order(state: State, order: dict[str, Any]) -> Markup:
    lines = [(state["products"][n]["name"], state["products"][n]["sku"]) for n in order["products"]]
    told = tag("p", f"Status: {order['status']}. Date: {order['date']}. Grand Total: ${order['total']}")
    return join([told, table(["Product Name", "SKU"], lines)])


def _lines(state: State) -> list[tuple[dict[str, Any], int]]:
    return [(state["products"][number], quantity) for number, quantity in state["cart"].items()]


def _by_slug(state: State, name: str) -> dict[str, Any] | None:
    return next((p for p in state["products"].values() if f"{p['slug']}.html" == name), None)


def _page(request: Request, title: str, *body: object, class_: str | None = None) -> Response:
    return Response(_shell(request, title, tag("div", *body, class_=class_)))


def _shell(request: Request, title: str, *body: object) -> str:
    search = form("/catalogsearch/result", "Search", field("Search the store", "q"), method="get")
    navigation = [
        link("/", "One Stop Market"),
        search,
        link("/checkout/cart", "My Cart"),
        link("/wishlist", "My Wish List"),
        link("/sales/order/history", "My Orders"),
        link("/contact", "Contact Us"),
        f"Welcome, {request.user}!" if request.user else link(LOGIN, "Sign In"),
    ]
    return document(title, navigation, tag("h1", title), *body)
