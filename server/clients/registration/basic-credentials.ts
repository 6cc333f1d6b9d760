import { Secret } from '#platform/crypto/secret.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * The client id and secret of an `Authorization: Basic` header, each form-encoded inside the base64 (RFC 6749 §2.3.1).
 * An empty secret is none. Undefined for any other header: another scheme, base64 that is not canonical, no colon,
 * U+0000, a wrong escape.
 */
export function readBasicCredentials(header: string): { clientId: string; secret: Secret | undefined } | undefined {
  const pair = decodeBase64(/^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header)?.[1] ?? '')
  const colon = pair?.indexOf(':') ?? -1
  if (pair === undefined || colon < 1) return undefined

  const clientId = decodeFormText(pair.slice(0, colon))
  const secret = decodeFormText(pair.slice(colon + 1))
  if (clientId === undefined || secret === undefined) return undefined
  return { clientId, secret: secret === '' ? undefined : new Secret(secret) }
}

/** The text that canonical base64 stands for. */
function decodeBase64(base64: string): string | undefined {
  const bytes = Buffer.from(base64, 'base64')
  if (bytes.toString('base64') !== base64) return undefined
  return textOrNothing(() => utf8.decode(bytes))
}

function decodeFormText(encoded: string): string | undefined {
  const text = textOrNothing(() => decodeURIComponent(encoded.replaceAll('+', ' ')))
  return text?.includes('\0') ? undefined : text
}

/** What `decode` gives, or undefined where it finds the text malformed. */
function textOrNothing(decode: () => string): string | undefined {
  try {
    return decode()
  } catch (error) {
    if (error instanceof URIError || error instanceof TypeError) return undefined
    throw error
  }
}
