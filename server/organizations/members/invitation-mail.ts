import type { Language } from '#platform/outbound/language.ts'
import type { Mail } from '#platform/outbound/mail.ts'

type About = { to: string; organization: string; handle: string; url: string; language: Language }

/** What an address is told that is asked to join an organization. */
export function invitationMail({ to, organization, handle, url, language }: About): Mail {
  const letter: Record<Language, Omit<Mail, 'to'>> = {
    en: {
      subject: 'You are invited to an organization on Countersign',
      text:
        `@${handle} invites you to ${organization}.\n\n` +
        `Accept here, as an identity that has this address: ${url}\n\n` +
        `It works once, for seven days. If you did not expect this, do nothing.\n`,
    },
    de: {
      subject: 'Du bist in eine Organisation auf Countersign eingeladen',
      text:
        `@${handle} lädt dich in ${organization} ein.\n\n` +
        `Nimm hier an, als eine Identität mit dieser Adresse: ${url}\n\n` +
        `Das geht einmal, sieben Tage lang. Wenn du es nicht erwartet hast, tu nichts.\n`,
    },
  }
  return { to, ...letter[language] }
}
