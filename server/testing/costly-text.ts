import { between, repeated, type Shapes } from './parser-cost.ts'

const parts = {
  letters: 'a',
  hyphens: 'a-',
  dots: 'a.',
  'at signs': '@',
  addresses: 'a@b.',
  blanks: ' ',
  'line ends': '\r\n',
  commas: ',',
  semicolons: ';',
  'equals signs': '=',
  ampersands: '&',
  slashes: '/',
  colons: ':',
  backslashes: '\\',
  quotes: '"',
  brackets: '[',
  braces: '{',
  escapes: '%2e',
  'escapes that are no UTF-8': '%ff',
  pluses: '+',
  base64: 'A=',
  languages: 'en;q=0.1,',
  cookies: 'a=b; ',
  'addresses of networks': '1.1.1.1, ',
  marks: '\u0301',
  'a character of many others': '\ufdfa',
  emoji: '😀',
  'hidden characters': '\u200b',
}

/** Input that is hard for patterns, and for character-wise replacing, splitting and normalizing. */
export const costlyText: Shapes = Object.fromEntries(
  Object.entries(parts).map(([what, part]) => [what, repeated(part)]),
)

export const inHeader: Shapes = Object.fromEntries(
  Object.entries(parts).flatMap(([what, part]) => (/^[\x20-\x7e]+$/.test(part) ? [[what, repeated(part)]] : [])),
)

/** Builds as many numbered parts as fit. */
function numbered(open: string, part: (n: number) => string, close: string): (size: number) => string {
  return (size) => {
    const parts = [open]
    let length = open.length + close.length
    for (let n = 0; length + part(n).length <= size; n += 1) {
      parts.push(part(n))
      length += part(n).length
    }
    return parts.join('') + close
  }
}

const whole = (size: number, open: string, close: string) => {
  const depth = Math.floor(size / (open.length + close.length))
  return open.repeat(depth) + close.repeat(depth)
}

export const costlyJson: Shapes = {
  'objects in one another': (size) => whole(size, '{"a":', '}').replace(':}', ':0}'),
  'lists in one another': (size) => whole(size, '[', ']'),
  'lists without an end': repeated('['),
  'many members': numbered('{', (n) => `"${n.toString(36)}":0,`, '"":0}'),
  'one member many times': between((content) => `{${content}"a":0}`, '"a":0,'),
  'the prototype many times': between((content) => `{${content}"a":0}`, '"__proto__":{},'),
  'many objects': between((content) => `[${content}{}]`, '{"a":0},'),
  'many numbers': between((content) => `[${content}0]`, '1e99,'),
  'a long number': between((content) => `[${content}0]`, '9'),
  'a text of quotes': between((content) => `{"a":"${content}"}`, '\\"'),
  'a text of escapes': between((content) => `{"a":"${content}"}`, '\\u0061'),
  'a text of emoji': between((content) => `{"a":"${content}"}`, '😀'),
  'a name of colons': between((content) => `{"${content}":0}`, ':'),
  'a text without an end': between((content) => `{"a":"${content}`, '\\"'),
  blanks: between((content) => `{${content}}`, ' '),
}

export const costlyForms: Shapes = {
  ...costlyText,
  'many parameters': numbered('', (n) => `${n.toString(36)}=&`, ''),
  'one parameter many times': repeated('a=b&'),
  'a list of many': repeated('resource=a&'),
  'parameters with replacement characters': numbered('', (n) => `${n}=%EF%BF%BD&`, ''),
}

/** The same in CBOR (RFC 8949), as base64url. */
export const costlyCbor: Shapes = {
  'lists in one another': bytes('81'),
  'maps in one another': bytes('a16161'),
  'tags in one another': bytes('c6'),
  'a list of many': bytes('00', 'b9ffff'),
  'a map of many': numberedBytes,
  'a text without its bytes': bytes('61', '7a7fffffff'),
  'lists without an end': bytes('9f'),
  'texts in pieces': bytes('6161', '7f'),
  'a long list that is not there': bytes('80', '9b00000000ffffffff'),
}

function bytes(part: string, before = ''): (size: number) => string {
  return (size) => Buffer.from(before + part.repeat((size * 3) / 4 / (part.length / 2)), 'hex').toString('base64url')
}

function numberedBytes(size: number): string {
  const count = Math.floor((size * 3) / 4 / 5)
  const pairs = Array.from({ length: count }, (_, n) => `1a${n.toString(16).padStart(8, '0')}00`)
  return Buffer.from(`ba${count.toString(16).padStart(8, '0')}${pairs.join('')}`, 'hex').toString('base64url')
}
