import { normalizeDomain } from '@countersign/protocol/formats/domain'
import { getPublicSuffix } from 'tldts'
import { refusals } from '#platform/refusal.ts'

const refuse = refusals({
  invalid_domain: [400, 'This is not a domain, such as example.com.'],
  public_domain: [400, 'Anybody may have a name or a mailbox under this domain, so no organization can claim it.'],
})

/**
 * The large providers of mailboxes for everybody. Only they could prove these: the list spares others the attempt, and
 * need not be complete.
 */
const mailboxProviders = new Set(
  [
    'gmail.com googlemail.com outlook.com outlook.de hotmail.com hotmail.co.uk hotmail.de hotmail.fr live.com live.de',
    'msn.com yahoo.com yahoo.co.uk yahoo.de yahoo.fr ymail.com icloud.com me.com mac.com aol.com gmx.de gmx.net',
    'gmx.at gmx.ch gmx.com web.de t-online.de freenet.de posteo.de mailbox.org mail.de proton.me protonmail.com',
    'pm.me tutanota.com tuta.io fastmail.com zoho.com mail.com mail.ru yandex.com yandex.ru bluewin.ch orange.fr',
    'laposte.net free.fr libero.it btinternet.com comcast.net verizon.net att.net qq.com 163.com 126.com sina.com',
    'naver.com',
  ].flatMap((line) => line.split(' ')),
)

/**
 * The one spelling of a domain that an organization may claim: below a public suffix, as the Public Suffix List has
 * them, also those of companies (`github.io`). Refuses `invalid_domain`, `public_domain`.
 */
export function requireClaimable(text: string): string {
  const domain = normalizeDomain(text)
  if (domain === undefined) throw refuse.invalid_domain()
  if (mailboxProviders.has(domain) || isPublicSuffix(domain)) throw refuse.public_domain()
  return domain
}

function isPublicSuffix(domain: string): boolean {
  return getPublicSuffix(domain, { allowPrivateDomains: true, extractHostname: false }) === domain
}
