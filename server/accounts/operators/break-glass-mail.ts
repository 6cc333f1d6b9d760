import { type Language, isolate, languages } from '@countersign/protocol/formats/registries/languages'
import type { Config } from '#platform/config/config.ts'
import { type Mail, mailInAllLanguages } from '#platform/outbound/mail.ts'

type About = { to: string; config: Pick<Config, 'authUrl' | 'brand'>; now: Date }

/** Builds the mail to an owner when ADMIN_TOKEN is in use. Their language is unknown: the mail has all. */
export function breakGlassMail({ to, config: { authUrl, brand }, now }: About): Mail {
  const { host } = authUrl
  return mailInAllLanguages(to, {
    en: {
      subject: `ADMIN_TOKEN of ${brand.name} was used`,
      text:
        `ADMIN_TOKEN was used at ${host} on ${timeOf(now, 'en')}. It gives full control of the service. ` +
        `You get this e-mail at most once an hour, even if it is used more often.\n\n` +
        `If no owner of the service used it, replace ADMIN_TOKEN or set it to off, and read the audit log.`,
    },
    de: {
      subject: `ADMIN_TOKEN von ${brand.name} wurde verwendet`,
      text:
        `ADMIN_TOKEN wurde am ${timeOf(now, 'de')} auf ${host} verwendet. Es gibt volle Kontrolle über den Dienst. ` +
        `Diese E-Mail kommt höchstens einmal in der Stunde, auch wenn es öfter verwendet wird.\n\n` +
        `Wenn es niemand von euch verwendet hat, ersetzt ADMIN_TOKEN oder setzt es auf „off“. Prüft das Audit-Log.`,
    },
    ar: {
      subject: `استُخدم ADMIN_TOKEN الخاص بـ ${isolate(brand.name)}`,
      text:
        `استُخدم ADMIN_TOKEN على ${isolate(host)} بتاريخ ${isolate(timeOf(now, 'ar'))}. ` +
        'وهو يمنح تحكمًا كاملًا في الخدمة. ' +
        'تصلكم هذه الرسالة مرة واحدة في الساعة على الأكثر، وإن تكرر الاستخدام.\n\n' +
        `إذا لم يستخدمه أحد منكم، فاستبدلوا ADMIN_TOKEN أو اضبطوه على ${isolate('off')}، وراجعوا سجل التدقيق.`,
    },
  })
}

function timeOf(instant: Date, language: Language): string {
  const format = { dateStyle: 'long', timeStyle: 'long', timeZone: 'UTC' } as const
  return new Intl.DateTimeFormat(languages[language].locale, format).format(instant)
}
