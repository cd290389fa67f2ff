"""How to act in the browser: BrowserGym's action set `webarena`, in our words."""

from __future__ import annotations

from envs.base import Capability

ACTIONS = (
    Capability("click", "click an element", "click('a51'): click the element marked [a51]"),
    Capability(
        "fill", "write into a field", "fill('a51', 'text'): replace what the field [a51] holds by the text"
    ),
    Capability(
        "select_option",
        "choose from a menu",
        "select_option('a51', 'Blue'): choose from the menu (combobox) [a51] by the option's text or value",
    ),
    Capability("hover", "move the mouse over an element", "hover('a51'): move the mouse over [a51]"),
    Capability(
        "keyboard_press",
        "press a key",
        "keyboard_press('Enter'): press a key or a combination such as 'Control+a' where the focus is",
    ),
    Capability("scroll", "scroll the page", "scroll(0, 400): scroll right and down by so many pixels"),
    Capability("goto", "open an address", "goto('http://...'): open an address in this tab"),
    Capability("go_back", "previous page", "go_back(): the previous page of this tab"),
    Capability("go_forward", "next page", "go_forward(): the next page, after going back"),
    Capability("new_tab", "open a tab", "new_tab(): open an empty tab and go to it"),
    Capability("tab_focus", "go to a tab", "tab_focus(1): go to the tab with this number"),
    Capability("tab_close", "close the tab", "tab_close(): close this tab"),
    Capability("noop", "wait", "noop(1000): wait so many milliseconds"),
    Capability(
        "send_msg_to_user",
        "answer, and end the task",
        "send_msg_to_user('answer'): end the task with this answer",
    ),
    Capability(
        "report_infeasible",
        "say that the task cannot be done, and end it",
        "report_infeasible('reason'): end the task because it cannot be done",
    ),
)


def action_help(home: str) -> str:
    """The actions for the agent's prompt. `home`: the page that lists all sites."""
    listed = "\n".join(f"- {action.definition}" for action in ACTIONS)
    return (
        "You see the page as its accessibility tree. A mark such as [a51] before an element names it in actions;\n"
        "marks are new on every page, so use only those of the latest one. An action is one call:\n"
        f"{listed}\n"
        "You are logged in to the sites that the task needs. When the task is done, end it with\n"
        "send_msg_to_user: if it asks for something, the message is graded against the expected answer, so give\n"
        "the answer alone, as short and exact as the site shows it; if it asks to show or to change something,\n"
        "what counts is the page that is open at the end, or what the sites hold then, and any message will do.\n"
        "If the task cannot be done on these sites, send_msg_to_user('N/A').\n"
        f"The page {home} lists all sites, and {home}/password.html their accounts.\n"
        "Leaving these sites ends the task as failed."
    )
