import { ConfigError } from '#platform/config-error.ts'
import { Secret } from '#platform/crypto/secret.ts'

const charactersMin = 32

/** Parses `SECRET_KEY`: one or more root keys of encryption at rest, comma-separated. */
export function readSecretKeys(text: string | undefined, required: boolean): Secret[] | undefined {
  if (text === undefined && required)
    throw new ConfigError(
      'SECRET_KEY is missing, which DATABASE_URL requires. Generate one with: openssl rand -base64 32',
    )
  const keys = text?.split(',').map((key) => key.trim())
  if (keys?.some((key) => key.length < charactersMin))
    throw new ConfigError('SECRET_KEY must have at least 32 characters. Generate one with: openssl rand -base64 32')
  if (keys?.some(isGuessable))
    throw new ConfigError('SECRET_KEY must be random. Generate one with: openssl rand -base64 32')
  return keys?.map((key) => new Secret(key))
}

/** Parses `ADMIN_TOKEN`: a token, or `off` for none. */
export function readAdminToken(text: string | undefined): Secret | 'off' | undefined {
  if (text === undefined || text === 'off') return text
  if (text.length < charactersMin || /\s/.test(text))
    throw new ConfigError(
      'ADMIN_TOKEN must have at least 32 characters without spaces. Generate one with: openssl rand -hex 32',
    )
  if (isGuessable(text)) throw new ConfigError('ADMIN_TOKEN must be random. Generate one with: openssl rand -hex 32')
  return new Secret(text)
}

/** Matches placeholders in examples. */
const placeholder = /change.?me|replace.?me|your.?(?:secret|token|key)|example|placeholder|password/i
/** 32 random decimal digits have fewer distinct ones once in ten million cases, hexadecimal digits never. */
const distinctMin = 6
const periodMax = 16

/**
 * Checks whether a text of sufficient length is not random: a placeholder, few distinct characters, a repeated part, or
 * characters in order.
 */
function isGuessable(text: string): boolean {
  return placeholder.test(text) || new Set(text).size < distinctMin || isPeriodic(text) || isInOrder(text)
}

function isPeriodic(text: string): boolean {
  const periods = Array.from({ length: periodMax }, (_, index) => index + 1)
  return periods.some((period) => text.slice(period) === text.slice(0, -period))
}

/** Checks whether most characters follow or repeat the previous one, as in `abcdef…` and `0123456789…`. */
function isInOrder(text: string): boolean {
  const codes = Array.from(text, (character) => character.codePointAt(0) ?? 0)
  const beside = codes.filter((code, index) => Math.abs(code - (codes[index - 1] ?? Infinity)) <= 1)
  return beside.length > codes.length / 2
}
