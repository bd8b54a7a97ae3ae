#!/usr/bin/env python3
"""Generate the compact Claude counting tables from the `ctok` 1.3.0 wheel.

    pip download --no-deps --python-version 3.12 --only-binary=:all: ctok==1.3.0 -d dl
    pip install regex==2026.5.9 unicodedata2==15.1.0
    python3 generate_tables.py dl/ctok-1.3.0-py3-none-any.whl data/claude/

Reads only the two piece files and the licence out of the wheel (never imports ctok). The Unicode
data is pinned (unicodedata2 15.1.0 = what Python 3.13 ships; Alphabetic and Mark from regex
2026.5.9), so the output is the same bytes on every machine. File formats: docs/claude-tokens.md, section 9.
"""
import hashlib, json, os, struct, sys, zipfile, zlib

WHEEL_SHA256 = "84442682eeb2013ecb86861f9477b4ad3e19cc174099df98e9b5016450013217"
VERSION = "1.3.0"
FORMAT = 1
BOW, EOW, SHIFT, CAPS = 0xF8, 0xF9, 0xFA, 0xFB          # bytes that UTF-8 never uses
ATOMS = {"bow": BOW, "eow": EOW, "shift": SHIFT, "caps": CAPS}


def die(msg):
    sys.exit("generate_tables: " + msg)


# ---------------------------------------------------------------- pieces
def piece_bytes(public):
    """`⟨bow⟩the⟨eow⟩` -> b"\\xf8the\\xf9"; `⟨0xE2⟩` -> the byte."""
    out, i = bytearray(), 0
    while i < len(public):
        if public[i] == "\u27e8":
            j = public.index("\u27e9", i)
            name = public[i + 1:j]
            out.append(int(name[2:], 16) if name.startswith("0x") else ATOMS[name])
            i = j + 1
        else:
            out += public[i].encode()
            i += 1
    return bytes(out)


def load_family(doc, want):
    meta, tok = doc["meta"], doc["tokens"]
    if meta["family"] != want:
        die("piece file of family %r where %r was expected" % (meta["family"], want))
    if sorted(tok) != sorted(["word_pieces", "ascii_digits", "other_digits", "punctuation", "whitespace",
                              "bytes_fallback", "contractions", "markers"]):
        die("unknown piece groups %r" % sorted(tok))
    pieces = {}
    for g, ps in tok.items():
        if g == "bytes_fallback":
            continue
        for p in ps:
            pieces[piece_bytes(p)] = 1
            if g == "contractions":
                pieces[piece_bytes(p) + bytes([EOW])] = 1
    prefixes = [bytes.fromhex(h) for h in tok["bytes_fallback"]]
    for p in prefixes:                               # what the one-lookup byte floor relies on
        if not (0xC2 <= p[0] <= 0xF4 and 2 <= len(p) < 4):
            die("byte prefix %s is not a lead byte + continuation" % p.hex())
    return meta, sorted(pieces), sorted(prefixes)


# ---------------------------------------------------------------- double-array trie
PIECE, PREFIX = 0x100, 0x200


def build_dat(pieces, prefixes):
    """Units of 32 bits: label (0-7), PIECE (8), PREFIX (9), base (10-31). Child of slot s by byte c
    is slot base(s)^c if its label is c. Bases are unique, unused slots have label 0xFF, slots 1-255
    stay unused so that base 0 means "no children". Root = slot 0."""
    root = {}
    for key, flag in [(p, PIECE) for p in pieces] + [(p, PREFIX) for p in prefixes]:
        node = root
        for c in key:
            node = node.setdefault(c, {})
        node[-1] = node.get(-1, 0) | flag
    nodes = []                                       # (labels, node), breadth first
    queue = [root]
    for n in queue:
        labels = sorted(c for c in n if c >= 0)
        nodes.append((labels, n))
        queue.extend(n[c] for c in labels)
    order = sorted(range(len(nodes)), key=lambda i: (-len(nodes[i][0]), i))
    size = 1 << 16
    used = bytearray(size)
    used[0:256] = b"\1" * 256
    base_used = {0}
    lo = 256                                         # first slot that may be free
    base_of = {}
    for i in order:
        labels, n = nodes[i]
        if not labels:
            break
        c0 = labels[0]
        slot = lo
        while True:
            slot = used.find(0, slot)
            if slot < 0:
                slot = size
                used += bytearray(size)
                size *= 2
            b = slot ^ c0
            if b >= 256 and b not in base_used and not any(used[b ^ c] for c in labels):
                break
            slot += 1
        for c in labels:
            used[b ^ c] = 1
        base_used.add(b)
        base_of[id(n)] = b
        lo = used.find(0, lo)
        lo = size if lo < 0 else lo
    top = max(i for i in range(size) if used[i]) + 1
    top = (top + 255) // 256 * 256
    units = [0xFF] * top
    if top >= 1 << 22:
        die("trie too large for 22-bit bases")
    def put(slot, label, n):
        units[slot] = label | n.get(-1, 0) | base_of.get(id(n), 0) << 10
        for c in n:
            if c >= 0:
                put_later.append((base_of[id(n)] ^ c, c, n[c]))
    put_later = [(0, 0xFF, root)]
    while put_later:
        put(*put_later.pop())
    return units, len(nodes)


# ---------------------------------------------------------------- Unicode
HARD, WORDY, DIGIT, PUNCT, SPACE = range(5)
STRAY, SELECTOR, EDGE, NUMEDGE, ND, NO, UPPER, LOWER, LETTER, STRIP, TOSPACE, NFCSLOW, QUOTE = \
    (1 << b for b in range(3, 16))
PUNCT_EXTRA = [0x2014, 0xBB, 0xAB, 0x2022, 0xB0, 0x201E, 0x2013, 0x2212, 0xA3, 0xA7, 0x20AC, 0x2026, 0x221A,
               0x2192, 0xFF08, 0x2116, 0x2020, 0x2514, 0x2502, 0x0F0D, 0xB7, 0x2500, 0x2550, 0x2588]
IDEO_SYMBOLS = [0x3004, 0x3012, 0x3013, 0x3020, 0x3036, 0x3037, 0x303E, 0x303F]
LETTERLIKE = [(0x16EE, 0x16F0), (0x2160, 0x2188), (0x24B6, 0x24E9), (0xA6E6, 0xA6EF)]
HARD_LETTERS = [(0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0xF900, 0xFAFF), (0xAC00, 0xD7A3), (0x3005, 0x3006),
                (0x3031, 0x3035), (0x303B, 0x303C)]
CASE_PAIRS_16 = {0x1C89: 0x1C8A, 0xA7CB: 0x0264}     # Unicode 16 capitals with their small letters
UNCASED = {0x03F4}
SPACES = [0x00, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F]
QUOTES = [0x2018, 0x2019, 0x201C, 0x201D]


def inside(o, ranges):
    return any(a <= o <= b for a, b in ranges)


def unicode_tables():
    import unicodedata2 as ud
    import regex
    if ud.unidata_version != "15.1.0":
        die("needs unicodedata2==15.1.0 (Unicode 15.1), found Unicode %s" % ud.unidata_version)
    if regex.__version__ != "2026.5.9":
        die("needs regex==2026.5.9, found %s" % regex.__version__)
    alpha, mark = regex.compile(r"\p{Alphabetic}"), regex.compile(r"\p{M}")
    new_cased = set(CASE_PAIRS_16) | set(CASE_PAIRS_16.values())

    def lower(o):
        if o in UNCASED:
            return o
        if o in CASE_PAIRS_16:
            return CASE_PAIRS_16[o]
        s = chr(o).lower()
        return ord(s) if len(s) == 1 else o          # only U+0130 is longer; the rules treat it by name

    # canonical decompositions, fully expanded, and the primary composites
    decomp, comp, ccc = {}, {}, {}
    for o in range(0x110000):
        if 0xD800 <= o <= 0xDFFF or 0xAC00 <= o <= 0xD7A3:
            continue
        c = chr(o)
        if ud.combining(c):
            ccc[o] = ud.combining(c)
        d = ud.normalize("NFD", c)
        if d != c:
            decomp[o] = [ord(x) for x in d]
            raw = ud.decomposition(c).split()
            if len(raw) == 2 and ud.normalize("NFC", c) == c:
                comp[int(raw[0], 16), int(raw[1], 16)] = o
    seconds = {b for _, b in comp}

    props = []
    for o in range(0x110000):
        if 0xD800 <= o <= 0xDFFF:
            props.append(HARD)
            continue
        c = chr(o)
        f = 0
        if o and (o <= 8 or 0x0B <= o <= 0x1F or 0x7F <= o <= 0x9F) or 0xE000 <= o <= 0xF8FF:
            props.append(STRIP)
            continue
        if (o in ccc or o in seconds or ud.normalize("NFC", c) != c
                or 0x1161 <= o <= 0x1175 or 0x11A8 <= o <= 0x11C2):
            f |= NFCSLOW
        if o in SPACES:
            props.append(SPACE | TOSPACE | f)
            continue
        if o >= 0x10000:
            props.append(HARD | f)                   # every astral character: hard, no markers at all
            continue
        cat = ud.category(c)
        is_mark = mark.fullmatch(c) is not None
        is_alpha = alpha.fullmatch(c) is not None
        selector = 0xFE00 <= o <= 0xFE0F
        if o in new_cased:
            cls = WORDY
        elif cat[0] == "Z" or o in (9, 10):
            cls = SPACE
        elif inside(o, LETTERLIKE):
            cls = WORDY
        elif cat == "Nd" and (o < 0x80 or 0x660 <= o <= 0x669 or 0x6F0 <= o <= 0x6F9):
            cls = DIGIT
        elif o < 0x80 and cat[0] in "PS" or o in PUNCT_EXTRA:
            cls = PUNCT
        elif selector:
            cls = HARD
        elif is_mark:
            cls = WORDY if is_alpha else HARD
        elif cat[0] == "L" and not inside(o, HARD_LETTERS):
            cls = WORDY
        else:
            cls = HARD
        f |= cls
        separator = is_mark and not selector and not is_alpha
        syriac = o == 0x711 or 0x730 <= o <= 0x73F
        if o in ccc and not separator and not syriac:
            f |= STRAY
        if selector:
            f |= SELECTOR
        ideo = 0x3001 <= o <= 0x303F and (cat[0] == "P" or o in IDEO_SYMBOLS)
        if separator or (cat[0] in "PS" or cat in ("Cf", "Cn")) and not ideo:
            f |= EDGE
        if cat == "No" or cat == "Nd" and o >= 0x80:
            f |= NUMEDGE
        f |= ND if cat == "Nd" else NO if cat == "No" else 0
        low = lower(o)
        if o not in UNCASED and (o in CASE_PAIRS_16 or c.isupper() and (low != o or o == 0x130)):
            f |= UPPER
        if o in CASE_PAIRS_16.values() or c.islower():
            f |= LOWER
        if o in new_cased or cat[0] in "LM":
            f |= LETTER
        if o in QUOTES:
            f |= QUOTE
        props.append(f | ((low - o) & 0xFFFF) << 16)
    return props, decomp, comp, ccc


def two_stage(props):
    blocks, index, values, vmap = {}, [], [], {}
    data = []
    for v in props:
        if v not in vmap:
            vmap[v] = len(values)
            values.append(v)
    pad = len(values)
    for i in range(0, len(props), 128):
        b = tuple(vmap[v] for v in props[i:i + 128])
        if b not in blocks:
            blocks[b] = len(blocks)
            data.extend(b)
        index.append(blocks[b])
    return index, data, values


# ---------------------------------------------------------------- files
def container(magic, fields, payload):
    """64-byte header: magic[8], format u32, payload bytes u32, crc32 of payload u32, then u32 fields."""
    head = magic + struct.pack("<III", FORMAT, len(payload), zlib.crc32(payload)) + struct.pack("<%dI" % len(fields), *fields)
    assert len(head) <= 64
    return head.ljust(64, b"\0") + payload


def main():
    if len(sys.argv) != 3:
        die("usage: generate_tables.py CTOK-1.3.0-WHEEL OUTDIR")
    wheel, out = sys.argv[1:]
    blob = open(wheel, "rb").read()
    if hashlib.sha256(blob).hexdigest() != WHEEL_SHA256:
        die("%s is not the ctok %s wheel this generator was written for" % (wheel, VERSION))
    os.makedirs(out, exist_ok=True)
    z = zipfile.ZipFile(wheel)
    meta_txt = z.read("ctok-%s.dist-info/METADATA" % VERSION).decode()
    if "\nVersion: %s\n" % VERSION not in meta_txt:
        die("wrong version inside the wheel")
    manifest = {"format": FORMAT, "source": {"package": "ctok", "version": VERSION, "licence": "MIT",
                "wheel_sha256": WHEEL_SHA256}, "unicode": "15.1.0 (unicodedata2), Alphabetic/Mark: regex 2026.5.9",
                "files": {}}
    def write(name, data, **info):
        with open(os.path.join(out, name), "wb") as f:
            f.write(data)
        manifest["files"][name] = dict(bytes=len(data), sha256=hashlib.sha256(data).hexdigest(), **info)
    for fam, src, name in (("v3", "pieces_v3.json", "claude-v3.bin"), ("v4.7", "pieces_v4_7.json", "claude-v4.7.bin")):
        raw = z.read("ctok/data/" + src)
        meta, pieces, prefixes = load_family(json.loads(raw), fam)
        units, n = build_dat(pieces, prefixes)
        payload = struct.pack("<%dI" % len(units), *units)
        fields = [len(units), len(pieces), len(prefixes), max(map(len, pieces)), int(meta["fold_quotes"]),
                  meta["allcaps_min"] or 0, meta["message_overhead"]]
        write(name, container(b"FCTRIE\0\0", fields, payload), family=fam, pieces=len(pieces), byte_prefixes=len(prefixes),
              nodes=n, units=len(units), longest_piece_bytes=fields[3], source_sha256=hashlib.sha256(raw).hexdigest(),
              built=meta["built"], source_model=meta["source_model"])
    props, decomp, comp, ccc = unicode_tables()
    index, data, values = two_stage(props)
    nb = len(data) // 128
    pool, dec = [], []
    for o in sorted(decomp):
        dec += [o, len(pool) << 8 | len(decomp[o])]
        pool += decomp[o]
    com = [x for k in sorted(comp) for x in (*k, comp[k])]
    cc = [o << 8 | ccc[o] for o in sorted(ccc)]
    idx_b = struct.pack("<%dH" % len(index), *index)
    dat_b = struct.pack("<%dH" % len(data), *data)
    pad4 = lambda b: b + b"\0" * (-len(b) % 4)
    payload = pad4(idx_b) + pad4(dat_b) + struct.pack("<%dI" % len(values), *values)
    payload += struct.pack("<%dI" % len(dec), *dec) + struct.pack("<%dI" % len(pool), *pool)
    payload += struct.pack("<%dI" % len(com), *com) + struct.pack("<%dI" % len(cc), *cc)
    fields = [len(index), len(data), len(values), len(dec) // 2, len(pool), len(com) // 3, len(cc)]
    write("claude-unicode.bin", container(b"FCUNICOD", fields, payload), blocks=nb, values=len(values),
          decompositions=len(dec) // 2, compositions=len(com) // 3, combining_classes=len(cc))
    write("LICENSE-ctok.txt", z.read("ctok-%s.dist-info/licenses/LICENSE" % VERSION))
    with open(os.path.join(out, "manifest.json"), "w") as f:
        json.dump(manifest, f, indent=1, sort_keys=True)
        f.write("\n")
    for n, i in manifest["files"].items():
        print(n, i)


main()
