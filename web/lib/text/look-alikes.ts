import { likeDigits, likeLetters, likeMarks } from './confusables.ts'
import type { Part } from './text-inspection.ts'

/**
 * Letters of other scripts that a reader cannot distinguish from Latin ones, chosen from the confusables of Unicode
 * (UTS #39): Cyrillic, Greek, Armenian, Cherokee, Coptic, and Lisu, which consists of Latin capitals.
 */
const passing = new RegExp(
  '[' +
    '\\u0401\\u0405-\\u0408\\u0410\\u0412\\u0415\\u0417\\u041A\\u041C-\\u041E\\u0420-\\u0423\\u0425' +
    '\\u0430\\u0435\\u043E\\u0440\\u0441\\u0443\\u0445\\u0451\\u0455-\\u0458\\u0474\\u0475\\u04AE\\u04AF' +
    '\\u04BB\\u04C0\\u04CF\\u0501\\u050C\\u051A-\\u051D' +
    '\\u037F\\u0391\\u0392\\u0395-\\u0397\\u0399\\u039A\\u039C\\u039D\\u039F\\u03A1\\u03A4\\u03A5\\u03A7' +
    '\\u03AC\\u03AF\\u03B1\\u03B3\\u03B7\\u03B9\\u03BA\\u03BD\\u03BF\\u03C1\\u03C5\\u03C7\\u03CC\\u03CD' +
    '\\u03DC\\u03F2\\u03F3\\u03F9' +
    '\\u053C\\u054D\\u054F\\u0555\\u0563\\u0566\\u0570\\u0575\\u0578\\u057C\\u057D\\u0581\\u0585' +
    '\\u13A0-\\u13A2\\u13A5\\u13A9-\\u13AC\\u13B3\\u13B7\\u13BB\\u13BD\\u13C0\\u13C3\\u13CE\\u13CF' +
    '\\u13D2\\u13D4\\u13D5\\u13D9\\u13DA\\u13DE\\u13DF\\u13E2\\u13E6\\u13F4' +
    '\\u2C82\\u2C8E\\u2C92\\u2C94\\u2C98\\u2C9A\\u2C9E\\u2C9F\\u2CA2-\\u2CA6\\u2CA8\\u2CAC\\u2CAD' +
    '\\uA4D0-\\uA4F7' +
    ']',
  'v',
)

/** Scripts with a known set of letters that look Latin, and scripts that are commonly mixed in one word. */
const scripts = 'Latin Cyrillic Greek Armenian Han Hiragana Katakana Bopomofo Hangul'.split(' ')
/** The other scripts that are in use today (UAX #31, recommended). */
const living =
  'Hebrew Arabic Syrc Thaa Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Thai Laoo Tibt Mymr Geor Ethi Khmr'
/** The rest of Unicode 15. A word of such a script is expected only in a text of that script. */
const rare =
  'Cherokee Coptic Lisu ' +
  'Adlm Aghb Ahom Armi Avst Bali Bamu Bass Batk Bhks Brah Bugi Buhd Cakm Cans Cari Cham Chrs Cpmn Cprt Diak Dogr ' +
  'Dsrt Dupl Egyp Elba Elym Glag Gong Gonm Goth Gran Hano Hatr Hluw Hmng Hmnp Hung Ital Java Kali Kawi Khar Khoj ' +
  'Kits Kthi Lana Lepc Limb Lina Linb Lyci Lydi Mahj Maka Mand Mani Marc Medf Mend Merc Mero Modi Mong Mroo Mtei ' +
  'Mult Nagm Nand Narb Nbat Newa Nkoo Nshu Ogam Olck Orkh Osge Osma Ougr Palm Pauc Perm Phag Phli Phlp Phnx Plrd ' +
  'Prti Rjng Rohg Runr Samr Sarb Saur Sgnw Shaw Shrd Sidd Sind Sogd Sogo Sora Soyo Sund Sylo Tagb Takr Tale Talu ' +
  'Tang Tavt Tfng Tglg Tirh Tnsa Toto Ugar Vaii Vith Wara Wcho Xpeo Xsux Yezi Yiii Zanb'
const all = [...scripts, ...living.split(' '), ...rare.split(' ')]
// regexp: of one character
const ofScript = all.map((name) => ({ name, has: new RegExp(`^\\p{scx=${name}}`, 'v') }))
const eastAsian = new Set(['Han', 'Hiragana', 'Katakana', 'Bopomofo', 'Hangul'])
const listed = new Set(scripts)
const rarely = new Set(rare.split(' '))
const turned = new Set(['Hebrew', 'Arabic'])

/** Stylized letters and digits: mathematical, circled and Roman ones, the Kelvin sign, phonetic letters. */
const costumed =
  /[\u{1D400}-\u{1D7FF}\u2160-\u217F\u24B6-\u24E9\u{1F130}-\u{1F189}\u212A\u0251\u0261\u01C0-\u01C3\u0196]/v
/** Small capitals, including the phonetic ones. */
const small = /[\u1D00-\u1D22\u0262\u026A\u0274\u0280\u028F\u0299\u029C\u029F\uA730\uA731]/v
/** Marks that are not in Unicode's table, or that the table maps to a middle dot. */
const likeMarksAndPoints = `[${likeMarks}\\u00B7\\u02D9\\u02BC\\u060C]`
/** Latin letters that look like a digit or another letter. Three of them are not in Unicode's table. */
// regexp: of one character
const passingDigit = new RegExp(`^[${likeDigits}]`, 'v')
// regexp: of one character
const passingLetter = new RegExp(`^[${likeDigits}${likeLetters}\\u0185\\uA781\\uA78C]`, 'v')
// regexp: of one character
const passingMark = new RegExp(`^${likeMarksAndPoints}`, 'v')
/** Full-width characters, which are usual next to East Asian letters. */
const wide = /[\uFF10-\uFF19\uFF21-\uFF3A\uFF41-\uFF5A]/v
const beyondLatin = /[\p{L}--[\p{sc=Latn}\p{sc=Zyyy}]]/v

/** Characters between Latin letters or digits that look like one of `. , : ; / %`. */
const punctuation = new RegExp(
  '(?<=[0-9A-Za-z])' +
    '[\\u037E\\u0387\\u0589\\u05C3\\u066A\\u066B\\u2024\\u2044\\u201A\\u2215\\u2236\\u2571\\u29F8' +
    '\\uA789\\uFE50\\uFE52\\uFF0C\\uFF0E\\uFF0F\\uFF1A\\uFF1B]' +
    '(?=[0-9A-Za-z])',
  'v',
)
/** Hyphens and the minus sign, which look like a keyboard hyphen directly before a letter or digit. */
const hyphens = /[\u2010\u2011\u2043\u2212](?=[0-9A-Za-z])/v
/** Dashes and similar characters that look like a minus before a number, but not in `12–14` and `5.–7. May`. */
const minuses = /(?<![\p{L}\p{N}]|[0-9]\.)[\u2012\u2013\u207B\u02D7\u2500\u23AF\u2796](?=[0-9])/v
/**
 * Characters that look like a digit, a letter or a mark next to digits. One degree sign is usual, several look like
 * zeros.
 */
const rings = '\\u25CB\\u25EF\\u2B58\\u26AA\\u2218\\u2B55'
// regexp: of one character and the one before it, or of one again and again
const shapes = new RegExp(`(?<=[\\w${rings}])[${rings}\\u2223\\u2502]|(?<=[0-9])\\u00B0{2,}`, 'v')
// regexp: of one character, and one on either side of it
const separators = new RegExp(`(?<=[0-9])${likeMarksAndPoints}(?=[0-9])`, 'v')
/** Usual in East Asian punctuation. */
const fullWidth = /[\uFF0C\uFF0E\uFF0F\uFF1A\uFF1B]/
const falseSigns = [punctuation, hyphens, minuses, shapes, separators].map(({ source }) => source).join('|')
// regexp: words and single characters, each matched in one way only
const words = new RegExp(`(?<word>[\\p{L}\\p{M}\\p{N}]+)|(?<false>${falseSigns})|.`, 'gsv')
/** A letter or digit with its marks. */
const letters = /\P{M}\p{M}*|\p{M}+/gv

/**
 * Marks the parts of seemingly plain text that look like other letters and digits, and the letters at the positions in
 * `bars`.
 */
export function findConfusables(parts: Part[], line: string, bars: Set<number>): Part[] {
  const known = clearScriptsOf(line)
  const isEastAsian = (line.match(/\p{L}/gv) ?? []).some((letter) => eastAsian.has(scriptOf(letter) ?? ''))
  const isBeyondLatin = beyondLatin.test(line)
  const isOwnLatin = ownLatinOf(line)
  let at = 0
  return parts.flatMap((part) => {
    const from = at
    at += part.text.length
    if (part.is !== 'plain' || /^[\0-\x7F]*$/.test(part.text)) return [part]
    return [...part.text.matchAll(words)].flatMap(({ 0: text, index, groups }) => {
      const isFalse = groups?.['false'] !== undefined && !(isEastAsian && fullWidth.test(text))
      if (isFalse || bars.has(from + index)) return [{ is: 'look-alike' as const, text }]
      if (groups?.['word'] !== undefined) return markWord(text, { isBeyondLatin, known, isEastAsian, isOwnLatin })
      return [{ is: !isEastAsian && isTwin(text) ? 'look-alike' : 'plain', text } satisfies Part]
    })
  })
}

/** Returns the Unicode name of a letter's script, if this file knows it. */
export function scriptOf(letter: string): string | undefined {
  const character = String.fromCodePoint(letter.codePointAt(0) ?? 0)
  if (!found.has(character)) {
    if (found.size > 20_000) found.clear()
    found.set(character, findScript(character))
  }
  return found.get(character)
}

const found = new Map<string, string | undefined>()

function findScript(character: string): string | undefined {
  if (!/[\p{L}\p{M}]/v.test(character) || /\p{sc=Zinh}/v.test(character)) return undefined
  const name = ofScript.find(({ has }) => has.test(character))?.name
  // The script is newer than this list.
  return name ?? (/[\p{L}--\p{sc=Zyyy}]/v.test(character) ? 'Unknown' : undefined)
}

type Around = {
  isBeyondLatin: boolean
  known: Set<string | undefined>
  isEastAsian: boolean
  isOwnLatin: (letter: string) => boolean
}

function markWord(word: string, around: Around): Part[] {
  const pieces = word.match(letters) ?? []
  const strange = isUnit(word) ? new Set<string>() : strangeScriptsOf(pieces, around.known)
  const within = { ...around, ...readWord(word, pieces) }
  return pieces.map((text, index) => {
    const isStrange = strange.has(scriptOf(text)) || hasForeignMark(text)
    const isFalse =
      isPoint(pieces, index) ||
      isTwinOfLatin(pieces, index, within) ||
      isCostumed(text, within) ||
      isDressed(text, pieces[index - 1], within)
    return { is: isStrange || isFalse ? 'look-alike' : 'plain', text }
  })
}

/** What the letters of a word have in common. Read once, because a word can be as long as the text. */
type Within = Around & ReturnType<typeof readWord>

function readWord(word: string, pieces: string[]) {
  const others = pieces.filter((each) => !passingLetter.test(each))
  return {
    word,
    hasDigit: /[0-9]/.test(word),
    isOrdinal: frenchOrdinal.test(word),
    /** True if there are letters besides those that look like others, and all of them are ASCII. */
    isAsciiBesides: others.length > 0 && others.every((each) => /^[0-9A-Za-z]$/.test(each)),
  }
}

/**
 * Returns the scripts whose letters deceive in a word. These are the scripts with fewer letters than others in it. If
 * the word has one script only, it deceives if each of its letters looks Latin and the line shows no other sign of that
 * script.
 */
function strangeScriptsOf(pieces: string[], known: Set<string | undefined>): Set<string | undefined> {
  const counts = new Map<string, number>()
  for (const piece of pieces) {
    const script = scriptOf(piece)
    if (script !== undefined) counts.set(script, (counts.get(script) ?? 0) + 1)
  }
  const [first, ...rest] = [...counts].toSorted(([a, many], [b, few]) => few - many || isLatin(b) - isLatin(a))
  if (!first) return new Set()
  if (rest.length > 0)
    return new Set(rest.map(([name]) => name).filter((name) => !eastAsian.has(first[0]) && !eastAsian.has(name)))
  const [only] = first
  if (!listed.has(only)) return new Set(!known.has(only) && isMisplaced(pieces, only) ? [only] : [])
  const passes = pieces.every((piece) => passing.test(piece) || /^\p{Nd}/v.test(piece))
  return new Set(only !== 'Latin' && passes && !known.has(only) ? [only] : [])
}

/**
 * Returns whether a script is unusual at its position. Single right-to-left letters are found by their neighbors, but
 * none is a digit.
 */
function isMisplaced(pieces: string[], script: string): boolean {
  return !turned.has(script) || pieces.some((piece) => /^[0-9]/.test(piece))
}

/** Returns whether a modifier letter looks like a point, a comma or a colon between letters and digits. */
function isPoint(pieces: string[], index: number): boolean {
  const [before = '', piece = '', after = ''] = [pieces[index - 1], pieces[index], pieces[index + 1]]
  if (piece.startsWith('ー')) return before === '' && /^[0-9]/.test(after)
  if (passingMark.test(piece) && /^[0-9]/.test(before) && /^[0-9]/.test(after)) return true
  return /^[\u02CC\u02D0\u02D1\uA78F]/.test(piece) && /^[0-9A-Za-z]/.test(before) && /^[0-9A-Za-z]/.test(after)
}

/**
 * Returns whether a Latin letter looks like a digit in a number, or like another letter in an ASCII word of a line that
 * shows no language with that letter. Two ordinal signs in a row look like zeros.
 */
function isTwinOfLatin(pieces: string[], index: number, { isOwnLatin, hasDigit, isAsciiBesides }: Within): boolean {
  const [before = '', piece = '', after = ''] = [pieces[index - 1], pieces[index], pieces[index + 1]]
  if (piece === '\u00BA') return before === piece || after === piece
  if (passingDigit.test(piece) && hasDigit) return true
  return passingLetter.test(piece) && !isOwnLatin(piece) && isAsciiBesides
}

/**
 * Returns a function that tells if a line is in a language with such a letter: a dotless i next to other Turkish
 * letters or in several words, or letters of African languages next to others of these.
 */
function ownLatinOf(line: string): (letter: string) => boolean {
  const dotless = new Set((line.match(/\p{L}+/gv) ?? []).filter((word) => word.includes('ı')))
  const isTurkish = /[çğöşüâîÇĞİÖŞÜ]/.test(line) || dotless.size > 1
  const isAfrican = /[ɖɛɔŋƒɓɗƙĐƉƐƆŊƑƁƊƘ]/.test(line)
  return (letter) => (letter === 'ı' ? isTurkish : isAfrican)
}

/** Units and symbols with a Greek letter that does not look like another letter: `10kΩ`, `5μm`, `Δt`, `2π`. */
function isUnit(word: string): boolean {
  return /^\d*(?:[kMGTmn]?[ΩΩ]|[μµ][A-Za-z]{0,3}|π|[Δδλθφψπ][a-z]{1,3}\d?)$/v.test(word)
}

/** Returns whether a letter has a mark of another script, such as a Thai circle over a Latin letter. */
function hasForeignMark(piece: string): boolean {
  const [base = '', ...marks] = piece
  const script = scriptOf(base)
  return /^[\p{L}\p{N}]/v.test(base) && marks.some((mark) => ![undefined, script].includes(scriptOf(mark)))
}

function isLatin(script: string): number {
  return script === 'Latin' ? 1 : 0
}

/**
 * Returns the scripts in which a line is plainly written. A line shows a script by a letter that looks like no other
 * letter, or by a word in that script alone. A rare script also needs more letters than Latin has.
 */
function clearScriptsOf(line: string): Set<string | undefined> {
  const written = line.match(/\p{L}/gv) ?? []
  const counts = new Map<string, number>()
  for (const letter of written) {
    const script = scriptOf(letter) ?? ''
    counts.set(script, (counts.get(script) ?? 0) + 1)
  }
  const clear = written.filter((letter) => listed.has(scriptOf(letter) ?? '') && !passing.test(letter)).map(scriptOf)
  const own = (line.match(/[\p{L}\p{M}\p{N}]+/gv) ?? []).map(scriptOfWord).filter((script) => {
    return !rarely.has(script ?? '') || (counts.get(script ?? '') ?? 0) > (counts.get('Latin') ?? 0)
  })
  return new Set([...clear, ...own.filter((script) => script !== undefined && !listed.has(script))])
}

/** Returns the script of a word with at least two letters, all of one script, and without ASCII digits. */
function scriptOfWord(word: string): string | undefined {
  const named = new Set((word.match(/\p{L}/gv) ?? []).map(scriptOf))
  const isWord = named.size === 1 && /\p{L}\P{L}*\p{L}/v.test(word) && !/[0-9]/.test(word)
  return isWord ? [...named][0] : undefined
}

function isCostumed(piece: string, { isBeyondLatin, isEastAsian, hasDigit }: Within): boolean {
  if (costumed.test(piece) || small.test(piece)) return true
  if (wide.test(piece)) return !isEastAsian
  // A digit of another script may look like another ASCII digit.
  return /^[\p{Nd}--[0-9]]/v.test(piece) && (hasDigit || !isBeyondLatin)
}

/**
 * Returns whether a letter or digit reads as another one: compatibility normalization (NFKC) maps it to an ASCII letter
 * or number, or it is the Chinese zero. Usual forms are not marked: `m²`, `CO₂`, `1½`, `nº`, a single number in a
 * circle, and such numbers and the zero next to East Asian letters.
 */
function isDressed(piece: string, before: string | undefined, { word, isEastAsian, isOrdinal }: Within): boolean {
  if (/^[\0-\x7F]/.test(piece) || wide.test(piece) || ordinals.test(piece)) return false
  if (piece === '〇') return !isEastAsian
  if (isOrdinal) return false
  const plain = piece.normalize('NFKC')
  if (/^[A-Za-z]$/.test(plain)) return true
  if (!/^\(?[0-9]+[.)]?$/.test(plain) || !/^\p{No}/v.test(piece) || isEastAsian) return false
  return raised.test(piece) ? /^[\p{Nd}\p{No}]/v.test(before ?? '') : piece !== word
}

const ordinals = /^[ªº]/
const frenchOrdinal = /^[0-9]+[ᵈᵉʳˢ]{1,2}$/
/** Superscripts and subscripts. */
const raised = /^[\u00B2\u00B3\u00B9\u2070-\u209C]/
/** Characters that NFKC maps to an ASCII sign, such as a small or full-width dollar, percent or at sign. */
const twins = /^[\x21-\x7E]$/

function isTwin(text: string): boolean {
  return !/^[\0-\x7F]/.test(text) && !raised.test(text) && twins.test(text.normalize('NFKC'))
}
