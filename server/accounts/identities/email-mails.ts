import type { Language } from '#platform/outbound/language.ts'
import type { Mail } from '#platform/outbound/mail.ts'

type About = { to: string; handle: string; authUrl: URL; language: Language }
type Letter = Record<Language, Omit<Mail, 'to'>>

/** The code that proves an address. */
export function codeMail({ to, handle, authUrl: { host }, language }: About, code: string): Mail {
  const letter: Letter = {
    en: {
      subject: 'Your Countersign code',
      text:
        `${code}\n\n` +
        `Enter this code at ${host} to use this address for @${handle}. It works for ten minutes.\n\n` +
        `Give it to nobody. If you did not ask for it, do nothing.\n`,
    },
    de: {
      subject: 'Dein Countersign-Code',
      text:
        `${code}\n\n` +
        `Gib diesen Code auf ${host} ein, um diese Adresse für @${handle} zu verwenden. Er gilt zehn Minuten.\n\n` +
        `Gib ihn niemandem. Wenn du ihn nicht wolltest, tu nichts.\n`,
    },
  }
  return { to, ...letter[language] }
}

/** What an address is told when another takes its place, or none. */
export function changeMail({ to, handle, authUrl: { host, origin }, language }: About): Mail {
  const letter: Letter = {
    en: {
      subject: 'This address was removed from Countersign',
      text:
        `@${handle} at ${host} no longer uses this address.\n\n` +
        `If it was not you who changed this, look after your account: ${origin}/account\n`,
    },
    de: {
      subject: 'Diese Adresse wurde aus Countersign entfernt',
      text:
        `@${handle} auf ${host} verwendet diese Adresse nicht mehr.\n\n` +
        `Wenn nicht du das geändert hast, sieh nach deinem Konto: ${origin}/account\n`,
    },
  }
  return { to, ...letter[language] }
}
