"""The people of appworld_mini and what is in their apps: all our own, as rows of AppWorld's database models.

Plain data: the builder (mini_build.py) writes it with the engine's own models, in the engine's own environment.
"""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]

APPS = ("simple_note", "spotify", "venmo", "phone", "file_system", "todoist")
"""The apps in which our people have accounts, in the order of AppWorld's own list where it matters not."""
NAMES = (
    ("Ada", "Stone"),
    ("Ben", "Hill"),
    ("Cleo", "Park"),
    ("Dan", "Brook"),
    ("Eva", "Field"),
    ("Finn", "Wood"),
    ("Gia", "Lake"),
    ("Hugo", "Moor"),
    ("Iris", "Glen"),
    ("Jon", "Vale"),
    ("Kim", "Dale"),
    ("Leo", "Ford"),
)
SUPERVISORS = 3
"""The first so many people give tasks."""

CONTACTS: dict[str, dict[str, list[str]]] = {
    "Ada": {
        "Ben": ["friend"],
        "Dan": ["roommate"],
        "Eva": ["sister"],
        "Finn": ["coworker"],
        "Gia": ["coworker"],
        "Hugo": ["coworker"],
        "Iris": ["friend"],
        "Jon": ["coworker", "friend"],
        "Kim": ["coworker"],
        "Leo": ["coworker"],
    },
    "Ben": {
        "Ada": ["friend"],
        "Cleo": ["coworker"],
        "Eva": ["roommate"],
        "Finn": ["brother"],
        "Gia": ["coworker"],
        "Hugo": ["coworker"],
    },
    "Cleo": {
        "Ben": ["coworker"],
        "Dan": ["coworker"],
        "Iris": ["friend"],
        "Jon": ["coworker"],
        "Kim": ["roommate"],
        "Leo": ["brother"],
    },
}
"""Whose phone holds whom, and how they are related."""

NOTES: dict[str, list[tuple[str, str, list[str]]]] = {
    "Ada": [
        ("Groceries", "milk\neggs\nbread", ["home", "lists"]),
        ("Paint colours", "hall: sand\nkitchen: white", ["home"]),
        ("Spare keys", "one with Dan", ["home"]),
        ("Trip ideas", "Lisbon\nOslo", ["travel"]),
        ("Window sizes", "120 x 80", ["home"]),
        ("Plants", "water on Mondays", ["home", "garden"]),
        ("Boiler", "serviced in March", ["home"]),
        ("Reading list", "Middlemarch", ["lists"]),
    ],
    "Ben": [
        ("Packing", "tent\nlamp", ["travel", "lists"]),
        ("Train times", "7:40 and 9:10", ["travel"]),
        ("Gift ideas", "scarf", ["lists"]),
        ("Workout", "three sets of ten", ["health"]),
        ("Passwords hint", "the usual bird", []),
    ],
    "Cleo": [
        ("Soup", "leeks, cream", ["recipe"]),
        ("Flat bread", "flour, yoghurt", ["recipe"]),
        ("Plum cake", "plums, almonds", ["recipe"]),
        ("Chores", "windows\nbins", ["lists"]),
        ("Green curry", "basil, lime", ["recipe", "favourite"]),
        ("Pickles", "vinegar, dill", ["recipe"]),
        ("Dumplings", "pork, ginger", ["recipe"]),
        ("Pancakes", "oats, egg", ["recipe", "favourite"]),
        ("Concerts", "Friday at eight", ["leisure"]),
    ],
}
"""Title, content, tags."""

ARTISTS = (
    ("The Harbour Lights", "indie"),
    ("Copper Trio", "jazz"),
    ("Gravel", "rock"),
    ("Mina Holt", "classical"),
)
SONGS: tuple[tuple[str, int, int], ...] = (
    ("Paper Lanterns", 1, 410),
    ("Slow Harbour", 1, 1520),
    ("Copper Sky", 2, 980),
    ("Seven Bridges", 2, 2210),
    ("Night Ferry", 2, 640),
    ("Gravel Road", 3, 3100),
    ("Loud Weather", 3, 2750),
    ("Tin Roof", 3, 1890),
    ("Small Hours", 4, 720),
    ("Glass Piano", 4, 1330),
    ("Winter Study", 4, 2980),
    ("Orange Line", 1, 3900),
    ("Blue Terrace", 2, 1475),
    ("Iron Garden", 3, 9000),
    ("First Snow", 4, 305),
    ("Open Window", 1, 2640),
)
"""Title, artist (from 1; gives the genre too), times played. The id is the position, from 1."""
LIBRARIES = {
    "Ada": (1, 3, 5, 8, 9, 13, 7, 15),
    "Ben": (2, 4, 6, 10, 11, 13, 12),
    "Cleo": (1, 2, 16, 9, 4, 8, 5, 10, 11),
}
"""Songs in each library."""
PLAYLISTS = {"Ada": ("Quiet Morning", (9, 15)), "Ben": ("On the Road", (6, 12)), "Cleo": ("Dinner", (4, 5))}

BALANCE = 150.0
TRANSACTIONS: tuple[tuple[str, str, float, str], ...] = (
    ("Ada", "Eva", 20.0, "birthday"),
    ("Ada", "Eva", 15.5, "tickets"),
    ("Eva", "Ada", 30.0, "shoes"),
    ("Ada", "Eva", 4.25, "coffee"),
    ("Ada", "Dan", 12.0, "cleaning"),
    ("Ada", "Eva", 10.0, "books"),
    ("Ada", "Eva", 8.0, "lunch"),
    ("Ada", "Eva", 3.75, "bus"),
    ("Ben", "Finn", 5.0, "snacks"),
    ("Finn", "Ben", 40.0, "concert"),
    ("Ben", "Finn", 7.5, "parking"),
    ("Ben", "Eva", 60.0, "gas bill"),
    ("Ben", "Finn", 12.0, "cinema"),
    ("Cleo", "Leo", 9.9, "paint"),
    ("Cleo", "Leo", 20.1, "bike part"),
    ("Leo", "Cleo", 11.0, "dinner"),
    ("Cleo", "Leo", 3.0, "stamps"),
)
"""Sender, receiver, dollars, description."""

FILES: dict[str, dict[str, str]] = {
    "Ada": {
        "downloads/a.tmp": "x",
        "downloads/old/b.tmp": "x",
        "downloads/photo.txt": "a beach",
        "downloads/old/ticket.txt": "seat 12",
        "documents/draft.tmp": "keep me",
        "documents/cv.txt": "Ada Stone",
    },
    "Ben": {
        "work/build.log": "ok",
        "work/server/one.log": "ok",
        "work/server/two.log": "ok",
        "work/plan.txt": "three steps",
        "photos/album.log": "keep me",
    },
    "Cleo": {
        "documents/lease.txt": "flat 4",
        "documents/lease.bak": "flat 4",
        "documents/taxes/y22.bak": "sums",
        "documents/taxes/y22.txt": "sums",
        "music/mix.bak": "keep me",
    },
}
"""Path below the home folder -> content."""

TODOS: dict[str, dict[str, list[tuple[str, str, bool]]]] = {
    "Ada": {
        "House": [
            ("fix the tap", "high", False),
            ("sweep the stairs", "low", False),
            ("pay the rent", "high", True),
            ("call the plumber", "high", False),
            ("buy bulbs", "medium", False),
            ("renew the insurance", "high", False),
        ],
        "Work": [("write the report", "high", False), ("tidy the desk", "low", False)],
    },
    "Ben": {
        "Garden": [
            ("mow the lawn", "medium", False),
            ("prune the tree", "high", False),
            ("order seeds", "high", False),
        ],
        "Errands": [("post the parcel", "high", False)],
    },
    "Cleo": {
        "Studio": [
            ("tune the piano", "high", False),
            ("back up the takes", "high", False),
            ("label the cables", "low", True),
            ("book the hall", "medium", False),
        ],
        "Home": [("wash the curtains", "high", False)],
    },
}
"""Project -> title, priority, completed."""


def password(first_name: str, app: str) -> str:
    """What a person logs in with."""
    return f"{first_name.lower()}-{app}-key"


def person(first_name: str) -> Row:
    """How AppWorld knows a person."""
    number = [first for first, _ in NAMES].index(first_name) + 1
    last_name = NAMES[number - 1][1]
    return {
        "first_name": first_name,
        "last_name": last_name,
        "email": f"{first_name}.{last_name}@example.com".lower(),
        "phone_number": f"555{number:07d}",
        "birthday": f"19{80 + number}-02-03",
        "sex": "female" if first_name in ("Ada", "Cleo", "Eva", "Gia", "Iris", "Kim") else "male",
    }


def records() -> dict[str, list[Row]]:
    """Rows by model, in an order in which what is referred to comes first. `id` counts from 1 within a model."""
    found: dict[str, list[Row]] = {}

    def add(model: str, **values: Any) -> int:
        rows = found.setdefault(model, [])
        rows.append({"id": len(rows) + 1, **values})
        return len(rows)

    ids = {first: number for number, (first, _) in enumerate(NAMES, 1)}
    for first in ids:
        _add_accounts(add, first)
    for owner, contacts in CONTACTS.items():
        for first, relationships in contacts.items():
            known = {key: person(first)[key] for key in ("first_name", "last_name", "email", "phone_number")}
            add("phone.Contact", user_id=ids[owner], relationships=relationships, **known)
    for owner, notes in NOTES.items():
        for title, content, tags in notes:
            add("simple_note.Note", user_id=ids[owner], title=title, content=content, tags=tags)
    _add_music(add, ids)
    for sender, receiver, amount, description in TRANSACTIONS:
        add(
            "venmo.Transaction",
            sender_id=ids[sender],
            receiver_id=ids[receiver],
            amount=amount,
            description=description,
        )
    for owner, files in FILES.items():
        _add_files(add, ids[owner], f"/home/{owner.lower()}/", files)
    for owner, projects in TODOS.items():
        for name, todos in {"Inbox": [], **projects}.items():
            project = add("todoist.Project", user_id=ids[owner], name=name, is_inbox=name == "Inbox")
            add("todoist.ProjectCollaboratorLink", project_id=project, user_id=ids[owner])
            for index, (title, priority, completed) in enumerate(todos):
                add(
                    "todoist.Task",
                    project_id=project,
                    user_id=ids[owner],
                    title=title,
                    priority=priority,
                    is_completed=completed,
                    order_index=index,
                )
    return found


def _add_accounts(add: Any, first: str) -> None:
    who = person(first)
    main_user = add("admin.MainUser", **who)
    name = {key: who[key] for key in ("first_name", "last_name")}
    for app in APPS:
        add("admin.AccountPassword", main_user_id=main_user, account_name=app, password=password(first, app))
        login = (
            {"phone_number": who["phone_number"]}
            if app == "phone"
            else {"email": who["email"], "verified": True}
        )
        balance = {"venmo_balance": BALANCE} if app == "venmo" else {}
        add(f"{app}.User", **name, **login, **balance, password=password(first, app))


def _add_music(add: Any, ids: dict[str, int]) -> None:
    for name, genre in ARTISTS:
        add("spotify.Artist", name=name, genre=genre)
    for title, artist, plays in SONGS:
        add(
            "spotify.Song",
            title=title,
            artist_ids=[artist],
            duration=200,
            release_date="2020-01-01",
            genre=ARTISTS[artist - 1][1],
            play_count=plays,
        )
    for owner, songs in LIBRARIES.items():
        for song in songs:
            add("spotify.UserLibrarySong", user_id=ids[owner], song_id=song)
        title, listed = PLAYLISTS[owner]
        playlist = add("spotify.Playlist", title=title, user_id=ids[owner])
        for song in listed:
            add("spotify.PlaylistSong", playlist_id=playlist, song_id=song)


def _add_files(add: Any, user: int, home: str, files: dict[str, str]) -> None:
    folders = {"/", "/home/", home}
    for path in files:
        parts = path.split("/")[:-1]
        folders |= {home + "/".join(parts[: depth + 1]) + "/" for depth in range(len(parts))}
    for folder in sorted(folders):
        add("file_system.Directory", user_id=user, path=folder)
    for path, content in files.items():
        add("file_system.File", user_id=user, path=home + path, content=content)
