/**
 * Returns whether a text is unreadable: a hash, a key or encoded bytes, with no more than a label. Users cannot know
 * what such a text means.
 */
export function isUnreadablePayload(text: string): boolean {
  if (isMostlyUnseen(text) || isHexadecimal(text)) return true
  const tokens = text.split(/[\s"'`,;:(){}[\]<>|]+/).filter((token) => token !== '')
  const codes = tokens.filter(isCode)
  const words = tokens.filter((token) => !isCode(token) && /[\p{L}]{2}|[\p{sc=Han}\p{sc=Hangul}]/v.test(token))
  if (codes.length > 0) return words.length <= labelWordsMax
  return words.length === 0 && digitsIn(text) >= digitsOfCodeMin
}

const labelWordsMax = 2
const digitsOfCodeMin = 20

/** A sequence of letters and digits that does not look like a word of any language. */
function isCode(token: string): boolean {
  if (/^(?:0x)?[0-9a-f]{16,}$/i.test(token) || uuid.test(token)) return true
  if (!/^[\w+/=.-]{20,}$/.test(token) || /^https?$|\.\w{2,}\//.test(token)) return false
  const core = token.replaceAll(/[^0-9A-Za-z]/g, '')
  return core.length >= 20 && changesIn(core) / core.length > 0.2
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Counts the changes between small letters, capitals and digits. Words have few. An initial capital does not count. */
function changesIn(text: string): number {
  return text.match(/[a-z](?=[0-9])|[0-9](?=[A-Za-z])|[A-Z](?=[0-9])|[a-z](?=[A-Z])/g)?.length ?? 0
}

/** Bytes in hexadecimal with any separators. */
function isHexadecimal(text: string): boolean {
  const digits = text.replaceAll(/\b0x|[\s:,.;_-]/gi, '')
  return /^[0-9a-f]{16,}$/i.test(digits) && /[0-9]/.test(digits)
}

/** Bytes that were decoded as text. */
function isMostlyUnseen(text: string): boolean {
  const characters = [...text]
  const unseen = characters.filter((character) => /[\p{Cn}\p{Co}\uFFFD\p{Cf}]|[\p{Cc}--[\t\n\r]]/v.test(character))
  return unseen.length > characters.length / 10
}

function digitsIn(text: string): number {
  return text.match(/\p{Nd}/gv)?.length ?? 0
}
