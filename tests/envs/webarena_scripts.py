"""A right and a wrong way through every task of webarena_mini, by task number: lines for `webarena_case.play`."""

from __future__ import annotations

BEST = ["click link Bestsellers", "choose Year = 2022", "click button Show Report"]
CONTACT = "click link Contact Us"
BOX = "fill What’s on your mind? = "
DONE = ["say done"]

SCRIPTS: dict[int, tuple[list[str], list[str]]] = {
    1: ([*BEST, "say Quest Lumaflex™ Band"], [*BEST, "say Sprite Yoga Strap 6 foot"]),
    2: (
        [
            "click link MarvelsGrantMan136",
            "click link Edit biography",
            "fill Biography = I am a robot",
            "click button Save",
            *DONE,
        ],
        [
            "click link MarvelsGrantMan136",
            "click link Edit biography",
            "fill Biography = I am a robot",
            *DONE,
        ],
    ),
    3: (["click link To-Do List", *DONE], DONE),
    4: (["fill Search = Yale University", "click button Go", "say 06516"], ["say 06511"]),
    5: (["click link Brass Floor Lamp", "say $64.99"], ["click link Linen Lamp Shade", "say $17.25"]),
    6: (
        [
            "click link All Reviews",
            "fill Review text = disappointed",
            "click button Search",
            "say There are 6.",
        ],
        ["say 16"],
    ),
    7: (
        [
            "click link Submit",
            "fill Title = A virtual meetup for Big little lies",
            "fill Body = On Sep 10th, all are welcome.",
            "choose Forum = books",
            "click button Create submission",
            *DONE,
        ],
        [
            "click link Submit",
            "fill Title = A virtual meetup for Big little lies",
            "fill Body = On Sep 10th, all are welcome.",
            "choose Forum = deals",
            "click button Create submission",
            *DONE,
        ],
    ),
    8: (
        ["click link Preferences", "fill Your status = Busy", "click button Update profile settings", *DONE],
        ["click link Preferences", "fill Your status = Away", "click button Update profile settings", *DONE],
    ),
    9: (
        ["fill Search = restaurants near CMU ArtPark Lab", "click button Go", *DONE],
        ["fill Search = restaurants", "click button Go", *DONE],
    ),
    10: (
        ["click link Cotton Beach Towel", "click button Add to Cart", *DONE],
        ["click link Cotton Beach Towel", "click button Add to Wish List", *DONE],
    ),
    11: (["say hollister"], ["say Joust Bag"]),
    12: (["say 0"], ["say 10"]),
    13: (
        ["click link Preferences", "click link Access Tokens", "say TMN_bBn9Z48qVbUFZV45"],
        ["say byteblaze"],
    ),
    14: (
        [
            "fill From = Carnegie Mellon University",
            "fill To = Social Security Administration",
            "click button Get Directions",
            "say Yes",
        ],
        ["say No"],
    ),
    15: (
        [
            "goto('http://shop.test/')",
            "click link 6S Wireless Headphones Over Ear, Noise Canceling",
            "say Joseph Brzezinski, Catso, Dibbins, Anglebert Dinkherhump and Michelle Davis",
        ],
        ["say Joseph Brzezinski, Catso and Dibbins"],
    ),
    16: (["click link All Customers", *DONE], ["click link Orders", *DONE]),
    17: (["say Acadia National Park"], ["say Cuyahoga Valley National Park"]),
    18: (
        ["fill Comment = Yeah, pittsburgh traffic, you know...", "click button Post", *DONE],
        ["fill Comment = Yeah, you know...", "click button Post", *DONE],
    ),
    19: (
        ["click link a11yproject/a11yproject.com", "click link Commits", "say 1"],
        ["click link a11yproject/a11yproject.com", "click link Commits", "say 2"],
    ),
    20: (
        [
            "fill Search = international airport",
            "click button Go",
            "say Pittsburgh International Airport, Southern Beltway, Findlay Township, Allegheny County, 15231, "
            "United States",
        ],
        ["say Pittsburgh International Airport"],
    ),
    21: (
        [
            CONTACT,
            BOX + "I ask for a refund of order #000000180, SKU B087QJN9W1: it broke after three days of use.",
            *DONE,
        ],
        [CONTACT, BOX + "I ask for a refund of order #000000180: it broke after three days of use.", *DONE],
    ),
    22: (
        [
            "click link Products",
            "click link Linen Lamp Shade",
            "fill Price = 15.50",
            "click button Save",
            *DONE,
        ],
        [
            "click link Products",
            "click link Brass Floor Lamp",
            "fill Price = 15.50",
            "click button Save",
            *DONE,
        ],
    ),
    23: (
        [
            "click link Submit",
            "fill Title = chatGPT in the terminal",
            "fill URL = http://code.test/convexegg/chatgpt",
            "choose Forum = technology",
            "click button Create submission",
            *DONE,
        ],
        [
            "click link Submit",
            "fill Title = chatGPT in the terminal",
            "choose Forum = technology",
            "click button Create submission",
            *DONE,
        ],
    ),
    24: (
        ["click link A new crater on the far side", "click button Subscribe", *DONE],
        ["click link A new crater on the far side", *DONE],
    ),
    25: (
        ["click link Issues", "click link Open, newest first", *DONE],
        ["click link Issues", "click link Open, oldest first", *DONE],
    ),
    26: (
        [
            "fill From = Carnegie Mellon University",
            "fill To = Hunt Library",
            "choose Engine = foot",
            "click button Get Directions",
            "say 0.4km",
        ],
        ["say 0.6km"],
    ),
    27: (
        [CONTACT, BOX + "You promised me a coupon last time.", *DONE],
        [CONTACT, BOX + "You promised me a coupon last time.", "click button Submit", *DONE],
    ),
    28: (
        ["click link Orders", "choose Status = Suspected Fraud", "click button Apply Filters", *DONE],
        ["click link Orders", "choose Status = Canceled", "click button Apply Filters", *DONE],
    ),
    29: (
        [
            "goto('http://forum.test/submit/deals')",
            "fill Title = Brass Floor Lamp",
            "fill Body = $64.99",
            "click button Create submission",
            *DONE,
        ],
        [
            "goto('http://forum.test/submit/deals')",
            "fill Title = Brass Floor Lamp",
            "fill Body = $74.99",
            "click button Create submission",
            *DONE,
        ],
    ),
    30: (
        [
            "click link primer/design",
            "click link Merge requests",
            "click link Octovisuals page !450",
            "fill Comment = Thanks, working on reviews",
            "click button Add comment",
            *DONE,
        ],
        [
            "click link primer/design",
            "click link Merge requests",
            "click link Icons in navigation !451",
            "fill Comment = Thanks, working on reviews",
            "click button Add comment",
            *DONE,
        ],
    ),
    31: (["goto('http://forum.test/user/pagecorner')", "say 2"], ["say 4"]),
    32: (
        [
            "click link Issues",
            "click link New issue",
            "fill Title = The implementation of dark mode",
            "fill Description = How shall we do it?",
            "click button Create issue",
            *DONE,
        ],
        ["click link Issues", "click link New issue", "fill Title = The implementation of dark mode", *DONE],
    ),
    33: (["say 914km"], ["say 705km"]),
    34: (["report_infeasible('there is no such project')"], ["say 0"]),
    35: (["click link My Orders", "click link 000000161", *DONE], ["click link My Orders", *DONE]),
    36: (
        [
            "fill Search = WQED",
            "click button Go",
            "click link WQED Studios, 4802 Fifth Avenue, Pittsburgh, 15213, United States",
            *DONE,
        ],
        ["fill Search = Boston", "click button Go", *DONE],
    ),
}
