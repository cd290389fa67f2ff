"""The offline reader on pages: what it clicks, writes and says, from the page's text alone."""

from __future__ import annotations

from agents.base import Message
from agents.client import Request
from agents.loop import system_text
from agents.prompts import assistant, block, system, user
from agents.reader.client import ReaderClient
from tests.agents.worlds import Advice

SHOP = """\
Address: http://shop.test/
RootWebArea 'Shop', focused
\t[5] link 'Home'
\t[6] link 'Contact Us'
\t[7] textbox 'Your name'
\t[8] button 'Send'
\t[9] cell 'Brass lamp'
\t[10] cell '$12.50'
\t[11] link "Men's slippers\""""


def conversation(task: str, page: str = SHOP, memory: str = "") -> list[Message]:
    text = system_text("page", "click('a1'), fill('a1', 'text'), send_msg_to_user('answer')", Advice(memory))
    return [system(text), user(f"{block('task', task)}\n{block('observation', page)}\nStep 1 of 9.")]


def act(messages: list[Message]) -> str:
    request = Request("reader", tuple(messages), "act", 0.0, 100)
    return ReaderClient(0).send(request).text.split("Action: ")[1]


def test_the_link_that_the_task_speaks_of_is_clicked() -> None:
    assert act(conversation("Open the contact page.")) == "click('6')"
    assert act(conversation("Show the slippers for men.")) == "click('11')"


def test_what_the_task_quotes_is_written_and_then_sent() -> None:
    messages = conversation('Enter "Ada King" as my name.')
    fill = act(messages)
    assert fill == "fill('7', 'Ada King')"
    messages += [
        assistant(f"Thought: I write.\nAction: {fill}"),
        user(block("observation", SHOP.replace("'Your name'", "'Your name' value='Ada King'"))),
    ]
    assert act(messages) == "click('8')"


def test_a_number_that_is_asked_for_is_read_beside_its_name() -> None:
    assert act(conversation("What is the price of the brass lamp?")) == "send_msg_to_user('$12.50')"
    assert act(conversation("How many umbrellas are there?")) == "send_msg_to_user('N/A')"


def test_what_the_memory_names_comes_first() -> None:
    memory = "Task: Show the start page. It worked to click the link 'Home'."
    assert act(conversation("Open the contact page.")) == "click('6')"
    assert act(conversation("Open the contact page.", memory=memory)) == "click('5')"


def test_the_same_thing_is_not_clicked_twice() -> None:
    messages = conversation("Open the contact page.")
    messages += [assistant("Thought: x\nAction: click('6')"), user(block("observation", SHOP))]
    assert act(messages) == "send_msg_to_user('done')"


def test_a_value_with_its_label_is_an_answer_and_a_hyphen_no_obstacle() -> None:
    page = "Address: http://shop.test/lamp\n[5] link 'To-Do List'\n\tStaticText 'Price: $12.50'"
    assert act(conversation("What is the price of the lamp?", page)) == "send_msg_to_user('$12.50')"
    assert act(conversation("Check out my todos", page)) == "click('5')"
