import type { BrandLinks } from '@countersign/protocol/pages'
import { ConfigError } from '#platform/config-error.ts'

/** How the operator names the service, and links to its own pages. */
export type BrandSetting = { name: string; links: BrandLinks }

/** Names of the settings of the brand. */
export const brandSettings = ['BRAND_NAME', 'TERMS_URL', 'PRIVACY_URL', 'SUPPORT_URL', 'STATUS_URL'] as const
type Given = (name: (typeof brandSettings)[number]) => string | undefined

const nameCharactersMax = 40

/** Parses the settings of the brand. Throws `ConfigError` at the first invalid one. */
export function readBrand(given: Given): BrandSetting {
  const terms = readLink('TERMS_URL', given('TERMS_URL'), ['https:'])
  const privacy = readLink('PRIVACY_URL', given('PRIVACY_URL'), ['https:'])
  const support = readLink('SUPPORT_URL', given('SUPPORT_URL'), ['https:', 'mailto:'])
  const status = readLink('STATUS_URL', given('STATUS_URL'), ['https:'])
  return {
    name: readName(given('BRAND_NAME') ?? 'Countersign'),
    links: {
      ...(terms !== undefined && { terms }),
      ...(privacy !== undefined && { privacy }),
      ...(support !== undefined && { support }),
      ...(status !== undefined && { status }),
    },
  }
}

/** Control characters, and those that change the direction of the text around them. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

function readName(name: string): string {
  if ([...name].length > nameCharactersMax || unprintable.test(name))
    throw new ConfigError(`BRAND_NAME must be 1 to ${nameCharactersMax} characters in one line.`)
  return name
}

function readLink(name: string, text: string | undefined, schemes: string[]): string | undefined {
  if (text === undefined) return undefined
  const url = URL.parse(text)
  if (!url || !schemes.includes(url.protocol) || url.username !== '' || url.password !== '')
    throw new ConfigError(
      schemes.includes('mailto:')
        ? `${name} must be a URL such as https://example.com/help, or mailto:help@example.com.`
        : `${name} must be a URL such as https://example.com/terms, without user name and password.`,
    )
  return url.href
}
