import { ConfigError } from '#platform/config-error.ts'
import { Secret } from '#platform/crypto/secret.ts'

const charactersMin = 32

/** `SECRET_KEY`: one root of encryption at rest, or several, comma-separated. */
export function readSecretKeys(text: string | undefined, required: boolean): Secret[] | undefined {
  if (text === undefined && required)
    throw new ConfigError('SECRET_KEY is missing: with DATABASE_URL set it to a random text (openssl rand -base64 32).')
  const keys = text?.split(',').map((key) => key.trim())
  if (keys?.some((key) => key.length < charactersMin))
    throw new ConfigError('SECRET_KEY must be at least 32 characters: openssl rand -base64 32 makes one.')
  if (keys?.some(isGuessable))
    throw new ConfigError('SECRET_KEY must be random, and is not: openssl rand -base64 32 makes one.')
  return keys?.map((key) => new Secret(key))
}

export function readAdminToken(text: string | undefined): Secret | undefined {
  if (text === undefined) return undefined
  if (text.length < charactersMin || /\s/.test(text))
    throw new ConfigError('ADMIN_TOKEN must be at least 32 characters without spaces: openssl rand -hex 32 makes one.')
  if (isGuessable(text))
    throw new ConfigError('ADMIN_TOKEN must be random, and is not: openssl rand -hex 32 makes one.')
  return new Secret(text)
}

/** What stands in examples until somebody replaces it. */
const placeholder = /change.?me|replace.?me|your.?(?:secret|token|key)|example|placeholder|password/i
/** Of 32 random digits there are fewer once in ten million times, of hexadecimal ones never. */
const distinctMin = 6
const periodMax = 16

/**
 * Whether a text of enough characters was written rather than drawn: a placeholder, a few characters, one part over and
 * over, or characters in their order.
 */
function isGuessable(text: string): boolean {
  return placeholder.test(text) || new Set(text).size < distinctMin || isPeriodic(text) || isInOrder(text)
}

function isPeriodic(text: string): boolean {
  const periods = Array.from({ length: periodMax }, (_, index) => index + 1)
  return periods.some((period) => text.slice(period) === text.slice(0, -period))
}

/** Whether most characters are beside the one before them, as in `abcdef…` and `0123456789…`. */
function isInOrder(text: string): boolean {
  const codes = Array.from(text, (character) => character.codePointAt(0) ?? 0)
  const beside = codes.filter((code, index) => Math.abs(code - (codes[index - 1] ?? Infinity)) <= 1)
  return beside.length > codes.length / 2
}
