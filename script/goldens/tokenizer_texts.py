# SPDX-License-Identifier: Apache-2.0
"""Hand-written lines for tokenizer_goldens.py: what a person would think of, by kind. No code here."""

LANGUAGES = [
    "I saw a saw, and the saw saw me.",
    "The quick brown fox jumps over the lazy dog; isn't that old-fashioned?",
    "UPPER CASE, Title Case, lower case, mIxEd CaSe",
    "Voilà: l'été, déjà-vu, garçon, cœur, Œuvre, naïveté, où, août",
    "Füße, Straße, STRASSE, GROẞE, Äpfel, Öl, Übermut",
    "¿Dónde está el niño? ¡Mañana, señor Muñoz!",
    "São Paulo, coração, à toa, você, pão de açúcar",
    "Perché no? Così è più bello, città, virtù",
    "Zażółć gęślą jaźń, Łódź, Kraków, ŚWIĘTY",
    "Příliš žluťoučký kůň úpěl ďábelské ódy",
    "Árvíztűrő tükörfúrógép, Győr",
    "Știință, țară, înălțime, ŞTIINŢĂ",
    "İstanbul'da ışık ve IŞIK, ığdır, İĞDIR, dotless ı and dotted İ",
    "Þórður á Íslandi, Ægir, ðað",
    "Blåbærsyltetøy, Ærø, smörgåsbord, Ångström, Å",
    "Žemaitija, šuo, ąžuolas, ėjo, Ūla, Rīga, ķirbis, ļoti",
    "Đà Nẵng, Việt Nam, phở, ễ, ỹ, Nguyễn Ái Quốc",
    "Съешь ещё этих мягких французских булок, йод, ЁЛКА",
    "Щасливі їжаки ґречно їли, Київ, Ґанок",
    "Љубав, њива, ђак, ћуприја, џеп, Ѓорче, ќерка",
    "Ὀδυσσεύς, ΟΔΥΣΣΕΥΣ, σοφός ΣΟΦΟΣ, ΆΣ ς Σ, Ἀθῆναι, ᾠδή, ᾼ ῼ",
    "Το γρήγορο αλεπού· ΤΕΛΟΣ. ΤΈΛΟΣ; ΑΣ.ΑΣ ΑΣ ",
    "Բարեւ աշխարհ, ԵՎ և, ՀԱՅԱՍՏԱՆ",
    "გამარჯობა მსოფლიო, ᲒᲐᲛᲐᲠᲯᲝᲑᲐ, ႠႡႢ ⴀⴁⴂ",
    "שָׁלוֹם עוֹלָם, שלום, ירושלים, צה״ל, ג׳ירפה",
    "مَرْحَبًا بالعالَم، السلام عليكم، لا إله، ﷺ ﷽ ﻻ ﺍﻟﻌﺮﺑﻴﺔ",
    "سلام دنیا، می‌خواهم، کتاب‌ها، پژوهش",
    "یہ اردو ہے، کیا حال ہے؟ ہاں۔",
    "ܫܠܡܐ ܥܠܡܐ, ޝުކުރިއްޔާ, ߊߟߎ ߓߐ߬",
    "नमस्ते दुनिया, क्षेत्र, ज़रूरत, हिन्दी में लिखिए। श्री",
    "ওহে বিশ্ব, বাংলা ভাষা, কাঁঠাল, ক্ষমা, ড়",
    "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ, ਪੰਜਾਬੀ, ਸ਼",
    "નમસ્તે દુનિયા, ગુજરાતી; ନମସ୍କାର ଓଡ଼ିଆ",
    "வணக்கம் உலகம், தமிழ் மொழி, கொ கோ கௌ",
    "హలో ప్రపంచం, తెలుగు; ನಮಸ್ಕಾರ ಕನ್ನಡ ಕೊ ಕೋ",
    "നമസ്കാരം ലോകം, മലയാളം, ൻ ർ ൽ ൾ ൺ",
    "ආයුබෝවන් ලෝකය, සිංහල, ශ්‍රී",
    "สวัสดีชาวโลก ภาษาไทย กำลังดี น้ำ ที่นี่ ๑๒๓",
    "ສະບາຍດີ ຊາວໂລກ ພາສາລາວ ນ້ຳ ໜ ໝ",
    "བཀྲ་ཤིས་བདེ་ལེགས། བོད་སྐད, གྷ ཛྷ ཀྵ",
    "မင်္ဂလာပါ ကမ္ဘာ မြန်မာဘာသာ၊ ဦး",
    "សួស្តីពិភពលោក ភាសាខ្មែរ ។",
    "ሰላም ልዑል፣ አማርኛ ቋንቋ።",
    "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ, ꭰꭱꭲ ᏸᏹᏺ",
    "ᐃᓄᒃᑎᑐᑦ ᓄᓇᕗᑦ, ᚠᚢᚦᚨᚱᚲ, ᚁᚂᚃ ᚛ᚑᚌᚐᚋ᚜",
    "ᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ᠎ᠡ, ᠠ᠋ᠨ᠋ᠠ᠋",
    "ⵜⴰⵎⴰⵣⵉⵖⵜ, ⲁⲃⲅ ⲀⲂⲄ, ⰀⰁⰂ ⰰⰱⰲ, 𐌰𐌱𐌲, 𐐀𐐁 𐐨𐐩",
    "小明在北京大学学习人工智能。",
    "小明 在 北京 大学 学习 人工智能",
    "我看见一把锯子,它也看见我了!「你好」,《世界》……",
    "繁體中文:臺灣、龍、鬱、龜。",
    "㐀㐁 𠀀𠀁𪛖 𪜀 𫜴 𫝀 𫠝 𫠠𫢸 𫤟 𬺡 𬺰 𮯠 丽 𰀀 𱍊 豈 更 﨎 﨏 々 〇 〆",
    "東京に行きました。カタカナ、ひらがな、ガギグ、ヴァ、ぱぴぷ、が、ハ゜",
    "\uff8a\uff9d\uff76\uff78 \uff76\uff9e\uff77\uff9e \uff71\uff72\uff73 ハンカク",
    "한국어 문장입니다. 안녕하세요 세계! 각 갂 힣 뷁",
    "한국어 각 ᄀᆞᆨ ꥠ ힰ ㄱㄴㄷ ㅏㅑ ᄀ가각 ᅟ ᅠ ㅤ",
    "ꀀꀁꀂ ꒐, 𖬀𖬁, 𞄀𞄁, ꓐꓑ, ᥐᥑᥒ, ᦀᦁ, ᨠᨡ",
    "Aloha kākou, ʻokina, ʔ, ɑ̃, ŋ, ʃ, /ˈfəʊ.nə.tɪk/, ˩˨˧",
    "Esperanto: ĉ ĝ ĥ ĵ ŝ ŭ, EĤOŜANĜO",
]

SPECIALS = [
    "[CLS]", "[SEP]", "[MASK]", "[UNK]", "[PAD]", "[cls]", "[sep]", "[mask]", "[unk]", "[pad]", "[Mask]",
    "The capital of France is [MASK].", "the[MASK]middle", "[MASK][MASK][MASK]", "[MASK]s and un[MASK]", " [MASK] ",
    "a [SEP] b [SEP] c", "[CLS] start [SEP]", "[[MASK]]", "[ MASK ]", "[MASK", "MASK]", "[MAS\u200bK]", "[MASK\u0301]",
    "[M\u0301ASK]", "\u0301[MASK]", "[MASK]\u0301", "[MASK]\ufe0f", "\uff3bMASK\uff3d", "[UNK][unk][UNK]", "[PAD] [PAD]",
    "[CLS][SEP][PAD][MASK][UNK]", "x[UNK]y", "[mask]ing", "##ing", "## ing", "#ing", "un##able", "[unused0]", "[unused1] [unused98]",
    "\u0000[MASK]\u0000", "[MASK]\n[SEP]\t[CLS]", "中[MASK]文", "[MASK]😀", "<mask> <s> </s> <pad> <unk>", "[CLS]" * 20,
    "e\u0301[SEP]e\u0301", "[SEP", "]SEP[", "[S[SEP]EP]", "[CLS]a", "A[CLS]",
]

EMOJI = [
    "😀", "😀😃😄", "I ❤️ this ❤ ♥️", "👨‍👩‍👧‍👦 family", "👩🏽‍🚀 in space", "🏳️‍🌈 🏴‍☠️", "🇩🇪🇫🇷🇯🇵 🇺🇸", "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
    "1️⃣2️⃣#️⃣*️⃣", "🤷🏻‍♂️🤷🏿‍♀️", "good😀morning", "☺︎ ☺️ ☹", "⌚⏰⏳", "🫠🫡🫥 🪿🫎 🫨", "©️ ®️ ™️", "👍👍🏻👍🏿", "🧑‍🤝‍🧑",
    "Ok 👌!", "(╯°□°)╯︵ ┻━┻", "¯\\_(ツ)_/¯", "♠♣♥♦ ♔♕ ⚀⚁", "→ ← ⇒ ⟶ ↔️", "✓ ✔️ ✗ ✘", "🎉🎊" * 10, "😀" * 101,
]

MATHS = [
    "E = mc² and a₁ + b₂ ≤ ∑ xᵢ", "∫₀^∞ e^(−x²) dx = √π⁄2", "𝐇𝐞𝐥𝐥𝐨 𝕎𝕠𝕣𝕝𝕕 𝒮𝒸𝓇𝒾𝓅𝓉 𝔉𝔯𝔞𝔨 𝟘𝟙𝟚", "∀x∈ℝ ∃y: x≠y ∧ y∉∅", "½ ⅓ ¾ ⅷ Ⅻ ①②③ ⑴ ⒈ ㊿ ㈠ ㋿",
    "x⁰¹²³⁴⁵⁶⁷⁸⁹ⁿ ₀₁₂₃₄", "ﬁne ﬂow oﬀice aﬃx baﬄe ﬅ ﬆ ﬀ", "Full width: \uff21\uff22\uff23 \uff41\uff42\uff43 \uff11\uff12\uff13 \uff01\uff1f\uff0c\uff5e", "∂f/∂x ∇·E = ρ/ε₀, ℏ, Å vs Å, Ω vs Ω, K vs K, µ vs μ",
    "3.14159, -2.5e-10, 1,000,000.00, 0xDEADBEEF, 1e9", "5 × 3 ÷ 2 ± 1 ≈ 8.5 ∓ ∞", "‰ ‱ % ° ′ ″ ‴ №", "$5 €6 £7 ¥8 ₹9 ₿10 ¢ ₽ ₴ ﷼ ₠ ₾ ⃀", "a≠b a≮b a\u0338 =\u0338 ≯ ∉ ∌",
    "f(x)=\\frac{1}{\\sqrt{2\\pi}}", "⟨ψ|φ⟩ ⊗ ⊕ ⊥ ∥", "㎏ ㎡ ㏄ ℃ ℉ ㍿ ㋀", "Ⓐⓑ ⓩ Ⓩ ㉠ 🄰 🅰 🆎",
]

WRITING = [
    "https://example.org/a/b?c=d&e=f#g", "me@example.org, you+tag@sub.example.com", "C:\\Windows\\System32", "/usr/local/bin", "#hashtag @mention $var ${x} %d",
    "int main(void) { return 0; } // C", "std::vector<int>&& v = f<T>(x)->y;", "def f(x): return x**2 # power", "<p class=\"x\">a &amp; b &nbsp;</p>", "{\"k\": [1, 2.5, null, true]}",
    "don't can't won't I'm you're it's o'clock 'tis rock'n'roll", "don’t “quoted” ‘single’ «guillemets» „low“ ‚x‘", "em—dash en–dash minus− hyphen- soft­hyphen non‑breaking", "wait... what?! no…", "well-known state-of-the-art e-mail",
    "Mr. Smith, Ph.D., U.S.A., e.g., i.e.", "*bold* _it_ `code` ~~gone~~ | table |", "a_b_c __init__ snake_case camelCase PascalCase", "100% 50/50 24/7 C++ C# F# .NET", "tic-tac-toe (and (nested [brackets {here}]))",
    "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", "^^^ ``` ~~~ === +++ <<< >>> |||", "...---...", "aaaaaaaaaaaaaaaaaaaa", "antidisestablishmentarianism", "pneumonoultramicroscopicsilicovolcanoconiosis", "Donaudampfschifffahrtsgesellschaft",
    "supercalifragilisticexpialidocious", "xkcd qwerty zxcvbn asdfgh", "unbelievably unaffable untokenizable", "2021-12-31T23:59:60Z", "+49 (0)30 123-456", "١٢٣ ۱۲۳ १२३ ๑๒๓ 123 𝟏𝟐𝟑", "ABC\u00a0DEF\u202fGHI\u2009JKL", "one\u3000two\u2003three\u205ffour\u1680five",
    "zero\u200bwidth\u200cnon\u200djoiner\u2060word\ufeffjoiner", "left\u200eright\u200fembed\u202apop\u202c\u202eoverride\u202d\u2066iso\u2069", "line\u2028sep para\u2029sep nel\u0085x", "tab\tnew\nline\rreturn\r\nboth\x0bvt\x0cff", "\ufeffbom at start",
    "repl\ufffdaced \ufffd \ufffd\ufffd", "non\ufffechar \uffff \ufdd0 \ufdef \U0001fffe \U0010ffff", "private \ue000 \uf8ff \U000f0000 \U0010fffd", "tag \U000e0001\U000e0041\U000e007f", "variation \ufe00a\ufe0fb\U000e0100c\U000e01efd", "null\x00inside \x00 \x00\x00", "esc\x1b[31mred\x1b[0m bell\x07 del\x7f", "c1 \x80\x81\x8d\x90\x9f end", "interlinear \ufff9a\ufffab\ufffb object \ufffc",
    "soft\u00adhy\u00adphen", "mongolian\u180evowel \u180b\u180c\u180d\u180f", "cgj a\u034fb \u115f\u1160 \u3164 \uffa0", "arabic signs \u0600\u0601\u06dd\u070f\u08e2\u0890\U000110bd\U000110cd",
]

NORMALISATION = [
    "cafe\u0301 café CAFE\u0301 CAFÉ", "\u0041\u030a \u00c5 \u212b", "\u1e69 s\u0323\u0307 s\u0307\u0323 \u1e9b\u0323", "q\u0307\u0323 q\u0323\u0307", "\u0344 \u0308\u0301 \u0390 \u03b9\u0308\u0301",
    "\u0340\u0341\u0343 \u0374 \u037e \u0387", "\u1fc1 \u1fed \u1fee \u1fef \u1ffd", "\u2126 \u212a \u2000 \u2001 \u2329 \u232a", "\uac00 \u1100\u1161 \uac01 \u1100\u1161\u11a8 \u1100\u1161\u1100", "\u0958 \u0915\u093c \u09dc \u0a33 \u0b5c",
    "\ufb1d \ufb1f \ufb2a \ufb4e \ufb4f", "\U0001d15e \U0001d157\U0001d165 \U0001d1bb", "\uf900 \uf90a \ufa0e \ufa30 \U0002f800 \U0002fa1d", "\u01d5 \u01d6 \u0075\u0308\u0304", "Z\u0351\u036b\u0343\u036aa\u034e\u0321\u034a\u033al\u0336\u0337\u0338g\u0335o\u0489",
    "\u0301 alone", "\u0301\u0301\u0301", "a\u0301\u0301\u0301\u0301b", "\u20dd a\u20dd \u20e3 1\u20e3", "\u0903 \u093e \u0bcb \u0bc7\u0bbe", "\u0f73 \u0f71\u0f72 \u0f75 \u0f81", "\u30ac \u30ab\u3099 \u30d1 \u30cf\u309a \u309b \u309c", "\u1e9e \u00df \u017f \u1e9b \u0149 \u01f0",
    "\u0130 I\u0307 i\u0307 \u0131 \u0130\u0130", "\u01c4 \u01c5 \u01c6 \u01f1 \u01f2 \u01f3", "\u1f88 \u1f80 \u1fb3 \u1fbc \u0345 \u03b1\u0345", "\u2160 \u2170 \u24b6 \u24d0", "\u10a0 \u2d00 \u1c90 \u10d0", "\u13a0 \uab70 \u13f8 \u13f0",
    "\ua640 \ua641 \ua680 \u1c80 \u1c88", "\U00010400 \U00010428 \U000104b0 \U000104d8 \U00010c80 \U00010cc0 \U000118a0 \U000118c0 \U00016e40 \U00016e60 \U0001e900 \U0001e922", "\u1c89 \ua7cb \ua7cc \ua7da \ua7dc \U00010d50 \U00016ea0", "\u03a3 \u03c3 \u03c2 \u0391\u03a3 \u0391\u03a3\u0391 \u03a3\u03a3", "\u03f4 \u03d1 \u03f0 \u03f1 \u03f5 \u03f9 \u03fd", "\u212b\u0301 \u00c7\u0327 \u0122 \u0123", "\u1734 \U00011938 \U000111c9 \u166d",
]

# Code points in hexadecimal: marks, punctuation, others that later versions of Unicode added; edges of CJK blocks.
LATE = [
    "898-89F 8CA-8E1 1ABF-1ACE 1DF6-1DFB 7FD 9FE D00 1734 180F 1885 A8FF 10D24 10F46 111C9 11938 16FE4 1CF00 1E2AE",
    "61D 9FD 166D A76 C77 C84 1B7D 1B7E 2E43-2E5D 10EAD 11FFF 16FE2",
    "8E2 890 891 110CD 13430-1343F 1E4EC 1E5EE 10D69 113E1 16D42",
    "33FF 3400 4DBF 4DC0 4E00 9FFF A000 F8FF F900 FAFF FB00 1FFFF 20000 2A6DF 2A6E0 2A700 2B73F 2B740 2B81F 2B820 2B900"
    " 2B91F 2B920 2CEAF 2CEB0 2EBE0 2F7FF 2F800 2FA1F 2FA20 30000 3134A 31350 323AF 3007 3005",
]

PAIRS = [
    ("How many people live in Berlin?", "Berlin had a population of 3,520,031 registered inhabitants."),
    ("I saw a saw", "The saw saw me"), ("", ""), ("", "only the second"), ("only the first", ""), ("one", "two"),
    ("小明在北京", "大学学习人工智能"), ("Où est-ce ?", "Là-bas, à l'été."), ("[MASK] a", "b [SEP] c"), ("[SEP]", "[CLS]"),
    ("   ", "\t\n"), ("😀👍🏽", "🇩🇪 flag"), ("İstanbul", "ΣΟΦΟΣ"), ("\ufeffbom", "nul\x00l"), ("x" * 101, "y" * 100),
]
