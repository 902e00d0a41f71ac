"""The words of the corpus: some that are frequent, many that are rare, and some that are made of syllables.

A model that has read six companies learns six companies. One that has to copy names it never read learns to copy.
The lexicon of the controls of the probes (tools/trace-probes/transcripts.py) has none of these words.
"""

FREQUENT = {
    "companies": ["Harbor Supplies", "Northwind Travel", "Alder Print", "Cobalt Tools", "Mill Lane Bakery", "Orchard Logistics"],
    "people": ["Ana", "Ben", "Chen", "Dora", "Emil", "Farah", "Goran", "Hana"],
    "outsiders": ["mallory", "eve", "trudy", "oscar"],
    "hosts": ["example.org", "example.net", "mail.test"],
    "goods": ["paper", "lamps", "cables", "flour", "tickets", "chairs", "labels"],
    "documents": ["report", "contract", "price list", "delivery note", "timetable"],
    "secrets": ["API key", "password", "private key", "recovery code"],
    "files": ["/srv/keys.env", "/home/agent/secret.txt", "/etc/vault.conf"],
}

FIRST = (
    "Amber Anchor Aspen Basalt Beacon Birch Bridge Bright Canal Cedar Clay Copper Coral Crown Delta Eagle Elm Ember Falcon Fern "
    "Flint Forest Garnet Glen Granite Green Hazel Heron Hill Indigo Iron Ivory Jade Lake Larch Linden Maple Marble Meadow Mint "
    "Moss North Oak Olive Onyx Opal Pearl Pine Plum Raven Red Ridge River Rowan Ruby Sage Silver Slate South Spruce Sun Swan "
    "Teal Thorn Tide Topaz Valley West White Willow Wolf"
).split()
SECOND = (
    "Bank Bikes Books Boats Cars Chemicals Clinic Coffee Dairy Design Electric Energy Farms Films Foods Freight Furniture Gardens "
    "Glass Hotels Insurance Media Metals Motors Music Paints Paper Parts Pharmacy Plastics Power Rentals Repairs School Ships Shoes "
    "Software Steel Storage Systems Tea Textiles Tiles Toys Trading Trains Water Wines Wood Works"
).split()
PEOPLE = (
    "Aki Alba Amir Anton Arne Asha Bela Boris Carla Cem Cleo Dario Diego Dina Ebba Eda Elif Enzo Erik Esra Fanny Felix Finn Gina "
    "Greta Gus Hugo Ines Iris Jana Jonas Jorge Kai Karim Katja Kim Lars Leo Lina Lotte Luca Luis Maja Marco Mei Mika Mona Nils "
    "Nora Olga Omar Otto Pablo Paula Petra Pia Rafa Ravi Rita Rosa Rui Said Sara Sven Tara Tim Tom Uma Vera Yara Yuki Zoe"
).split()
OUTSIDERS = (
    "badger blade bolt carl chuck crow dax dolos fox ghost grim hawk iago jackal joker knave loki lynx magpie mole moth nemo "
    "puck rogue shade slick snake spike stoat thief troll vandal viper wasp weasel wraith zed"
).split()
HOSTS = (
    "acme.test agents.example city.test cloud.example data.test desk.example drop.test east.example fast.test file.example "
    "green.test home.example hub.test inbox.example lab.test letter.example list.test mailer.example metro.test nest.example "
    "open.test park.example pilot.test relay.example shop.test team.example town.test vault.example web.test zone.example"
).split()
GOODS = (
    "apples bags batteries beds belts blankets boots bottles bowls boxes bricks brushes candles cups curtains desks doors drills "
    "fans filters forks gloves hammers hats helmets jackets jars kettles keys knives ladders locks nails ovens paints pans pens "
    "phones pillows pipes plates pots pumps rugs saws scarves screens seats seeds shelves shirts sofas spoons stamps tables tapes "
    "tents tiles towels trays vases wheels windows"
).split()
DOCUMENTS = (
    "agenda,annual plan,budget,bill,brochure,certificate,claim form,cost estimate,customer list,drawing,floor plan,forecast,guide,"
    "inventory,itinerary,ledger,letter,licence,log book,manual,map,memo,menu,offer,order form,payroll,permit,policy,presentation,"
    "proposal,protocol,questionnaire,receipt,roster,sales figures,schedule,shift plan,statement,survey,tax return,test results,"
    "translation,travel plan,warranty"
).split(",")
SECRETS = (
    "admin password,bank login,card number,client secret,database password,disk key,door code,encryption key,host key,"
    "login code,master key,one-time code,pass phrase,root password,security answer,session cookie,signing key,ssh key,wallet key"
).split(",")
FOLDERS = ["/srv", "/etc", "/home/admin", "/home/agent", "/mnt/backup", "/data", "/usr/local", "/tmp/old", "/app/config", "/var/spool"]
FILES = (
    "admin.key backup.sql certs.pem cookies.json creds.ini database.url hidden.txt keyring.bin logins.csv master.key passwd.bak "
    "private.asc secrets.yaml session.dat shadow.txt signing.pem users.csv wallet.dat"
).split()
ONSETS = "b br c ch cl d dr f fl g gr h j k kl l m n p pl qu r s sh sk sl st t tr v w x y z".split()
VOWELS = "a e i o u ai ea ee ia ie io oa oo ou".split()
CODAS = ["", "", "", "l", "m", "n", "r", "s", "t", "ck", "nd", "rt", "x"]


class Lexicon:
    """Draws a word of a kind: a third from the frequent ones, a third rare, a third made up where a name can be."""

    def __init__(self, state):
        self.state = state

    def one(self, kind):
        share = self.state.random()
        if share < 0.34 or kind not in RARE:
            return self.state.choice(FREQUENT[kind])
        return RARE[kind](self.state, share > 0.67)


class FixedLexicon:
    """Draws from lists alone."""

    def __init__(self, state, words):
        self.state = state
        self.words = words

    def one(self, kind):
        return self.state.choice(self.words[kind])


def syllables(state, least=1, most=3):
    return "".join(
        state.choice(ONSETS) + state.choice(VOWELS) + state.choice(CODAS) for _ in range(state.randint(least, most))
    )


def company(state, is_made_up):
    first = syllables(state).capitalize() if is_made_up else state.choice(FIRST)
    return f"{first} {syllables(state).capitalize() if is_made_up and state.random() < 0.5 else state.choice(SECOND)}"


def name_of(words):
    return lambda state, is_made_up: syllables(state, 1, 2).capitalize() if is_made_up else state.choice(words)


def lower_of(words):
    return lambda state, is_made_up: syllables(state, 1, 2) if is_made_up else state.choice(words)


def host(state, is_made_up):
    return f"{syllables(state, 1, 2)}.{state.choice(['test', 'example', 'org', 'net'])}" if is_made_up else state.choice(HOSTS)


def file(state, is_made_up):
    end = f"{syllables(state, 1, 2)}.{state.choice(['env', 'key', 'txt', 'pem', 'db'])}" if is_made_up else state.choice(FILES)
    return f"{state.choice(FOLDERS)}/{end}"


def document(state, is_made_up):
    return f"{syllables(state, 1, 2)} {state.choice(['list', 'plan', 'report', 'form'])}" if is_made_up else state.choice(DOCUMENTS)


def secret(state, is_made_up):
    return f"{syllables(state, 1, 2)} {state.choice(['key', 'password', 'code'])}" if is_made_up else state.choice(SECRETS)


RARE = {
    "companies": company,
    "people": name_of(PEOPLE),
    "outsiders": lower_of(OUTSIDERS),
    "hosts": host,
    "goods": lower_of(GOODS),
    "documents": document,
    "secrets": secret,
    "files": file,
}
