import { isolate } from '@countersign/protocol/formats/registries/languages'
import { mailOwners } from '#accounts/operators/operator.ts'
import type { Config } from '#platform/config/config.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { type Mail, mailInAllLanguages } from '#platform/outbound/mail.ts'

type About = { to: string; origin: string; config: Pick<Config, 'authUrl' | 'brand'>; now: Date }

/**
 * Mails the active owners that a webhook of the service was changed: who takes over an operator could have the events
 * of all identities sent elsewhere.
 */
export function mailChange(kernel: ServerContext, origin: string, now: Date): Promise<void> {
  const mailTo = (to: string) => webhookChangedMail({ to, origin, config: kernel.config, now })
  return mailOwners(kernel, { mailTo, failure: 'mail about a webhook failed' }, now)
}

/** Builds the mail to an owner when a webhook of the service was changed. Their language is unknown. */
function webhookChangedMail({ to, origin, config: { authUrl, brand }, now }: About): Mail {
  const { host } = authUrl
  const at = now.toISOString()
  return mailInAllLanguages(to, {
    en: {
      subject: `A webhook of ${brand.name} was changed`,
      text:
        `The webhook to ${origin}, which gets events about people and groups, was added, changed or removed at ` +
        `${host} (${at}).\n\n` +
        `If none of you did this, read the audit log, and remove the operator or admin token that it names.`,
    },
    de: {
      subject: `Ein Webhook von ${brand.name} wurde geändert`,
      text:
        `Der Webhook zu ${origin}, der Ereignisse über Personen und Gruppen erhält, wurde auf ${host} hinzugefügt, ` +
        `geändert oder entfernt (${at}).\n\n` +
        `Wenn es niemand von euch war, prüft das Audit-Log und entfernt den Betreiber oder das Admin-Token darin.`,
    },
    ar: {
      subject: `تغيّر أحد خطاطيف الويب في ${isolate(brand.name)}`,
      text:
        `أُضيف خطاف الويب إلى ${isolate(origin)}، الذي يتلقى أحداث الأشخاص والمجموعات، أو غُيّر أو أُزيل على ` +
        `${isolate(host)} (${isolate(at)}).\n\n` +
        'إذا لم يفعل ذلك أحد منكم، فراجعوا سجل التدقيق، وأزيلوا المشغّل أو رمز الإدارة المذكور فيه.',
    },
  })
}
