"""The nine scenarios of appworld_mini: instruction, evaluation, reference solution, three variants each.

All our own. An evaluation is python that the engine runs after the episode, in the form of AppWorld's own:
`evaluate(test, public_data, private_data, main_user, models, ground_truth_answer)`. A solution may use what
mini_tasks.LOGIN defines; `<name>` in it stands for a variant's value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Scenario:
    """A kind of task; `{name}` in its texts stands for a variant's value."""

    id: str
    instruction: str
    apps: tuple[str, ...]
    """Required apps. As all ground truth: for reports only."""
    tests: tuple[tuple[str, str], ...]
    """Requirement and label: no_op_fail (doing nothing fails it) or no_op_pass (it guards against damage)."""
    evaluation: str
    solution: str
    variants: tuple[Mapping[str, Any], ...] = field(default=())
    """Values of a task: `who`, `answer` (None where nothing is asked), and the scenario's own."""


SHARED = '''\
import json


def answer_of(models):
    return json.loads(models.end.supervisor.Task.first().answer)


def changes(models, also=()):
    """Changed models. Logging in marks a user, which is no change; `also`: further fields of users that may."""
    names = set(models.changed_model_names())
    for name in sorted(names):
        if name.endswith(".User"):
            added, updated, removed = models.changed_records(name)
            allowed = ["last_logged_in", *also]
            fields = [models.changed_field_names(name, id=user.id, ignore=allowed) for user in updated]
            if not (added or removed or any(fields)):
                names.discard(name)
    return names


def evaluate(test, public_data, private_data, main_user, models, ground_truth_answer):
'''
_ANSWER = """\
    with test("the answer is right"):
        test.case(ground_truth_answer, "==", expected(models, main_user, public_data))
        test.answer(answer_of(models), ground_truth_answer)
    with test("nothing was changed"):
        test.case(changes(models), "==", set())
"""
_ANSWER_TESTS = (("the answer is right", "no_op_fail"), ("nothing was changed", "no_op_pass"))
_NO_ANSWER = """\
    with test("the task was completed without an answer"):
        test.answer(answer_of(models), None)
"""
_NO_ANSWER_TEST = ("the task was completed without an answer", "no_op_fail")


def _asking(expected: str) -> str:
    return f"def expected(models, main_user, public_data):\n{expected}\n\n{SHARED}{_ANSWER}"


NOTE_TAG = Scenario(
    "notetag",
    "How many of my Simple Note notes have the tag '{tag}'?",
    ("simple_note",),
    _ANSWER_TESTS,
    _asking(
        "    notes = models.start.simple_note.Note.find_all(user_id=main_user.id)\n"
        "    return len([note for note in notes if public_data['tag'] in note.tags])\n"
    ),
    "answer = len(pages(apis.simple_note.search_notes, access_token=token('simple_note'), tags=[<tag>]))\n",
    (
        {"who": "Ada", "tag": "home", "answer": 6},
        {"who": "Ben", "tag": "travel", "answer": 2},
        {"who": "Cleo", "tag": "recipe", "answer": 7},
    ),
)

NOTE_LINE = Scenario(
    "noteline",
    "Add the line '{line}' at the end of my Simple Note note titled '{title}'.",
    ("simple_note",),
    (
        _NO_ANSWER_TEST,
        ("only notes were changed", "no_op_fail"),
        ("that note and no other has the line at its end", "no_op_fail"),
    ),
    SHARED
    + _NO_ANSWER
    + """\
    with test("only notes were changed"):
        test.case(changes(models), "==", {"simple_note.Note"})
    with test("that note and no other has the line at its end"):
        added, updated, removed = models.changed_records("simple_note.Note")
        test.case([len(added), len(updated), len(removed)], "==", [0, 1, 0])
        before = models.start.simple_note.Note.find_one(user_id=main_user.id, title=public_data["title"])
        test.case(updated[0].id, "==", before.id)
        test.case(updated[0].content, "==", before.content + "\\n" + public_data["line"])
        changed = models.changed_field_names("simple_note.Note", id=before.id, ignore=["updated_at"])
        test.case({name for name in changed if not name.startswith("computed")}, "==", {"content"})
""",
    """\
key = token('simple_note')
found = pages(apis.simple_note.search_notes, access_token=key, query=<title>)
note = next(note for note in found if note['title'] == <title>)
apis.simple_note.add_content_to_note(
    note_id=note['note_id'], append_or_prepend='append', added_content=<line>, access_token=key)
""",
    (
        {"who": "Ada", "line": "coffee", "title": "Groceries"},
        {"who": "Ben", "line": "map", "title": "Packing"},
        {"who": "Cleo", "line": "stairs", "title": "Chores"},
    ),
)

TOP_SONG = Scenario(
    "topsong",
    "What is the title of the song in my Spotify song library that has been played most often?",
    ("spotify",),
    _ANSWER_TESTS,
    _asking(
        "    library = models.start.spotify.UserLibrarySong.find_all(user_id=main_user.id)\n"
        "    songs = [models.start.spotify.Song.by_id(entry.song_id) for entry in library]\n"
        "    return max(songs, key=lambda song: song.play_count).title\n"
    ),
    """\
library = pages(apis.spotify.show_song_library, access_token=token('spotify'))
songs = [apis.spotify.show_song(song_id=entry['song_id']) for entry in library]
answer = max(songs, key=lambda song: song['play_count'])['title']
""",
    (
        {"who": "Ada", "answer": "Loud Weather"},
        {"who": "Ben", "answer": "Orange Line"},
        {"who": "Cleo", "answer": "Winter Study"},
    ),
)

PLAYLIST = Scenario(
    "playlist",
    "Make a new private Spotify playlist titled '{title}' with all {genre} songs of my song library, and no others.",
    ("spotify",),
    (
        _NO_ANSWER_TEST,
        ("only playlists were changed", "no_op_fail"),
        ("one private playlist of that title is new", "no_op_fail"),
        ("it holds exactly the songs asked for", "no_op_fail"),
    ),
    SHARED
    + _NO_ANSWER
    + """\
    with test("only playlists were changed"):
        test.case(changes(models), "==", {"spotify.Playlist", "spotify.PlaylistSong"})
    added, updated, removed = models.changed_records("spotify.Playlist")
    with test("one private playlist of that title is new"):
        test.case([len(added), len(updated), len(removed)], "==", [1, 0, 0])
        test.case(added[0].title, "==", public_data["title"])
        test.case(added[0].user_id, "==", main_user.id)
        test.case(added[0].is_public, "==", False)
    with test("it holds exactly the songs asked for"):
        listed, relisted, unlisted = models.changed_records("spotify.PlaylistSong")
        test.case([len(relisted), len(unlisted)], "==", [0, 0])
        test.case({entry.playlist_id for entry in listed}, "==", {added[0].id})
        library = models.start.spotify.UserLibrarySong.find_all(user_id=main_user.id)
        songs = [models.start.spotify.Song.by_id(entry.song_id) for entry in library]
        wanted = sorted(song.id for song in songs if song.genre == public_data["genre"])
        test.case(sorted(entry.song_id for entry in listed), "==", wanted)
""",
    """\
key = token('spotify')
library = pages(apis.spotify.show_song_library, access_token=key)
songs = [apis.spotify.show_song(song_id=entry['song_id']) for entry in library]
made = apis.spotify.create_playlist(title=<title>, is_public=False, access_token=key)
for song in songs:
    if song['genre'] == <genre>:
        apis.spotify.add_song_to_playlist(
            playlist_id=made['playlist_id'], song_id=song['song_id'], access_token=key)
""",
    (
        {"who": "Ada", "title": "Blue Hour", "genre": "jazz"},
        {"who": "Ben", "title": "Study", "genre": "classical"},
        {"who": "Cleo", "title": "Morning", "genre": "indie"},
    ),
)

PAY = Scenario(
    "pay",
    "Send ${amount} on Venmo to my {relation} from my Venmo balance, with the description '{description}'.",
    ("phone", "venmo"),
    (
        _NO_ANSWER_TEST,
        ("only the payment and its traces were changed", "no_op_fail"),
        ("exactly that payment was made", "no_op_fail"),
    ),
    SHARED
    + _NO_ANSWER
    + """\
    with test("only the payment and its traces were changed"):
        names = changes(models, also=["venmo_balance"])
        test.case(names, "==", {"venmo.Transaction", "venmo.Notification"})
    with test("exactly that payment was made"):
        added, updated, removed = models.changed_records("venmo.Transaction")
        test.case([len(added), len(updated), len(removed)], "==", [1, 0, 0])
        contacts = models.start.phone.Contact.find_all(user_id=main_user.id)
        email = next(c.email for c in contacts if public_data["relation"] in c.relationships)
        receiver = models.start.venmo.User.find_one(email=email)
        test.case([added[0].sender_id, added[0].receiver_id], "==", [main_user.id, receiver.id])
        test.case(added[0].amount, "==", float(public_data["amount"]))
        test.case(added[0].description, "==", public_data["description"])
        test.case(added[0].payment_card_digits, "==", None)
""",
    """\
found = pages(apis.phone.search_contacts, access_token=token('phone'), relationship=<relation>)
apis.venmo.create_transaction(
    receiver_email=found[0]['email'], amount=float(<amount>), description=<description>,
    access_token=token('venmo'))
""",
    (
        {"who": "Ada", "amount": "12.50", "relation": "roommate", "description": "pizza"},
        {"who": "Ben", "amount": "30.00", "relation": "roommate", "description": "rent share"},
        {"who": "Cleo", "amount": "8.75", "relation": "roommate", "description": "taxi"},
    ),
)

PAID = Scenario(
    "paid",
    "How many dollars have I sent to my {relation} on Venmo, all payments taken together?",
    ("phone", "venmo"),
    _ANSWER_TESTS,
    _asking(
        "    contacts = models.start.phone.Contact.find_all(user_id=main_user.id)\n"
        "    email = next(c.email for c in contacts if public_data['relation'] in c.relationships)\n"
        "    receiver = models.start.venmo.User.find_one(email=email)\n"
        "    sent = models.start.venmo.Transaction.find_all(sender_id=main_user.id, receiver_id=receiver.id)\n"
        "    return round(sum(payment.amount for payment in sent), 2)\n"
    ),
    """\
found = pages(apis.phone.search_contacts, access_token=token('phone'), relationship=<relation>)
sent = pages(apis.venmo.show_transactions, access_token=token('venmo'),
             user_email=found[0]['email'], direction='sent')
answer = round(sum(payment['amount'] for payment in sent), 2)
""",
    (
        {"who": "Ada", "relation": "sister", "answer": 61.5},
        {"who": "Ben", "relation": "brother", "answer": 24.5},
        {"who": "Cleo", "relation": "brother", "answer": 33.0},
    ),
)

TEXT = Scenario(
    "text",
    "Send a text message saying '{message}' to each of my coworkers, one message each.",
    ("phone",),
    (
        _NO_ANSWER_TEST,
        ("only text messages were changed", "no_op_fail"),
        ("each coworker and nobody else was sent the message once", "no_op_fail"),
    ),
    SHARED
    + _NO_ANSWER
    + """\
    with test("only text messages were changed"):
        test.case(changes(models), "==", {"phone.GlobalTextMessage", "phone.UserTextMessage"})
    with test("each coworker and nobody else was sent the message once"):
        added, updated, removed = models.changed_records("phone.GlobalTextMessage")
        test.case([len(updated), len(removed)], "==", [0, 0])
        contacts = models.start.phone.Contact.find_all(user_id=main_user.id)
        numbers = [c.phone_number for c in contacts if "coworker" in c.relationships]
        wanted = sorted(models.start.phone.User.find_one(phone_number=number).id for number in numbers)
        test.case(sorted(message.receiver_id for message in added), "==", wanted)
        test.case({message.message for message in added}, "==", {public_data["message"]})
        test.case({message.sender_id for message in added}, "==", {main_user.id})
""",
    """\
key = token('phone')
for contact in pages(apis.phone.search_contacts, access_token=key, relationship='coworker'):
    apis.phone.send_text_message(
        phone_number=contact['phone_number'], message=<message>, access_token=key)
""",
    (
        {"who": "Ada", "message": "The meeting moved to 3 pm."},
        {"who": "Ben", "message": "I am out sick today."},
        {"who": "Cleo", "message": "Lunch is on me tomorrow."},
    ),
)

CLEAN = Scenario(
    "clean",
    "In my file system, delete every file ending in {ending} below ~/{folder}/, sub-folders included, and no other.",
    ("file_system",),
    (
        _NO_ANSWER_TEST,
        ("only files were removed", "no_op_fail"),
        ("exactly those files are gone", "no_op_fail"),
    ),
    SHARED
    + _NO_ANSWER
    + """\
    with test("only files were removed"):
        test.case(changes(models) - {"file_system.Directory"}, "==", {"file_system.File"})
        folders = models.changed_records("file_system.Directory")
        test.case([len(folders[0]), len(folders[2])], "==", [0, 0])
    with test("exactly those files are gone"):
        added, updated, removed = models.changed_records("file_system.File")
        test.case([len(added), len(updated)], "==", [0, 0])
        below = f"/home/{main_user.first_name.lower()}/{public_data['folder']}/"
        files = models.start.file_system.File.find_all(user_id=main_user.id)
        wanted = [f.path for f in files if f.path.startswith(below) and f.path.endswith(public_data["ending"])]
        test.case(sorted(f.path for f in removed), "==", sorted(wanted))
        test.case({f.user_id for f in removed}, "==", {main_user.id})
""",
    """\
key = token('file_system')
paths = apis.file_system.show_directory(
    directory_path='~/' + <folder> + '/', entry_type='files', recursive=True, access_token=key)
for path in paths:
    if path.endswith(<ending>):
        apis.file_system.delete_file(file_path=path, access_token=key)
""",
    (
        {"who": "Ada", "ending": ".tmp", "folder": "downloads"},
        {"who": "Ben", "ending": ".log", "folder": "work"},
        {"who": "Cleo", "ending": ".bak", "folder": "documents"},
    ),
)

CHORES = Scenario(
    "todo",
    "Mark every open high-priority task of my Todoist project '{project}' as completed.",
    ("todoist",),
    (
        _NO_ANSWER_TEST,
        ("only todo tasks were changed", "no_op_fail"),
        ("exactly those tasks are completed now", "no_op_fail"),
    ),
    SHARED
    + _NO_ANSWER
    + """\
    with test("only todo tasks were changed"):
        test.case(changes(models), "==", {"todoist.Task"})
    with test("exactly those tasks are completed now"):
        added, updated, removed = models.changed_records("todoist.Task")
        test.case([len(added), len(removed)], "==", [0, 0])
        project = models.start.todoist.Project.find_one(user_id=main_user.id, name=public_data["project"])
        todos = models.start.todoist.Task.find_all(project_id=project.id)
        wanted = sorted(t.id for t in todos if t.priority == "high" and not t.is_completed)
        test.case(sorted(todo.id for todo in updated), "==", wanted)
        for todo in updated:
            test.case(models.changed_field_names("todoist.Task", id=todo.id), "==", {"is_completed"})
""",
    """\
key = token('todoist')
projects = pages(apis.todoist.show_projects, access_token=key)
project = next(project for project in projects if project['name'] == <project>)
listed = apis.todoist.show_tasks(project_id=project['project_id'], access_token=key)
for todo in listed['no_section_tasks']:
    if todo['priority'] == 'high' and not todo['is_completed']:
        apis.todoist.update_task(task_id=todo['task_id'], is_completed=True, access_token=key)
""",
    (
        {"who": "Ada", "project": "House"},
        {"who": "Ben", "project": "Garden"},
        {"who": "Cleo", "project": "Studio"},
    ),
)

SCENARIOS = (NOTE_TAG, NOTE_LINE, TOP_SONG, PLAYLIST, PAY, PAID, TEXT, CLEAN, CHORES)
