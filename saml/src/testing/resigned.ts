import { sign as signBytes } from 'node:crypto'
import { provider, signedResponse, swap } from './document.ts'

const xmldsig = 'http://www.w3.org/2000/09/xmldsig#'
const signedInfo = /<ds:SignedInfo>[^]*?<\/ds:SignedInfo>/

/**
 * The usual answer with another `SignedInfo`, which the provider's own key signs again: what is wrong with it is what
 * it says, and not that somebody changed it.
 */
export function resigned(part: string, other: string): string {
  const changed = swap(signedResponse(), part, other)
  const [info] = signedInfo.exec(changed) ?? []
  if (info === undefined) throw new Error('There is no SignedInfo to sign.')
  const canonical = info
    .replace('<ds:SignedInfo>', `<ds:SignedInfo xmlns:ds="${xmldsig}">`)
    .replaceAll(/<([\w:.-]+)([^<>]*)\/>/g, '<$1$2></$1>')
  const value = signBytes('sha256', Buffer.from(canonical), provider.key).toString('base64')
  return changed.replace(/(<ds:SignatureValue>)[^<]*/, `$1${value}`)
}
