"""The forum: posts, comments, subscriptions, users."""

from __future__ import annotations

import re
from typing import Any

from envs.webarena.mini.exchange import Request, Response, State, go, log_in
from envs.webarena.mini.markup import Markup, choice, document, field, form, items, join, link, tag


def site(state: State, request: Request) -> Response:
    """Answer a request to the forum."""
    if request.path == "/login":
        if request.method == "POST":
            return log_in("reddit", request, "username", "password", "/")
        fields = field("Username", "username"), field("Password", "password", kind="password")
        return Response(document("Log in", [], form("/login", "Log in", *fields)))
    answer = _post(state, request) if request.method == "POST" else _get(state, request)
    return answer or Response(document("404", [link("/", "Home")], tag("p", "Not found")), 404)


def _get(state: State, request: Request) -> Response | None:
    match request.parts:
        case []:
            return _page(state, request, "Postmill", _listed(state["posts"].values()))
        case ["forums"]:
            return _page(state, request, "Forums", items(link(f"/f/{f}", f) for f in state["forums"]))
        case ["f", forum] if forum in state["forums"]:
            posts = [post for post in state["posts"].values() if post["forum"] == forum]
            return _page(state, request, forum, _subscribe(state, forum, request.path), _listed(posts))
        case ["f", forum, number, *_] if (
            number in state["posts"] and state["posts"][number]["forum"] == forum
        ):
            post = state["posts"][number]
            return _page(
                state, request, post["title"], _subscribe(state, forum, request.path), _post_page(post)
            )
        case ["submit", *rest]:
            forum = rest[0] if rest else ""
            fields = (
                field("Title", "title"),
                field("URL", "url"),
                field("Body", "body", kind="textarea"),
                choice("Forum", "forum", [(name, name) for name in state["forums"]], forum),
            )
            return _page(state, request, "Create submission", form("/submit", "Create submission", *fields))
        case ["user", name, *rest]:
            return _user(state, request, name, rest)
    return None


def _post(state: State, request: Request) -> Response | None:
    if not request.user:
        return go("/login")
    match request.parts:
        case ["submit"] if request.form.get("title") and request.form.get("forum") in state["forums"]:
            number = str(max(map(int, state["posts"])) + 1)
            entry = {key: request.form.get(key, "") for key in ("forum", "title", "url", "body")}
            state["posts"][number] = {**entry, "id": number, "by": request.user, "comments": []}
            return go(_address(state["posts"][number]))
        case ["subscribe", forum] if forum in state["forums"]:
            subscribed = state["subscribed"]
            subscribed.remove(forum) if forum in subscribed else subscribed.append(forum)
            return go(request.form.get("back", f"/f/{forum}"))
        case ["f", _, number, "comment"] if number in state["posts"]:
            post = state["posts"][number]
            post["comments"].insert(
                0, {"by": request.user, "text": request.form.get("comment", ""), "up": 1, "down": 0}
            )
            return go(_address(post))
        case ["user", name, "edit_biography"] if name == request.user:
            state["biographies"][name] = request.form.get("biography", "")
            return go(f"/user/{name}")
    return None


def _user(state: State, request: Request, name: str, rest: list[str]) -> Response | None:
    biography = state["biographies"].get(name, "")
    if rest == ["edit_biography"]:
        box = field("Biography", "biography", biography, kind="textarea")
        return _page(state, request, "Edit biography", form(f"/user/{name}/edit_biography", "Save", box))
    if rest == ["comments"]:
        told = [
            f"{c['text']} (upvotes {c['up']}, downvotes {c['down']})"
            for post in state["posts"].values()
            for c in post["comments"]
            if c["by"] == name
        ]
        return _page(state, request, f"{name}'s comments", items(told) if told else tag("p", "No comments."))
    posts = [post for post in state["posts"].values() if post["by"] == name]
    links = [link(f"/user/{name}/comments", "Comments")]
    if name == request.user:
        links.append(link(f"/user/{name}/edit_biography", "Edit biography"))
    bio = tag("div", biography, class_="user-bio__biography")
    return _page(state, request, name, bio, items(links), tag("h2", "Submissions"), _listed(posts))


def _post_page(post: dict[str, Any]) -> Markup:
    title = link(post["url"], post["title"]) if post["url"] else post["title"]
    inner = tag(
        "div",
        tag("h2", title, class_="submission__title"),
        tag("p", post["url"]) if post["url"] else "",
        tag("div", post["body"], class_="submission__body"),
        tag("span", "submitted by ", link(f"/user/{post['by']}", post["by"]), class_="submission__submitter"),
        class_="submission__inner",
    )
    comments = [
        tag("article", link(f"/user/{c['by']}", c["by"]), tag("div", c["text"], class_="comment__body"))
        for c in post["comments"]
    ]
    reply = form(
        f"/f/{post['forum']}/{post['id']}/comment", "Post", field("Comment", "comment", kind="textarea")
    )
    return join([inner, reply, *comments])


def _listed(posts: Any) -> Markup:
    newest = sorted(posts, key=lambda post: -int(post["id"]))
    return items(
        join(
            [
                link(_address(post), post["title"]),
                " in ",
                link(f"/f/{post['forum']}", post["forum"]),
                f" by {post['by']}",
            ]
        )
        for post in newest
    )


def _subscribe(state: State, forum: str, back: str) -> Markup:
    word = "Unsubscribe" if forum in state["subscribed"] else "Subscribe"
    back_field = tag("input", type="hidden", name="back", value=back)
    return tag(
        "div", form(f"/subscribe/{forum}", word, back_field), link(f"/submit/{forum}", "Submit to this forum")
    )


def _address(post: dict[str, Any]) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", post["title"].lower()).strip("-")[:60].strip("-")
    return f"/f/{post['forum']}/{post['id']}/{slug}"


def _page(state: State, request: Request, title: str, *body: object) -> Response:
    navigation = [
        link("/", "Postmill"),
        link("/forums", "Forums"),
        link("/submit", "Submit"),
        link(f"/user/{request.user}", request.user) if request.user else link("/login", "Log in"),
    ]
    mine = items(state["subscribed"]) if state["subscribed"] else tag("p", "You have no subscriptions.")
    sidebar = tag("div", tag("section", tag("h2", "Subscribed"), mine), id="sidebar")
    return Response(document(title, navigation, tag("h1", title), *body, sidebar))
