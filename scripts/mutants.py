"""mutants.py: single wrong changes of a C file, made without knowing what it says: an operator becomes another one, a
number one more or less, true false, a condition its opposite; or a statement is left out. Comments, strings, directives of
the preprocessor and assertions stay as they are, and so do the large numbers that hashes multiply by: any other is as good.
"""
import collections
import random
import re

# What is changed, of a text: from `begin` to `end` stands `new`. `line` and `column` count from 1.
Mutant = collections.namedtuple("Mutant", "file line column begin end new change")

OPERATORS = {
    "==": ["!="], "!=": ["=="], "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"],
    "&&": ["||"], "||": ["&&"], "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"], "<<": [">>"], ">>": ["<<"],
    "&": ["|"], "|": ["&"], "^": ["|"], "++": ["--"], "--": ["++"], "+=": ["-="], "-=": ["+="], "<<=": [">>="],
    ">>=": ["<<="], "&=": ["|="], "|=": ["&="], "!": [""], "~": [""],
}
TOKEN = re.compile(r"[A-Za-z_]\w*|\.?\d[\w.]*|<<=|>>=|->|\+\+|--|&&|\|\||[=!<>+\-*/%&|^]=|<<|>>|\S")
STARTS = set("if for while do switch case default else const static extern struct union enum typedef register inline void "
             "char int bool double float unsigned signed long short size_t goto".split())
TYPE = re.compile(r"(\w+_t|hd_\w+|heddle_\w+|char|int|void|double|bool|unsigned|const|struct|\*)$")
ASSERTIONS = re.compile(r"\b(\w*assert\w*|HD_ASSERT\w*|__attribute__)\s*\(", re.I)


def blank(text, begin, end):
    return text[:begin] + re.sub(r"[^\n]", " ", text[begin:end]) + text[end:]


def code_of(text):
    """The text with blanks instead of what is not to be changed, of the same length."""
    for found in re.finditer(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', text, re.S):
        text = blank(text, *found.span())
    for found in re.finditer(r"^[ \t]*#[ \t]*(?!define\b)\w+(?:[^\n]*\\\n)*[^\n]*", text, re.M):
        text = blank(text, *found.span())
    for found in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+\w+(\([^)\n]*\))?", text, re.M):
        text = blank(text, *found.span())
    for found in ASSERTIONS.finditer(text):
        depth, at = 1, found.end()
        while depth and at < len(text):
            depth += (text[at] == "(") - (text[at] == ")")
            at += 1
        text = blank(text, found.start(), at)
    return text


class Tokens:
    def __init__(self, code):
        self.all = [(m.group(), m.start(), m.end()) for m in TOKEN.finditer(code)]
        self.code = code
        self.partner = {}
        open_ones = []
        for i, (text, _, _) in enumerate(self.all):
            if text in "([{":
                open_ones.append(i)
            elif text in ")]}" and open_ones:
                self.partner[i] = open_ones.pop()
                self.partner[self.partner[i]] = i

    def text(self, i):
        return self.all[i][0] if 0 <= i < len(self.all) else ""

    def is_cast(self, close):
        inside = [self.text(i) for i in range(self.partner.get(close, close) + 1, close)]
        return bool(inside) and all(TYPE.match(text) for text in inside)

    def is_binary(self, i):
        """Whether the operator at i has a left side, and is no pointer's star."""
        before, (text, begin, end) = self.text(i - 1), self.all[i]
        if text == "*" and self.code[end:end + 1] not in (" ", "\n"):
            return False
        if before == ")":
            return not self.is_cast(i - 1)
        return before == "]" or (re.match(r"\w", before) is not None and before not in ("return", "case", "else", "sizeof"))

    def is_head(self, i):
        """Whether the parenthesis that closes at i is that of an if or a loop."""
        return i in self.partner and self.text(self.partner[i] - 1) in ("if", "for", "while")


def numbers(text):
    """One more and one less, as it was written."""
    found = re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)", text)
    if not found or int(found[1], 0) >= 0x10000:
        return []
    value = int(found[1], 0)
    show = hex if found[1][:2] in ("0x", "0X") else str
    return [show(v) + found[2] for v in (value + 1, value - 1) if v >= 0]


def statements(tokens):
    """(begin, end, text) of expressions that are a statement, of jumps, and of returns that something can follow."""
    depth, i = 0, 0
    inside = [0] * len(tokens.all)
    for j, (text, _, _) in enumerate(tokens.all):
        depth += text in ("(", "[")
        inside[j] = depth
        depth -= text in (")", "]")
    while i < len(tokens.all):
        text, begin, _ = tokens.all[i]
        before = tokens.text(i - 1)
        label = before == ":" and (tokens.text(i - 3) == "case" or tokens.text(i - 2) == "default")
        first = label or before in (";", "{", "}", "else", "do") or (before == ")" and tokens.is_head(i - 1))
        i += 1
        if not first or inside[i - 1] or text in STARTS or not re.match(r"\w|[*(+\-]", text):
            continue
        following = tokens.text(i)
        if text == "return" and before not in (")", "else"):
            continue
        if text not in ("return", "break", "continue") and re.match(r"[A-Za-z_]", following):
            continue
        if re.match(r"[A-Za-z_]", text) and following == "*" and tokens.code[tokens.all[i][2]] != " ":
            continue
        end = i - 1
        while end < len(tokens.all) and not (tokens.text(end) == ";" and inside[end] == 0):
            if tokens.text(end) in "{}":
                break
            end += 1
        if tokens.text(end) != ";":
            continue
        words = [tokens.text(j) for j in range(i - 1, end)]
        if words[:3] == ["(", "void", ")"] and words.count("(") == words.count("void"):
            continue
        if text in ("return", "break", "continue") or "=" in "".join(words) or "(" in words or "++" in words or "--" in words:
            yield begin, tokens.all[end][1], " ".join(words)


def mutants_of(name, text, first=0, last=None):
    """All changes between two places of a file's text."""
    code = code_of(text)
    tokens, made = Tokens(code), []

    def add(begin, end, new, change):
        if first <= begin and (last is None or end <= last):
            line_start = text.rfind("\n", 0, begin) + 1
            made.append(Mutant(name, text.count("\n", 0, begin) + 1, begin - line_start + 1, begin, end, new, change))

    for i, (token, begin, end) in enumerate(tokens.all):
        if token in ("true", "false"):
            other = "false" if token == "true" else "true"
            add(begin, end, other, f"{token} to {other}")
        for new in numbers(token):
            add(begin, end, new, f"{token} to {new}")
        if token in ("!", "~") or (token in OPERATORS and (token in ("++", "--") or tokens.is_binary(i))):
            for new in OPERATORS[token]:
                add(begin, end, new, f"{token} to {new or 'nothing'}")
        if token == "(" and tokens.text(i - 1) in ("if", "while") and i in tokens.partner:
            close = tokens.all[tokens.partner[i]][1]
            add(end, close, f"!({text[end:close]})", "condition negated")
    for begin, end, words in statements(tokens):
        add(begin, end, "", "return left out" if words.startswith("return") else "statement left out")
    return made


def in_order(lists, seed):
    """All of them, mixed: the first n of the order are spread over all files, over small ones more densely."""
    keyed = []
    for name in sorted(lists):
        mixed = list(lists[name])
        draw = random.Random(f"{seed} {name}")
        draw.shuffle(mixed)
        shift = draw.random()
        keyed += [((i + shift) / max(1, len(mixed)) ** 0.5, name, i, m) for i, m in enumerate(mixed)]
    return [m for _, _, _, m in sorted(keyed, key=lambda k: k[:3])]
