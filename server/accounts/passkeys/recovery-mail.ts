import { listIdentities } from '#accounts/identities/identity.ts'
import type { Kernel } from '#platform/module/services.ts'
import type { Language } from '#platform/outbound/language.ts'
import type { Mail } from '#platform/outbound/mail.ts'
import { Refusal } from '#platform/refusal.ts'

type About = { to: string; handle: string; authUrl: URL; language: Language }

/**
 * Tells every proved address of a person that their account was recovered. It is done by then: a mail that can't be
 * sent is logged alone.
 */
export async function tellOfRecovery(kernel: Kernel, userId: string, language: Language): Promise<void> {
  const { db, config, mail, log } = kernel
  const identities = await listIdentities(db, userId)
  const handles = new Map(identities.flatMap(({ email, handle }) => (email === null ? [] : [[email, handle] as const])))
  await Promise.all(
    [...handles].map(async ([to, handle]) => {
      try {
        await mail.send(recoveryMail({ to, handle, authUrl: config.authUrl, language }))
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        log.warn({ userId, reason: error.code }, 'a person was not told by mail of their recovery')
      }
    }),
  )
}

function recoveryMail({ to, handle, authUrl: { host, origin }, language }: About): Mail {
  const letter: Record<Language, Omit<Mail, 'to'>> = {
    en: {
      subject: 'Your Countersign account was recovered',
      text:
        `Someone used the recovery code of @${handle} at ${host}. ` +
        `A passkey was added, and every other session ended.\n\n` +
        `If it was not you, sign in now, remove that passkey, and make a new code: ${origin}/account/passkeys\n`,
    },
    de: {
      subject: 'Dein Countersign-Konto wurde wiederhergestellt',
      text:
        `Jemand hat den Wiederherstellungscode von @${handle} auf ${host} benutzt. ` +
        `Ein Passkey kam hinzu, und jede andere Sitzung wurde beendet.\n\n` +
        `Wenn du es nicht warst, melde dich jetzt an, entferne diesen Passkey und mach einen neuen Code: ` +
        `${origin}/account/passkeys\n`,
    },
  }
  return { to, ...letter[language] }
}
