import { type Language, isolate, languages } from '@countersign/protocol/formats/registries/languages'
import type { Config } from '#platform/config/config.ts'
import { type Mail, mailInAllLanguages } from '#platform/outbound/mail.ts'

type About = {
  to: string
  handle: string
  reason: string
  scheduledAt: Date
  dueAt: Date
  config: Pick<Config, 'authUrl' | 'brand'>
}

/** Builds the mail about a deletion. The language of the user is unknown: the mail has all. */
export function deletionMail({ to, handle, reason, scheduledAt, dueAt, config: { authUrl, brand } }: About): Mail {
  const { host } = authUrl
  const isDone = dueAt.getTime() === scheduledAt.getTime()
  const name = { plain: `@${handle}`, isolated: isolate(`@${handle}`) }
  return mailInAllLanguages(to, {
    en: {
      subject: isDone ? `${name.plain} was deleted at ${brand.name}` : `${name.plain} will be deleted at ${brand.name}`,
      text: isDone
        ? `An operator of ${host} deleted ${name.plain} with all its data. Reason: ${reason}\n\n` +
          'If you have questions, ask the operator.'
        : `An operator of ${host} suspended ${name.plain} and will delete it with all its data ` +
          `on ${timeOf(dueAt, 'en')}. Reason: ${reason}\n\n` +
          'If you disagree or need your data, contact the operator before then.',
    },
    de: {
      subject: isDone
        ? `${name.plain} wurde bei ${brand.name} gelöscht`
        : `${name.plain} wird bei ${brand.name} gelöscht`,
      text: isDone
        ? `Der Betreiber von ${host} hat ${name.plain} mit allen Daten gelöscht. Grund: ${reason}\n\n` +
          'Wenn du Fragen hast, wende dich an den Betreiber.'
        : `Der Betreiber von ${host} hat ${name.plain} gesperrt und löscht die Identität mit allen Daten ` +
          `am ${timeOf(dueAt, 'de')}. Grund: ${reason}\n\n` +
          'Wenn du nicht einverstanden bist oder deine Daten brauchst, wende dich vorher an den Betreiber.',
    },
    ar: {
      subject: isDone
        ? `حُذفت الهوية ${name.isolated} في ${isolate(brand.name)}`
        : `ستُحذف الهوية ${name.isolated} في ${isolate(brand.name)}`,
      text: isDone
        ? `حذف مشغّل ${isolate(host)} الهوية ${name.isolated} مع جميع بياناتها. السبب: ${isolate(reason)}\n\n` +
          'إذا كانت لديك أسئلة، فتواصل مع مشغّل الخدمة.'
        : `علّق مشغّل ${isolate(host)} الهوية ${name.isolated}، وسيحذفها مع جميع بياناتها ` +
          `في ${isolate(timeOf(dueAt, 'ar'))}. السبب: ${isolate(reason)}\n\n` +
          'إذا كنت تعترض أو تحتاج إلى بياناتك، فتواصل مع مشغّل الخدمة قبل ذلك.',
    },
  })
}

function timeOf(instant: Date, language: Language): string {
  const format = { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' } as const
  return `${new Intl.DateTimeFormat(languages[language].locale, format).format(instant)} UTC`
}
