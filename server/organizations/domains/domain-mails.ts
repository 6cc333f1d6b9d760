import { challengeNameOf } from '@countersign/protocol/formats/domain'
import type { Config } from '#platform/config/config.ts'
import type { Mail } from '#platform/outbound/mail.ts'
import type { Claim } from './store.ts'

export type About = { to: string; organization: string; config: Pick<Config, 'businessUrl'>; claim: Claim }

/** Nobody is there who would have said a language, so both stand in a letter. */
const languages = { en: 'en-GB', de: 'de-DE' } as const

/** What owners are told when the proof of a domain is gone, and when the domain will be lost. */
export function failingMail({ to, organization, config: { businessUrl }, claim }: About, end: Date): Mail {
  const { domain, challenge } = claim
  const recordLine = `${challengeNameOf(domain)}  TXT  ${challenge}`
  return {
    to,
    subject: `${domain}: the proof is gone / der Nachweis fehlt`,
    text:
      `The record that shows that ${domain} belongs to ${organization} is no longer in the DNS. ` +
      `Put it back before ${dayOf(end, 'en')}, or the domain stops counting as yours:\n\n` +
      `${recordLine}\n\n${businessUrl.origin}\n\n` +
      `Der Eintrag, der zeigt, dass ${domain} zu ${organization} gehört, steht nicht mehr im DNS. ` +
      `Stell ihn bis zum ${dayOf(end, 'de')} wieder her, sonst gilt die Domain nicht mehr als eure.\n`,
  }
}

/** What owners are told when a domain does not count as theirs any more. */
export function lostMail({ to, organization, config: { businessUrl }, claim: { domain } }: About): Mail {
  return {
    to,
    subject: `${domain} is no longer verified / ist nicht mehr bestätigt`,
    text:
      `${domain} no longer counts as a domain of ${organization}: its proof was gone for seven days. ` +
      `Nobody joins by an address there any more. To change that, verify it again: ${businessUrl.origin}\n\n` +
      `${domain} gilt nicht mehr als Domain von ${organization}: Der Nachweis fehlte sieben Tage lang. ` +
      `Niemand tritt mehr durch eine Adresse dort bei. Wenn ihr das ändern wollt, bestätigt sie erneut.\n`,
  }
}

/** The notice to owners when another organization has proved that it controls a domain of theirs. */
export function takenMail({ to, organization, config: { businessUrl }, claim: { domain, challenge } }: About): Mail {
  const recordLine = `${challengeNameOf(domain)}  TXT  ${challenge}`
  return {
    to,
    subject: `${domain} now belongs to another organization / gehört jetzt einer anderen Organisation`,
    text:
      `Another organization has verified ${domain}, and the record of ${organization} was not in the DNS. ` +
      `People with an address there no longer sign in or join through ${organization}. If the domain is yours, ` +
      `remove the other record, put yours back, and verify it again at once:\n\n` +
      `${recordLine}\n\n${businessUrl.origin}\n\n` +
      `Eine andere Organisation hat ${domain} bestätigt, und der Eintrag von ${organization} stand nicht im DNS. ` +
      `Wer dort eine Adresse hat, meldet sich nicht mehr über ${organization} an und tritt nicht mehr durch sie bei. ` +
      `Wenn die Domain euch gehört, entfernt den anderen Eintrag, stellt euren wieder her ` +
      `und bestätigt sie sofort erneut.\n`,
  }
}

function dayOf(instant: Date, language: keyof typeof languages): string {
  const format = { dateStyle: 'long', timeZone: 'UTC' } as const
  return new Intl.DateTimeFormat(languages[language], format).format(instant)
}
