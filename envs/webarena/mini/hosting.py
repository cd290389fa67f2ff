"""The code host: projects, commits, issues, merge requests, to-dos, a profile."""

from __future__ import annotations

from typing import Any

from envs.webarena.mini.exchange import Request, Response, State, go, log_in
from envs.webarena.mini.markup import Markup, document, field, form, items, join, link, table, tag


def site(state: State, request: Request) -> Response:
    """Answer a request to the code host."""
    if request.path == "/users/sign_in":
        if request.method == "POST":
            return log_in("gitlab", request, "login", "password", "/")
        fields = field("Username or email", "login"), field("Password", "password", kind="password")
        return Response(document("Sign in", [], form("/users/sign_in", "Sign in", *fields)))
    answer = _post(state, request) if request.method == "POST" else _get(state, request)
    return answer or Response(document("404", [link("/", "Projects")], tag("p", "404: Page Not Found")), 404)


def _get(state: State, request: Request) -> Response | None:
    match request.parts:
        case [] | ["explore"] | ["search"]:
            wanted = request.query.get("search", "").lower()
            found = [
                p for p in state["projects"].values() if wanted in p["name"].lower() + p["about"].lower()
            ]
            rows = [(link(f"/{p['name']}", p["name"]), p["about"], f"{p['stars']} stars") for p in found]
            return _page(request, "Projects", table(["Project", "Description", "Stars"], rows))
        case ["dashboard", "todos"]:
            return _page(request, "To-Do List", items(state["todos"]))
        case ["-", "profile"]:
            status = field("Your status", "status", state["status"])
            return _page(
                request,
                "Edit Profile",
                form("/-/profile", "Update profile settings", status),
                link("/-/profile/personal_access_tokens", "Access Tokens"),
            )
        case ["-", "profile", "personal_access_tokens"]:
            return _page(request, "Access Tokens", field("Feed token", "token", state["feed_token"]))
        case ["byteblaze"]:
            status = tag("div", "Status: ", tag("span", state["status"]), class_="cover-status")
            mine = [n for n in state["projects"] if n.startswith("byteblaze/")]
            return _page(request, "byteblaze", status, items(link(f"/{name}", name) for name in mine))
        case [group, name, *rest] if f"{group}/{name}" in state["projects"]:
            project = state["projects"][f"{group}/{name}"]
            shown = _project(project, request, rest)
            return _page(request, project["name"], _tabs(project), shown) if shown else None
    return None


def _post(state: State, request: Request) -> Response | None:
    if not request.user:
        return go("/users/sign_in")
    match request.parts:
        case ["-", "profile"]:
            state["status"] = request.form.get("status", "")
            return go("/-/profile")
        case [group, name, "-", "issues", "new"] if f"{group}/{name}" in state["projects"]:
            issues = state["projects"][f"{group}/{name}"]["issues"]
            number = str(max(map(int, issues), default=0) + 1)
            given = {key: request.form.get(key, "") for key in ("title", "text")}
            issues[number] = {**given, "state": "opened", "created": "2023-06-12"}
            return go(f"/{group}/{name}/-/issues/{number}")
        case [group, name, "-", "merge_requests", number, "notes"]:
            asked = state["projects"].get(f"{group}/{name}", {}).get("merge_requests", {}).get(number)
            if asked:
                asked["notes"].append(request.form.get("note", ""))
                return go(f"/{group}/{name}/-/merge_requests/{number}")
    return None


def _project(project: dict[str, Any], request: Request, rest: list[str]) -> Markup | None:
    base = f"/{project['name']}/-"
    match rest:
        case []:
            return join([tag("p", project["about"]), tag("p", f"{project['stars']} stars")])
        case ["-", "commits", *_]:
            return table(
                ["Commit", "Author", "Date"], [(c["text"], c["by"], c["date"]) for c in project["commits"]]
            )
        case ["-", "issues"]:
            return _issues(project, request.query.get("sort", ""), request.query.get("state", "all"))
        case ["-", "issues", "new"]:
            fields = field("Title", "title"), field("Description", "text", kind="textarea")
            return form(f"{base}/issues/new", "Create issue", *fields)
        case ["-", "issues", number] if number in project["issues"]:
            issue = project["issues"][number]
            text = tag(
                "div", tag("h2", issue["title"]), tag("p", issue["text"]), class_="detail-page-description"
            )
            return join([text, tag("p", f"State: {issue['state']}")])
        case ["-", "merge_requests"]:
            return items(
                link(f"{base}/merge_requests/{number}", f"{asked['title']} !{number}")
                for number, asked in project["merge_requests"].items()
            )
        case ["-", "merge_requests", number] if number in project["merge_requests"]:
            asked = project["merge_requests"][number]
            note = field("Comment", "note", kind="textarea")
            reply = form(f"{base}/merge_requests/{number}/notes", "Add comment", note)
            return join([tag("h2", asked["title"]), tag("p", asked["text"]), items(asked["notes"]), reply])
    return None


def _issues(project: dict[str, Any], sort: str, state: str) -> Markup:
    base = f"/{project['name']}/-/issues"
    found = [(n, i) for n, i in project["issues"].items() if state in ("all", i["state"])]
    found.sort(key=lambda pair: pair[1]["created"], reverse=sort in ("", "created_date"))
    return join(
        [
            link(f"{base}/?sort=created_date&state=opened", "Open, newest first"),
            link(f"{base}/?sort=created_asc&state=opened", "Open, oldest first"),
            link(f"{base}/?sort=created_date&state=closed", "Closed"),
            link(f"{base}/new", "New issue"),
            items(
                join([link(f"{base}/{n}", i["title"]), f" #{n} created {i['created']}, {i['state']}"])
                for n, i in found
            ),
        ]
    )


def _tabs(project: dict[str, Any]) -> Markup:
    base = f"/{project['name']}/-"
    names = {"commits/main": "Commits", "issues": "Issues", "merge_requests": "Merge requests"}
    return items(link(f"{base}/{path}", text) for path, text in names.items())


def _page(request: Request, title: str, *body: object) -> Response:
    navigation = [
        link("/", "Projects"),
        form("/search", "Search", field("Search GitLab", "search"), method="get"),
        link("/dashboard/todos", "To-Do List"),
        join([link("/-/profile", "Preferences"), " ", link("/byteblaze", "byteblaze")])
        if request.user
        else link("/users/sign_in", "Sign in"),
    ]
    return Response(document(f"{title} · GitLab", navigation, tag("h1", title), *body))
