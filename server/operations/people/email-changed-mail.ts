import { isolate } from '@countersign/protocol/formats/registries/languages'
import type { Config } from '#platform/config/config.ts'
import { type Mail, mailInAllLanguages } from '#platform/outbound/mail.ts'

type About = { to: string; handle: string } & Pick<Config, 'authUrl' | 'brand'>

/**
 * Builds the notice to the former and the new address of an identity, which an operator has changed. The language of
 * the user is unknown: the mail has all. It does not name the other address, which may belong to someone else.
 */
export function emailChangedMail({ to, handle, authUrl: { host, origin }, brand }: About): Mail {
  const url = `${origin}/account/activity`
  return mailInAllLanguages(to, {
    en: {
      subject: `Your e-mail address at ${brand.name} was changed`,
      text:
        `An operator of ${host} changed the e-mail address of @${handle}. ` +
        `A new address counts as verified only once you verify it.\n\n` +
        `If you didn’t ask for this change, ask the operator. Your activity: ${url}`,
    },
    de: {
      subject: `Deine E-Mail-Adresse bei ${brand.name} wurde geändert`,
      text:
        `Der Betreiber von ${host} hat die E-Mail-Adresse von @${handle} geändert. ` +
        `Eine neue Adresse gilt erst als bestätigt, wenn du sie bestätigst.\n\n` +
        `Wenn du nicht um diese Änderung gebeten hast, wende dich an den Betreiber. Deine Aktivität: ${url}`,
    },
    ar: {
      subject: `تغيّر عنوان بريدك الإلكتروني في ${isolate(brand.name)}`,
      text:
        `غيّر مشغّل ${isolate(host)} عنوان البريد الإلكتروني للهوية ${isolate(`@${handle}`)}. ` +
        'لا يُعدّ العنوان الجديد مؤكَّدًا إلا بعد أن تؤكّده.\n\n' +
        `إذا لم تطلب هذا التغيير، فتواصل مع مشغّل الخدمة. نشاطك:\n${url}`,
    },
  })
}
