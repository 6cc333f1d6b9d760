import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isEmail } from '@countersign/protocol/formats/email'
import { type AccentColor, accentOf } from '@countersign/protocol/formats/looks/accent'
import type { BrandLinks } from '@countersign/protocol/pages'
import { ConfigError } from '#platform/config-error.ts'

/** How the operator names the service, and links to its own pages. */
export type BrandSetting = {
  name: string
  /** ID of the picture of the logo. That of a file has its bytes, from which every process derives the ID. */
  logo?: { pictureId: string; bytes?: Buffer }
  accent?: AccentColor
  links: BrandLinks
}

/** Names of the settings of the brand. */
export const brandSettings = [
  ...(['BRAND_NAME', 'BRAND_LOGO', 'BRAND_ACCENT'] as const),
  ...(['TERMS_URL', 'PRIVACY_URL', 'IMPRINT_URL', 'SUPPORT_URL', 'STATUS_URL'] as const),
] as const
type Given = (name: (typeof brandSettings)[number]) => string | undefined

const nameCharactersMax = 40
export const defaultName = 'Countersign'
const logoBytesMax = 2 * 1024 * 1024

/** Parses the settings of the brand. Throws `ConfigError` at the first invalid one. */
export function readBrand(given: Given): BrandSetting {
  const terms = readLink('TERMS_URL', given('TERMS_URL'), ['https:'])
  const privacy = readLink('PRIVACY_URL', given('PRIVACY_URL'), ['https:'])
  const imprint = readLink('IMPRINT_URL', given('IMPRINT_URL'), ['https:'])
  const support = readLink('SUPPORT_URL', given('SUPPORT_URL'), ['https:', 'mailto:'])
  const status = readLink('STATUS_URL', given('STATUS_URL'), ['https:'])
  const logo = given('BRAND_LOGO')
  const accent = given('BRAND_ACCENT')
  return {
    name: readName(given('BRAND_NAME') ?? defaultName),
    ...(logo !== undefined && { logo: readLogo(logo) }),
    ...(accent !== undefined && { accent: readAccent(accent) }),
    links: {
      ...(terms !== undefined && { terms }),
      ...(privacy !== undefined && { privacy }),
      ...(imprint !== undefined && { imprint }),
      ...(support !== undefined && { support }),
      ...(status !== undefined && { status }),
    },
  }
}

/** Control characters, and those that change the direction of the text around them. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

/** Checks whether a text can be the name of the service: one line that disguises nothing around it. */
export function isServiceName(name: string): boolean {
  return [...name].length <= nameCharactersMax && !unprintable.test(name) && name.trim() === name && name !== ''
}

function readName(name: string): string {
  if (!isServiceName(name))
    throw new ConfigError(`BRAND_NAME must be 1 to ${nameCharactersMax} characters in one line.`)
  return name
}

function readAccent(text: string): AccentColor {
  const accent = accentOf(text)
  if (!accent) throw new ConfigError('BRAND_ACCENT must be a color such as #2841ae.')
  return accent
}

function readLogo(path: string): Required<NonNullable<BrandSetting['logo']>> {
  const bytes = readBytes(path)
  if (bytes.length > logoBytesMax) throw new ConfigError('BRAND_LOGO must be a picture of at most 2 MiB.')
  const hash = createHash('sha256').update(bytes).digest('hex')
  const pictureId = [hash.slice(0, 8), hash.slice(8, 12), hash.slice(12, 16), hash.slice(16, 20), hash.slice(20, 32)]
  return { bytes, pictureId: pictureId.join('-') }
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new ConfigError(`BRAND_LOGO must be the path of a PNG, JPEG or WebP file (${String(error)}).`)
  }
}

function readLink(name: string, text: string | undefined, schemes: string[]): string | undefined {
  if (text === undefined) return undefined
  const href = linkOf(text, schemes)
  if (href === undefined)
    throw new ConfigError(
      schemes.includes('mailto:')
        ? `${name} must be a URL such as https://example.com/help, or mailto:help@example.com.`
        : `${name} must be a URL such as https://example.com/terms, without user name and password.`,
    )
  return href
}

/**
 * Returns the URL of a page of the operator, in ASCII and without white space, because mails contain it. Returns
 * undefined if its scheme is none of these, if it has credentials, or if a mailto URL has no address.
 */
export function linkOf(text: string, schemes: string[]): string | undefined {
  // Browsers leave line ends out: a text of several lines could look like a URL.
  const url = /\s/u.test(text) ? null : URL.parse(text)
  if (!url || !schemes.includes(url.protocol) || url.username !== '' || url.password !== '') return undefined
  return url.protocol !== 'mailto:' || isEmail(url.pathname) ? url.href : undefined
}
