/** A secret that must not leave the browser, and the ways in which it could be written into a request. */
export type Secret = { name: string; bytes: Uint8Array }

/** The spellings in which a text carries the secret; none is as it should be. */
export function spellingsIn(text: string, secret: Secret): string[] {
  return searcherOf(text)(secret)
}

/** The same for many secrets in a long text. */
export function searcherOf(text: string): (secret: Secret) => string[] {
  const folded = text.toLowerCase()
  const carries = (spelling: string) => text.includes(spelling) || folded.includes(spelling.toLowerCase())
  return ({ bytes }) =>
    Object.entries(spell(Buffer.from(bytes))).flatMap(([name, spellings]) => (spellings.some(carries) ? [name] : []))
}

function spell(bytes: Buffer): Record<string, string[]> {
  const numbers = [...bytes]
  return {
    'raw bytes': [bytes.toString('latin1'), bytes.toString('utf8')],
    hexadecimal: [bytes.toString('hex')],
    base64: startsInBase64(bytes, 'base64'),
    base64url: startsInBase64(bytes, 'base64url'),
    'array of numbers': [numbers.join(','), numbers.join(', ')],
    'object of numbers': [JSON.stringify(Object.fromEntries(numbers.entries())).slice(1, -1)],
    'percent-encoding': [numbers.map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')],
  }
}

/** Base64 by itself, and inside of something longer, where it may begin at each of three places in a group. */
function startsInBase64(bytes: Buffer, encoding: 'base64' | 'base64url'): string[] {
  return [0, 1, 2].map((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes])
      .toString(encoding)
      .replaceAll('=', '')
    // The characters at both ends also hold bits of the neighbours.
    return whole.slice(Math.ceil((before * 4) / 3), -1)
  })
}
