"""The shop's back office: reports, reviews, customers, orders, the catalogue. It shares the shop's state."""

from __future__ import annotations

from collections import Counter

from envs.webarena.mini.exchange import Request, Response, State, go, log_in
from envs.webarena.mini.markup import choice, document, field, form, link, table, tag

STATUSES = ("Any", "Complete", "Pending", "Canceled", "Suspected Fraud")


def site(state: State, request: Request) -> Response:
    """Answer a request to the back office; every page needs a login."""
    if not request.user:
        if request.method == "POST":
            return log_in("shopping_admin", request, "username", "password", "/admin")
        fields = field("Username", "username"), field("Password", "password", kind="password")
        return Response(document("Magento Admin", [], form("/admin", "Sign in", *fields)))
    answer = _post(state, request) if request.method == "POST" else _get(state, request)
    return answer or Response(document("404", [link("/admin", "Dashboard")], tag("p", "404 Error")), 404)


def _get(state: State, request: Request) -> Response | None:
    match request.parts[1:]:
        case []:
            terms = sorted(state["search_terms"].items(), key=lambda entry: -entry[1])
            return _page("Dashboard", tag("h2", "Top Search Terms"), table(["Search Term", "Uses"], terms))
        case ["reports", "bestsellers"]:
            return _bestsellers(state, request.query.get("year", ""))
        case ["review", "product", *_]:
            return _reviews(state, request.query.get("text", ""))
        case ["customer", "index"]:
            rows = [(c["name"], c["email"], c["city"]) for c in state["customers"]]
            return _page("Customers", table(["Name", "Email", "City"], rows))
        case ["sales", "order"]:
            return _orders(state, request.query.get("status", "Any"))
        case ["catalog", "product"]:
            products = [
                (
                    number,
                    link(f"/admin/catalog/product/edit/id/{number}/", p["name"]),
                    p["price"],
                    p["quantity"],
                )
                for number, p in state["products"].items()
            ]
            return _page("Products", table(["ID", "Name", "Price", "Quantity"], products))
        case ["catalog", "product", "edit", "id", number] if number in state["products"]:
            product = state["products"][number]
            fields = (
                field("Price", "product[price]", product["price"]),
                field("Quantity", "product[quantity_and_stock_status][qty]", str(product["quantity"])),
            )
            return _page(product["name"], form(f"/admin/catalog/product/edit/id/{number}/", "Save", *fields))
    return None


def _post(state: State, request: Request) -> Response | None:
    match request.parts[1:]:
        case ["catalog", "product", "edit", "id", number] if number in state["products"]:
            product = state["products"][number]
            product["price"] = request.form.get("product[price]", product["price"])
            product["quantity"] = request.form.get("product[quantity_and_stock_status][qty]", "0")
            return go(request.path + "/")
    return None


def _bestsellers(state: State, year: str) -> Response:
    years = sorted({order["date"][-4:] for order in state["orders"].values()})
    sold = Counter(
        state["products"][number]["name"]
        for order in state["orders"].values()
        if order["date"].endswith(year) and order["status"] == "Complete"
        for number in order["products"]
    )
    picker = form(
        "/admin/reports/bestsellers",
        "Show Report",
        choice("Year", "year", [("", "All"), *((y, y) for y in years)], year),
        method="get",
    )
    rows = sorted(sold.items(), key=lambda entry: (-entry[1], entry[0]))
    return _page("Bestsellers Report", picker, table(["Product", "Order Quantity"], rows))


def _reviews(state: State, text: str) -> Response:
    found = [review for review in state["reviews"] if text.lower() in review["text"].lower()]
    rows = [
        (state["products"][r["product"]]["name"], r["by"], r["stars"], r["text"], r["status"]) for r in found
    ]
    search = form("/admin/review/product/index/", "Search", field("Review text", "text", text), method="get")
    return _page(
        "Reviews",
        search,
        tag("p", f"{len(found)} records found"),
        table(["Product", "Nickname", "Stars", "Review", "Status"], rows),
    )


def _orders(state: State, status: str) -> Response:
    rows = [
        (number, o["customer"], o["date"], o["total"], o["status"])
        for number, o in state["orders"].items()
        if status in ("Any", o["status"])
    ]
    current = "" if status == "Any" else f"Active filters: Status: {status}"
    return _page(
        "Orders",
        form(
            "/admin/sales/order/",
            "Apply Filters",
            choice("Status", "status", [(name, name) for name in STATUSES], status),
            method="get",
        ),
        tag("div", current, class_="admin__data-grid-filters-current"),
        table(["ID", "Customer", "Date", "Grand Total", "Status"], rows),
    )


def _page(title: str, *body: object) -> Response:
    navigation = [
        link("/admin", "Dashboard"),
        link("/admin/sales/order/", "Orders"),
        link("/admin/catalog/product/", "Products"),
        link("/admin/customer/index/", "All Customers"),
        link("/admin/review/product/index/", "All Reviews"),
        link("/admin/reports/bestsellers", "Bestsellers"),
    ]
    return Response(document(f"{title} / Magento Admin", navigation, tag("h1", title), *body))
